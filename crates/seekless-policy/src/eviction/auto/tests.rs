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

fn hits(policy: &mut impl Eviction, trace: &[Id]) -> f64 {
    policy.grow(3_000_000);
    let hit = |id: &&Id| policy.request(&Request::page(**id), &mut NoOwner) == Outcome::Hit;
    trace.iter().filter(hit).count() as f64 / trace.len() as f64
}

#[test]
fn it_loses_at_most_a_point_against_the_best_single_policy() {
    const CAPACITY: u64 = 1000;
    let mut failed = Vec::new();
    for (name, trace) in traces() {
        let ours = hits(&mut Auto::new(CAPACITY), &trace);
        let of = |name: &&str| hits(&mut named(name, CAPACITY).unwrap(), &trace);
        let each: Vec<f64> = CANDIDATES.iter().map(of).collect();
        let best = each.iter().copied().fold(0.0, f64::max);
        let each: Vec<String> = each.iter().map(|it| format!("{:.1}", 100.0 * it)).collect();
        println!(
            "{name:45} auto {:.1}  best {:.1}  {}",
            100.0 * ours,
            100.0 * best,
            each.join(" ")
        );
        if ours < best - 0.01 {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn a_change_keeps_what_is_resident_and_forgets_ghosts() {
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
    let mut auto = Auto::new(100);
    auto.grow(400);
    let mut counts = Counts::default();
    for id in (0..400).chain(300..400) {
        auto.request(&Request::page(id), &mut counts);
    }
    let resident: Vec<Id> = (0..400).filter(|id| auto.weight_of(*id).is_some()).collect();
    for (number, name) in CANDIDATES.iter().enumerate() {
        counts = Counts::default();
        auto.change(number, &mut counts);
        assert_eq!(auto.follows(), *name);
        let now: Vec<Id> = (0..400).filter(|id| auto.weight_of(*id).is_some()).collect();
        assert_eq!(now, resident, "{name}");
        assert!(counts.evicted.is_empty(), "{counts:?}", counts = counts.evicted);
        assert!(counts.forgotten.iter().all(|id| !resident.contains(id)));
    }
    assert!(auto.about.iter().all(|about| about.told != Told::Evicted));
}
