//! The chooser against each policy that it chooses from, on traces on which different ones win.

use super::*;
use seekless_device::SplitMix64;

/// An owner that never uses a number twice.
struct NoOwner;

impl Pool for NoOwner {
    fn evict(&mut self, _victim: Id) {}
    fn forget(&mut self, _id: Id) {}
}

/// Popularity by rank: the first of `pages` most.
fn zipf(pages: u32, alpha: f64, requests: usize, seed: u64) -> Vec<Id> {
    let mut sums: Vec<f64> = Vec::new();
    for rank in 1..=pages {
        sums.push(sums.last().copied().unwrap_or(0.0) + f64::from(rank).powf(-alpha));
    }
    let mut dice = SplitMix64::new(seed);
    let all = sums[sums.len() - 1];
    let draw = move || {
        let at = dice.below(1 << 52) as f64 / (1_u64 << 52) as f64 * all;
        sums.partition_point(|sum| *sum < at).min(pages as usize - 1) as Id
    };
    std::iter::repeat_with(draw).take(requests).collect()
}

fn around(pages: u32, requests: usize) -> Vec<Id> {
    (0..pages).cycle().take(requests).collect()
}

/// What is popular moves on.
fn shifting(requests: usize, seed: u64) -> Vec<Id> {
    let popular = zipf(1500, 0.9, requests, seed);
    popular.iter().enumerate().map(|(turn, id)| id + (turn / 150) as Id).collect()
}

/// A hot set, and pages that come once, or twice at a short distance.
fn scans(requests: usize, seed: u64) -> Vec<Id> {
    let hot = zipf(700, 0.7, requests, seed);
    let once = |turn: usize| 10_000 + (turn / 2 / 6 * 3 + turn / 2 % 3) as Id;
    let all = hot.into_iter().enumerate();
    all.map(|(turn, id)| if turn % 2 == 0 { id } else { once(turn) }).collect()
}

fn in_turn(parts: &[&[Id]], each: usize) -> Vec<Id> {
    let most = parts.iter().map(|part| part.len()).min().unwrap();
    let phases = (0..most / each).flat_map(|phase| {
        parts.iter().flat_map(move |part| &part[phase * each..(phase + 1) * each])
    });
    phases.copied().collect()
}

fn traces() -> Vec<(&'static str, Vec<Id>)> {
    const REQUESTS: usize = 400_000;
    let (popular, loops) = (zipf(20_000, 0.9, REQUESTS, 1), around(1300, REQUESTS));
    let (moving, scanned) = (shifting(REQUESTS, 2), scans(REQUESTS, 3));
    let apart: Vec<Id> = loops.iter().map(|id| id + 2_000_000).collect();
    vec![
        ("zipf 0.9", popular.clone()),
        ("zipf 0.6", zipf(5000, 0.6, REQUESTS, 4)),
        ("zipf 1.2", zipf(50_000, 1.2, REQUESTS, 5)),
        ("loop", loops),
        ("larger loop", around(5000, REQUESTS)),
        ("shifting", moving.clone()),
        ("scans", scanned.clone()),
        ("zipf, then shifting", [popular.clone(), moving.clone()].concat()),
        ("loop and shifting, long phases", in_turn(&[&apart, &moving], 50_000)),
        ("loop and shifting, in the rhythm of changes", in_turn(&[&apart, &moving], 8192)),
        ("loop and shifting, short phases", in_turn(&[&apart, &moving], 1000)),
        ("all in turn", in_turn(&[&apart, &moving, &scanned, &popular], 20_000)),
    ]
}

fn hits(policy: &mut impl Eviction, trace: &[Id], ids: u32) -> f64 {
    policy.grow(ids);
    let hit = |id: &&Id| policy.request(&Request::page(**id), &mut NoOwner) == Outcome::Hit;
    trace.iter().filter(hit).count() as f64 / trace.len() as f64
}

/// Those on which it loses more than a point, of traces of this many ids at most.
fn lost(ids_max: u32, room: u32) -> Vec<&'static str> {
    const CAPACITY: u64 = 1000;
    let mut failed = Vec::new();
    for (name, mut trace) in traces() {
        let mut numbers = std::collections::HashMap::new();
        for id in &mut trace {
            let next = numbers.len() as Id;
            *id = *numbers.entry(*id).or_insert(next);
        }
        let ids = numbers.len() as u32;
        if ids > ids_max {
            continue;
        }
        let ids = ids.max(room);
        let ours = hits(&mut Auto::new(CAPACITY), &trace, ids);
        let of = |name: &&str| hits(&mut named(name, CAPACITY).unwrap(), &trace, ids);
        let each: Vec<f64> = CANDIDATES.iter().map(of).collect();
        let best = each.iter().copied().fold(0.0, f64::max);
        println!("{name:45} auto {:.2}  best {:.2}", 100.0 * ours, 100.0 * best);
        if ours < best - 0.01 {
            failed.push(name);
        }
    }
    failed
}

#[test]
fn it_loses_at_most_a_point_where_all_are_compared() {
    let failed = lost(ALL_MAX, 0);
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn it_loses_at_most_a_point_where_two_are_compared() {
    let failed = lost(u32::MAX, ALL_MAX + 1);
    assert!(failed.is_empty(), "{failed:?}");
}

#[derive(Default)]
struct Counts {
    evicted: Vec<Id>,
    forgotten: Vec<Id>,
}

impl Pool for Counts {
    fn evict(&mut self, victim: Id) {
        self.evicted.push(victim);
    }

    fn forget(&mut self, id: Id) {
        self.forgotten.push(id);
    }
}

fn resident(auto: &Auto) -> Vec<Id> {
    (0..400).filter(|id| auto.weight_of(*id).is_some()).collect()
}

#[test]
fn a_change_keeps_what_is_resident_and_forgets_ghosts() {
    let mut auto = Auto::new(100);
    auto.grow(400);
    let mut counts = Counts::default();
    for id in (0..400).chain(300..400) {
        auto.request(&Request::page(id), &mut counts);
    }
    let before = resident(&auto);
    counts = Counts::default();
    for (number, name) in CANDIDATES.iter().enumerate() {
        auto.change(number);
        assert_eq!(auto.follows(), *name);
        assert_eq!(resident(&auto), before, "{name}");
    }
    // What a policy knows is forgotten with it, unless it is here or the last one knows it.
    (0..CANDIDATES.len() - 1).for_each(|number| auto.stop(number, &mut counts));
    assert!(counts.evicted.is_empty() && !counts.forgotten.is_empty());
    assert!(counts.forgotten.iter().all(|id| !before.contains(id)));
    assert_eq!(resident(&auto), before);
    let known = (0..400).filter(|id| !counts.forgotten.contains(id) && !before.contains(id));
    assert!(known.into_iter().all(|id| !auto.books.is_told(id) || auto.books.keeps(5, id)));
}

/// What the policy followed keeps but was never fetched is no hit, and what it does not keep stays
/// until there is no room.
#[test]
fn after_a_change_hits_are_what_is_here() {
    let mut auto = Auto::new(100);
    auto.grow(400);
    let mut here = std::collections::HashSet::new();
    let mut dice = SplitMix64::new(1);
    for turn in 0..20_000 {
        let id = dice.below(20).min(dice.below(400)) as Id + (turn / 2000 % 3 * 20) as Id;
        let id = id.min(399);
        let mut counts = Counts::default();
        let outcome = auto.request(&Request::page(id), &mut counts);
        assert_eq!(outcome == Outcome::Hit, here.contains(&id));
        here.insert(id);
        counts.evicted.iter().for_each(|victim| assert!(here.remove(victim)));
        assert!(here.len() as u64 == auto.resident_weight() && here.len() <= 100);
        if turn % 500 == 499 {
            auto.change((turn / 500) as usize % CANDIDATES.len());
        }
    }
}
