//! Writes against a naive model, both loops against each other, and each rule of write-back by
//! hand.

use crate::{Case, Figures, Options, Period, Requests, WriteBack, simulate, simulate_with};
use proptest::prelude::*;
use seekless_policy::cache::Changed;
use seekless_policy::eviction::{NAMES, needs_of};
use std::num::NonZeroU64;

fn lru(pages: u64) -> Case {
    Case { policy: "lru".into(), capacity: pages * 4096 }
}

fn run(requests: &Requests, pages: u64, write_back: WriteBack) -> Figures {
    simulate_with(requests, &lru(pages), &Options { write_back, ..Options::default() }).unwrap()
}

/// Reads, write-backs, runs of write-backs and dirty pages at the end of an LRU cache, the long
/// way.
fn naive(requests: &[(u32, bool)], pages: usize) -> (u64, u64, u64, u64) {
    let mut cache: Vec<(u32, bool)> = Vec::new();
    let (mut reads, mut written) = (0, Vec::new());
    for &(page, write) in requests {
        let old = cache.iter().position(|entry| entry.0 == page).map(|at| cache.remove(at));
        if old.is_none() && cache.len() == pages {
            let victim = cache.remove(0);
            written.extend(victim.1.then_some(victim.0));
        }
        reads += u64::from(old.is_none() && !write);
        cache.push((page, write || old.is_some_and(|old| old.1)));
    }
    let joins = written.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
    let dirty = cache.iter().filter(|entry| entry.1).count();
    (reads, written.len() as u64, (written.len() - joins) as u64, dirty as u64)
}

proptest! {
    #[test]
    fn lru_with_writes_equals_a_list(
        trace in prop::collection::vec((0u32..12, any::<bool>()), 0..300),
        pages in 1usize..8,
    ) {
        let ids = trace.iter().map(|&(page, _)| page).collect();
        let writes = trace.iter().enumerate().filter(|(_, request)| request.1).map(|(position, _)| position);
        let requests = Requests::from_pages(ids).with_writes(writes);
        let figures = run(&requests, pages as u64, WriteBack::default());
        let found =
            (figures.read_misses, figures.write_backs, figures.write_back_runs.unwrap(), figures.dirty_at_end);
        prop_assert_eq!(found, naive(&trace, pages));
        prop_assert_eq!(figures.read_misses + figures.write_misses + figures.hits, figures.requests);
        prop_assert_eq!(figures.device_reads, figures.read_misses);
    }

    #[test]
    fn the_loop_that_leaves_nothing_out_decides_as_the_fast_one(
        ids in prop::collection::vec(0u32..20, 1..300),
        name in prop::sample::select(NAMES),
    ) {
        let requests = Requests::from_pages(ids);
        let case = Case { policy: name.to_owned(), capacity: 6 * 4096 };
        let needs = needs_of(name).unwrap();
        prop_assume!(!needs.next_use && !needs.neighbours);
        let fast = simulate(&requests, &case).unwrap();
        let options = Options { every: NonZeroU64::new(7), ..Options::default() };
        let mut full = simulate_with(&requests, &case, &options).unwrap();
        let points = std::mem::take(&mut full.over_time);
        prop_assert_eq!(points.last().map(|point| (point.requests, point.hits)), Some((fast.requests, fast.hits)));
        prop_assert_eq!(fast, full);
    }
}

#[test]
fn a_write_that_fetches_reads_and_is_no_read_miss() {
    let requests = Requests::from_pages(vec![0, 1, 0]).with_writes([0]);
    let options = Options { fetch_on_write: true, ..Options::default() };
    let figures = simulate_with(&requests, &lru(2), &options).unwrap();
    assert_eq!((figures.device_reads, figures.read_misses, figures.write_misses), (2, 1, 1));
    assert_eq!(run(&requests, 2, WriteBack::default()).device_reads, 1);
}

#[test]
fn dirty_pages_are_written_now_and_then() {
    let requests = Requests::from_pages(vec![3, 2, 3, 3, 3, 3]).with_writes([0, 1, 4]);
    let figures =
        run(&requests, 9, WriteBack { every: Some(Period::Requests(2)), ..WriteBack::default() });
    // 2 and 3 after two requests, as neighbours; 3 again at the end.
    assert_eq!((figures.flushed, figures.write_backs, figures.write_back_runs), (3, 3, Some(2)));
    assert_eq!(figures.dirty_at_end, 0);
}

#[test]
fn dirty_pages_are_written_by_the_traces_time() {
    let write_back = WriteBack { every: Some(Period::Time(10)), ..WriteBack::default() };
    let requests = Requests::from_pages(vec![0, 1, 2, 3]).with_writes(0..4);
    let error = simulate_with(&requests, &lru(9), &Options { write_back, ..Options::default() })
        .unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Usage);
    let figures = run(&requests.with_times(vec![0, 9, 35, 36]), 9, write_back);
    assert_eq!((figures.flushed, figures.dirty_at_end), (2, 2));
}

#[test]
fn too_many_dirty_pages_are_written() {
    let requests = Requests::from_pages(vec![0, 1, 2, 3, 4]).with_writes(0..5);
    let figures = run(&requests, 4, WriteBack { dirty_max: Some(0.5), ..WriteBack::default() });
    assert_eq!((figures.flushed, figures.write_backs, figures.dirty_at_end), (3, 3, 2));
}

#[test]
fn sync_is_for_pages() {
    let requests = Requests::from_files(&[0], &[5]);
    let write_back = WriteBack { on_sync: true, ..WriteBack::default() };
    let error = simulate_with(&requests, &lru(1), &Options { write_back, ..Options::default() })
        .unwrap_err();
    assert!(error.to_string().contains("--unit page"), "{error}");
}

#[test]
fn points_say_how_it_went_so_far_and_lately() {
    let requests = Requests::from_pages(vec![0, 1, 0, 1, 0]);
    let options = Options { every: NonZeroU64::new(2), ..Options::default() };
    let points = simulate_with(&requests, &lru(2), &options).unwrap().over_time;
    let ratios: Vec<_> = points
        .iter()
        .map(|point| (point.requests, point.miss_ratio, point.recent_miss_ratio))
        .collect();
    assert_eq!(ratios, [(2, 1.0, 1.0), (4, 0.5, 0.0), (5, 0.4, 0.0)]);
}

fn rule(text: &str) -> WriteBack {
    text.parse().unwrap()
}

#[test]
fn old_pages_are_written_at_a_wake_and_take_their_neighbours_along() {
    // Page 0 is dirty from request 0 on, page 1 from 3 on, page 40 from 4 on.
    let requests = Requests::from_pages(vec![0, 8, 8, 1, 40, 8, 8, 8]).with_writes([0, 3, 4]);
    let alone = run(&requests, 9, rule("expire=5,wake=1"));
    assert_eq!((alone.flushed, alone.dirty_at_end), (2, 1)); // 0 at 5 and 1 at 8, the end
    let clustered = run(&requests, 9, rule("expire=5,wake=1,cluster=4pages"));
    assert_eq!((clustered.flushed, clustered.write_back_runs), (2, Some(1)), "0 and 1 together");
    let all = run(&requests, 9, rule("expire=5,wake=1,cluster=file"));
    assert_eq!((all.flushed, all.dirty_at_end), (3, 0));
    let rarely = run(&requests, 9, rule("expire=5,wake=7"));
    assert_eq!(rarely.flushed, 1, "0 at request 7; 1 is not old enough then");
}

#[test]
fn the_flusher_keeps_to_the_background_and_writers_to_the_limit() {
    let requests = Requests::from_pages((0..9).collect()).with_writes(0..9);
    let figures = run(&requests, 10, rule("background=30%"));
    assert_eq!((figures.flushed, figures.dirty_at_end, figures.held_up), (6, 3, 0));
    // The fifth dirty page waits until three are left: the middle of 2 and 4.
    let figures = run(&requests, 10, rule("background=20%,wake=100,limit=40%"));
    assert_eq!((figures.flushed, figures.dirty_at_end, figures.held_up), (6, 3, 3));
}

#[test]
fn a_cache_that_shrinks_evicts_and_grows_again() {
    let requests = Requests::from_pages(vec![0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]).with_writes([0]);
    let figures = run(&requests, 4, rule("shrink=50%@4..8"));
    // Two pages are left at request 4: a cycle of four misses, until the cache has room for it.
    assert_eq!((figures.hits, figures.write_backs, figures.dirty_at_end), (2, 1, 0));
    assert_eq!(run(&requests, 4, WriteBack::default()).hits, 8);
}

#[test]
fn a_policy_saves_nothing_by_leaving_pages_dirty() {
    let requests = Requests::from_pages(vec![0, 1, 2, 3]).with_writes([0, 1]);
    let kept = run(&requests, 4, WriteBack::default());
    let flushed = run(&requests, 4, rule("every=4"));
    assert_eq!((kept.write_backs, kept.dirty_at_end, kept.cost), (0, 2, 4));
    assert_eq!((flushed.write_backs, flushed.dirty_at_end, flushed.cost), (2, 0, 4));
}

#[test]
fn ages_and_limits_are_for_pages() {
    let requests = Requests::from_files(&[0], &[5]);
    for text in ["expire=3", "background=1%", "limit=9%"] {
        let options = Options { write_back: rule(text), ..Options::default() };
        let error = simulate_with(&requests, &lru(1), &options).unwrap_err();
        assert!(error.to_string().contains("--unit page"), "{error}");
    }
}

proptest! {
    #[test]
    fn whatever_the_rule_every_written_page_is_written_back_or_dirty_at_the_end(
        trace in prop::collection::vec((0u32..24, any::<bool>()), 1..200),
        pages in 2u64..12,
        name in prop::sample::select(vec!["lru", "2q", "arc", "clock", "cflru", "sieve", "fab"]),
        text in prop::sample::select(vec![
            "evict", "expire=7", "expire=9,wake=4,cluster=file", "background=20%", "limit=30%",
            "background=10%,limit=50%,cluster=4pages", "every=11,expire=5", "shrink=50%@20..60",
            "expire=3,wake=2,shrink=30%@10..90,limit=40%",
        ]),
    ) {
        let ids = trace.iter().map(|&(page, _)| page).collect();
        let writes = trace.iter().enumerate().filter(|(_, request)| request.1).map(|(at, _)| at);
        let requests = Requests::from_pages(ids).with_writes(writes);
        let case = Case { policy: name.into(), capacity: pages * 4096 };
        let options = Options { write_back: rule(text), ..Options::default() };
        let mut log = Vec::new();
        let device = |access: super::DeviceAccess| log.push((access.position, access.id, access.write));
        let figures = crate::run::run(&requests, &case, &options, Some(Box::new(device))).unwrap();
        let written = |page: u32| log.iter().filter(|entry| entry.2 && entry.1 == page).count() as u64;
        let writes = |page: u32| trace.iter().filter(|request| **request == (page, true)).count() as u64;
        let mut never = 0;
        for page in 0..24 {
            // A page is not written more often than the program wrote it.
            prop_assert!(written(page) <= writes(page), "page {}", page);
            let last = trace.iter().rposition(|request| *request == (page, true));
            let after = |last: usize| {
                log.iter().any(|&(position, id, write)| write && id == page && position >= last)
            };
            never += u64::from(last.is_some_and(|last| !after(last)));
        }
        prop_assert_eq!(figures.dirty_at_end, never);
        prop_assert_eq!(figures.write_backs + figures.writes_through, (0..24).map(written).sum::<u64>());
        prop_assert_eq!(
            figures.cost,
            figures.device_reads + figures.write_backs + figures.writes_through + figures.dirty_at_end
        );
    }
}

proptest! {
    #[test]
    fn both_loops_decide_alike_where_sizes_change(
        trace in prop::collection::vec((0..12u32, 0..40u64), 1..300),
        name in prop::sample::select(NAMES),
        capacity in 1..100u64,
        changed in prop::sample::select(vec![Changed::Hit, Changed::Miss]),
    ) {
        let needs = needs_of(name).unwrap();
        prop_assume!(!needs.unit_weights && !needs.equal_weights && !needs.neighbours);
        let (ids, sizes): (Vec<u32>, Vec<u64>) = trace.into_iter().unzip();
        let requests = Requests::from_sized(&ids, &sizes);
        let case = Case { policy: name.to_owned(), capacity };
        let fast = Options { changed, ..Options::default() };
        let whole = Options { every: NonZeroU64::new(7), ..fast };
        let one = simulate_with(&requests, &case, &fast).unwrap();
        let other = simulate_with(&requests, &case, &whole).unwrap();
        prop_assert_eq!(&Figures { over_time: Vec::new(), ..other }, &one, "{}", name);
        prop_assert_eq!(one.hit_bytes + one.miss_bytes, sizes.iter().sum::<u64>(), "{}", name);
    }
}

#[test]
fn a_removed_object_misses_next_and_is_not_written_back() {
    let requests = || Requests::from_pages(vec![0, 1, 0, 1, 0]);
    let case = |policy: &str| Case { policy: policy.to_owned(), capacity: 4 * 4096 };
    for policy in NAMES.iter().filter(|name| !needs_of(name).unwrap().neighbours) {
        let of = |requests: &Requests| {
            let figures = simulate_with(requests, &case(policy), &Options::default()).unwrap();
            (figures.misses, figures.write_backs, figures.dirty_at_end)
        };
        if of(&requests()) != (2, 0, 0) {
            continue; // such as one that keeps nothing at a first request
        }
        let removed = requests().with_removals([(2, 0), (2, 0), (4, 1), (5, 0)]);
        assert_eq!(of(&removed), (3, 0, 0), "{policy}: 0 misses once more; 1 is not asked for");
        let written = requests().with_writes([0, 1]).with_removals([(2, 0)]);
        assert_eq!(of(&written), (3, 0, 1), "{policy}: what was written to 0 is lost");
    }
}

#[test]
fn each_request_weighs_what_it_asks_for() {
    let figures = |objects: &[u32], sizes: &[u64], changed| {
        let requests = Requests::from_sized(objects, sizes);
        let options = Options { changed, ..Options::default() };
        let case = Case { policy: "lru".to_owned(), capacity: 100 };
        simulate_with(&requests, &case, &options).unwrap()
    };
    let of = |changed| figures(&[1, 2, 1, 2, 1], &[10, 10, 90, 10, 90], changed);
    let (hit, miss) = (of(Changed::Hit), of(Changed::Miss));
    assert_eq!((hit.misses, hit.miss_bytes, hit.hit_bytes), (2, 20, 190));
    assert_eq!((miss.misses, miss.miss_bytes, miss.hit_bytes), (3, 110, 100));
    let large = figures(&[1, 1, 1, 2, 1], &[10, 200, 10, 10, 10], Changed::Hit);
    assert_eq!((large.misses, large.bypassed), (3, 1), "it bypasses this once");
}
