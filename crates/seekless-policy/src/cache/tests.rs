//! The frame table: orphans, failures, touches, and that `step` and `access` decide alike.

use super::*;
use crate::eviction::{Landlord, Lru, named, needs_of};
use proptest::prelude::*;

fn lru(capacity: u64) -> Cache<Lru> {
    let mut cache = Cache::new(Lru::new(capacity), Config::pages(capacity)).unwrap();
    cache.grow(16);
    cache
}

#[test]
fn a_miss_waits_for_its_own_fetch_and_is_then_ready() {
    let (mut cache, mut out) = (lru(2), Vec::new());
    assert_eq!(cache.step(&Request::page(3), &mut out), Step::Wait);
    assert_eq!(out, [Command::Fetch(3)]);
    out.clear();
    assert_eq!(cache.step(&Request::page(3), &mut out), Step::Wait);
    assert!(out.is_empty(), "a second request fetches nothing");
    cache.complete(3, Filled::Yes, &mut out);
    assert_eq!(cache.step(&Request::page(3), &mut out), Step::Ready);
    assert!(out.is_empty());
}

#[test]
fn an_id_evicted_in_flight_is_an_orphan_dropped_at_its_completion() {
    let (mut cache, mut out) = (lru(1), Vec::new());
    cache.step(&Request::page(0), &mut out);
    cache.step(&Request::page(1), &mut out);
    assert_eq!(out, [Command::Fetch(0), Command::Fetch(1)]);
    out.clear();
    cache.complete(0, Filled::Yes, &mut out);
    assert_eq!(out, [Command::Drop(0)]);
}

#[test]
fn an_orphan_is_revived_without_another_fetch() {
    let (mut cache, mut out) = (lru(1), Vec::new());
    cache.step(&Request::page(0), &mut out);
    cache.step(&Request::page(1), &mut out);
    out.clear();
    assert_eq!(cache.step(&Request::page(0), &mut out), Step::Wait);
    assert!(out.is_empty());
    cache.complete(0, Filled::Yes, &mut out);
    assert!(out.is_empty());
    assert_eq!(cache.step(&Request::page(0), &mut out), Step::Ready);
    cache.complete(1, Filled::Yes, &mut out);
    assert_eq!(out, [Command::Drop(1)]);
}

#[test]
fn a_failed_fetch_leaves_the_cache_and_may_be_tried_again() {
    let (mut cache, mut out) = (lru(2), Vec::new());
    cache.step(&Request::page(0), &mut out);
    out.clear();
    cache.complete(0, Filled::Failed, &mut out);
    assert_eq!(out, [Command::Drop(0)]);
    assert!(!cache.resident(0));
    assert_eq!(cache.resident_weight(), 0);
    out.clear();
    assert_eq!(cache.step(&Request::page(0), &mut out), Step::Wait);
    assert_eq!(out, [Command::Fetch(0)]);
}

#[test]
fn a_touch_counts_only_while_resident() {
    let (mut cache, mut out) = (lru(2), Vec::new());
    for id in [0, 1] {
        cache.step(&Request::page(id), &mut out);
        cache.complete(id, Filled::Yes, &mut out);
    }
    let hit = |id| [Hits { request: Request::page(id), times: 1 }];
    assert!(cache.touch(&hit(0)));
    out.clear();
    cache.step(&Request::page(2), &mut out);
    assert_eq!(out, [Command::Drop(1), Command::Fetch(2)], "the touch made 1 the older one");
    assert!(!cache.touch(&hit(1)));
}

#[test]
fn what_is_over_the_limit_bypasses_unless_it_is_resident() {
    let mut cache = Cache::new(Lru::new(100), Config::files(100)).unwrap();
    let mut out = Vec::new();
    cache.grow(4);
    assert_eq!(cache.step(&Request::file(0, 51), &mut out), Step::Bypass);
    assert_eq!(cache.step(&Request::file(1, 50), &mut out), Step::Wait);
    cache.complete(1, Filled::Yes, &mut out);
    cache.set_capacity(80, &mut out);
    assert_eq!(cache.config(), Config { capacity: 80, bypass_above: Some(40) });
    assert_eq!(cache.step(&Request::file(1, 50), &mut out), Step::Ready);
}

#[test]
fn an_unmet_need_is_refused() {
    let need = Needs { next_use: true, ..Needs::default() };
    let error = check_needs(need, Needs::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NeedsUnmet);
    assert!(error.to_string().contains("future"));
    check_needs(need, need).unwrap();
}

proptest! {
    #[test]
    fn step_and_access_decide_alike(
        requests in prop::collection::vec((0u32..16, any::<bool>()), 1..300),
        capacity in 1u64..200,
        name in prop::sample::select(crate::eviction::NAMES),
    ) {
        let needs = needs_of(name).unwrap();
        let config = if needs.unit_weights || needs.equal_weights { Config::pages(capacity) } else { Config::files(capacity) };
        let mut live = Cache::with_offer(named(name, capacity).unwrap(), config, needs).unwrap();
        let mut sim = Cache::with_offer(named(name, capacity).unwrap(), config, needs).unwrap();
        live.grow(16);
        sim.grow(16);
        let (mut out, mut pending) = (Vec::new(), Vec::new());
        for (id, complete) in requests {
            let weight = if needs.unit_weights || needs.equal_weights { 1 } else { u64::from(id) * 7 % 31 };
            let request = Request::file(id, weight);
            let was_resident = sim.resident(id);
            let step = live.step(&request, &mut out);
            let outcome = sim.access(&request);
            prop_assert_eq!(outcome == Outcome::Hit, was_resident);
            prop_assert!(step != Step::Ready || outcome == Outcome::Hit);
            prop_assert!(live.resident_weight() <= capacity);
            for command in out.drain(..) {
                match command {
                    Command::Fetch(id) => pending.push(id),
                    Command::Drop(id) => prop_assert!(!live.resident(id) && !live.in_flight(id)),
                    Command::WriteBack(id) => prop_assert!(false, "{} was never written to", id),
                }
            }
            if complete && !pending.is_empty() {
                let orphan = !live.resident(pending[0]);
                live.complete(pending[0], Filled::Yes, &mut out);
                let dropped = out.drain(..).next() == Some(Command::Drop(pending.remove(0)));
                prop_assert_eq!(dropped, orphan);
            }
            for id in 0..16 {
                prop_assert_eq!(live.resident(id), sim.resident(id));
            }
        }
    }
}

#[test]
fn a_policy_with_its_type_and_one_by_name_decide_alike() {
    let mut typed = Cache::new(Landlord::new(50), Config::files(50)).unwrap();
    let mut boxed = Cache::new(named("landlord", 50).unwrap(), Config::files(50)).unwrap();
    typed.grow(20);
    boxed.grow(20);
    for turn in 0u32..500 {
        let request = Request::file(turn * turn % 19, 1 + u64::from(turn * turn % 19));
        assert_eq!(typed.access(&request), boxed.access(&request));
    }
}

fn write(id: Id) -> Request {
    Request { kind: Use::Write, ..Request::page(id) }
}

#[test]
fn a_write_miss_reads_nothing_and_its_eviction_writes() {
    let (mut cache, mut out) = (lru(1), Vec::new());
    assert_eq!(cache.step(&write(0), &mut out), Step::Ready);
    assert!(out.is_empty() && cache.is_dirty(0));
    assert_eq!(cache.step(&Request::page(1), &mut out), Step::Wait);
    assert_eq!(out, [Command::WriteBack(0), Command::Fetch(1)]);
    out.clear();
    cache.written(0, &mut out);
    assert_eq!((out.as_slice(), cache.dirty()), (&[Command::Drop(0)][..], 0));
}

#[test]
fn a_write_miss_reads_where_told_so() {
    let mut cache = Cache::new(Lru::new(1), Config::pages(1)).unwrap().fetch_on_write(true);
    cache.grow(1);
    let mut out = Vec::new();
    assert_eq!(cache.step(&write(0), &mut out), Step::Wait);
    assert_eq!(out, [Command::Fetch(0)]);
}

#[test]
fn what_is_in_write_back_is_revived_without_io() {
    let (mut cache, mut out) = (lru(1), Vec::new());
    cache.step(&write(0), &mut out);
    cache.step(&write(1), &mut out);
    out.clear();
    assert_eq!(cache.step(&Request::page(0), &mut out), Step::Ready);
    assert_eq!(out, [Command::WriteBack(1)], "no fetch");
    out.clear();
    cache.written(0, &mut out);
    assert!(out.is_empty(), "it is resident again");
}

#[test]
fn a_flush_cleans_each_dirty_id_once_and_leaves_the_rest() {
    let mut cache = Cache::new(Lru::new(4), Config::pages(4)).unwrap().list_dirty();
    cache.grow(16);
    let mut out = Vec::new();
    for id in [3, 1, 1, 2] {
        cache.step(&write(id), &mut out);
    }
    assert!(out.is_empty());
    cache.flush(|id| id != 1, &mut out);
    assert_eq!(out, [Command::WriteBack(3), Command::WriteBack(2)]);
    assert_eq!(cache.dirty(), 1);
    out.clear();
    cache.step(&write(3), &mut out);
    cache.flush(|_| true, &mut out);
    assert_eq!(out, [Command::WriteBack(1)], "3 is still being written");
    out.clear();
    cache.written(3, &mut out);
    assert_eq!(out, [Command::WriteBack(3)], "it was dirtied again in the meantime");
}

#[test]
fn what_is_evicted_dirty_twice_is_written_twice_one_after_the_other() {
    let (mut cache, mut out) = (lru(1), Vec::new());
    for id in [0, 1, 0, 2] {
        cache.step(&write(id), &mut out);
    }
    assert_eq!(out, [Command::WriteBack(0), Command::WriteBack(1)]);
    out.clear();
    cache.written(0, &mut out);
    assert_eq!(out, [Command::WriteBack(0)]);
    out.clear();
    cache.written(0, &mut out);
    assert_eq!(out, [Command::Drop(0)]);
}

proptest! {
    #[test]
    fn an_id_has_one_write_back_at_a_time_and_ends_clean(
        steps in prop::collection::vec((0u32..6, 0u8..4), 1..200),
    ) {
        let (mut cache, mut out) = (lru(2), Vec::new());
        let mut under_way = Vec::new();
        for (id, what) in steps {
            match what {
                0 => drop(cache.step(&Request::page(id), &mut out)),
                1 => drop(cache.step(&write(id), &mut out)),
                2 if under_way.contains(&id) => {
                    under_way.retain(|&other| other != id);
                    cache.written(id, &mut out);
                }
                _ => cache.discard(id, &mut out),
            }
            for command in std::mem::take(&mut out) {
                match command {
                    Command::WriteBack(id) => {
                        prop_assert!(!under_way.contains(&id), "{} is being written", id);
                        under_way.push(id);
                    }
                    Command::Fetch(id) => cache.complete(id, Filled::Yes, &mut Vec::new()),
                    Command::Drop(id) => {
                        prop_assert!(!cache.resident(id) && !under_way.contains(&id));
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn the_count_and_list_of_dirty_ids_are_true(
        steps in prop::collection::vec((0u32..16, any::<bool>(), 0u8..40), 1..400),
    ) {
        let mut cache = Cache::new(Lru::new(5), Config::pages(5)).unwrap().list_dirty();
        cache.grow(16);
        let mut model = std::collections::BTreeSet::new();
        let mut out = Vec::new();
        for (id, writes, flush) in steps {
            cache.step(&if writes { write(id) } else { Request::page(id) }, &mut out);
            if writes {
                model.insert(id);
            }
            if flush == 0 {
                cache.flush(|id| id % 2 == 0, &mut out);
            }
            for command in std::mem::take(&mut out) {
                match command {
                    Command::WriteBack(id) => {
                        prop_assert!(model.remove(&id), "{} was clean", id);
                        cache.written(id, &mut Vec::new());
                    }
                    Command::Fetch(id) => cache.complete(id, Filled::Yes, &mut Vec::new()),
                    Command::Drop(_) => {}
                }
            }
            prop_assert_eq!(cache.dirty(), model.len() as u64);
            prop_assert!(model.iter().all(|&id| cache.is_dirty(id) && cache.resident(id)));
        }
    }
}
