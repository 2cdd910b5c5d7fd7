//! The field's newer policies against naive models written from their papers.

mod lists;
mod models;

use super::*;
use lists::{NaiveLirs, NaiveTwoLists, NaiveWTinyLfu};
use models::{NaiveProbation, NaiveSieve, Trial};
use proptest::prelude::*;

/// Nothing but requests for pages.
fn requests_of_pages() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(request(true).prop_map(Step::Request), 1..400)
}

const S3_FIFO: Trial = Trial { ghosts: 90, pass_at: 2, uses_max: 3, fills_main: false, window: 0 };
const CLOCK2Q_PLUS: Trial =
    Trial { ghosts: 90, pass_at: 1, uses_max: 1, fills_main: true, window: 50 };

proptest! {
    #[test]
    fn sieve_equals_algorithm_1(capacity in 0u64..60, steps in steps()) {
        check_model(Sieve::new(capacity), NaiveSieve::new(capacity), &steps);
    }

    #[test]
    fn s3_fifo_equals_algorithm_1(capacity in 0u64..40, steps in page_steps()) {
        check_model(S3Fifo::new(capacity), NaiveProbation::new(capacity, S3_FIFO), &steps);
        let of_2024 = Trial { fills_main: true, ..S3_FIFO };
        check_model(S3Fifo2024::new(capacity), NaiveProbation::new(capacity, of_2024), &steps);
    }

    #[test]
    fn qdlp_equals_three_queues(capacity in 0u64..40, steps in page_steps()) {
        let qdlp = Trial { pass_at: 1, ..S3_FIFO };
        check_model(Qdlp::new(capacity), NaiveProbation::new(capacity, qdlp), &steps);
    }

    #[test]
    fn clock2q_plus_equals_three_queues_and_a_window(capacity in 0u64..60, steps in page_steps()) {
        check_model(Clock2QPlus::new(capacity), NaiveProbation::new(capacity, CLOCK2Q_PLUS), &steps);
        let short = Trial { ghosts: 50, ..CLOCK2Q_PLUS };
        check_model(Clock2QPlusShort::new(capacity), NaiveProbation::new(capacity, short), &steps);
    }

    #[test]
    fn lirs_equals_a_stack_and_a_queue(capacity in 0u64..24, steps in page_steps()) {
        check_model(Lirs::new(capacity), NaiveLirs::new(capacity), &steps);
    }

    #[test]
    fn two_lists_equal_what_the_kernel_does(capacity in 0u64..24, steps in page_steps()) {
        check_model(TwoLists::new(capacity), NaiveTwoLists::new(capacity), &steps);
    }

    #[test]
    fn w_tiny_lfu_equals_three_lists_and_the_sketch(capacity in 1u64..24, steps in requests_of_pages()) {
        check_model(WTinyLfu::fixed(capacity), NaiveWTinyLfu::new(capacity), &steps);
    }
}

/// A policy and its owner after requests for `ids`, each of weight 1.
fn after<E: Eviction>(mut policy: E, ids: impl IntoIterator<Item = Id>) -> (E, Checker) {
    let mut owner = Checker::default();
    policy.grow(IDS);
    for id in ids {
        owner.request(&mut policy, &Request::page(id));
    }
    (policy, owner)
}

#[test]
fn s3_fifo_asks_for_two_uses_on_probation_and_qdlp_for_one() {
    // Capacity 20: two on probation. Page 0 is used once more, page 1 twice.
    let ids: Vec<Id> = [0, 0, 1, 1, 1].into_iter().chain(2..22).collect();
    assert_eq!(after(S3Fifo::new(20), ids.clone()).1.evicted, [0, 2]);
    assert_eq!(after(Qdlp::new(20), ids).1.evicted, [2, 3]);
}

#[test]
fn a_correlated_use_does_not_save_a_page_from_clock2q_plus() {
    // Capacity 20: two on probation, the newer of them in the window.
    let fill: Vec<Id> = (0..20).collect();
    let correlated = [vec![0, 0], fill.clone(), vec![20]].concat();
    assert_eq!(after(Clock2QPlus::new(20), correlated).1.evicted, [0]);
    let apart = [fill, vec![0, 20]].concat();
    assert_eq!(after(Clock2QPlus::new(20), apart).1.evicted, [1]);
}

#[test]
fn lirs_keeps_a_loop_larger_than_the_cache_and_lru_none_of_it() {
    let hits = |mut policy: Named| {
        let mut owner = Checker::default();
        policy.grow(IDS);
        (0..50 * IDS)
            .filter(|turn| owner.request(&mut policy, &Request::page(turn % IDS)) == Outcome::Hit)
            .count()
    };
    assert_eq!(hits(named("lru", 20).unwrap()), 0);
    assert!(hits(named("lirs", 20).unwrap()) > 49 * 18);
}

#[test]
fn a_soon_refault_activates_under_linux() {
    // Pages 0 to 4 are used twice: active. Page 5 is reclaimed by 10 and comes back at distance 1.
    let ids = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 5];
    let (mut policy, mut owner) = after(TwoLists::new(10), ids);
    assert_eq!(owner.evicted, [5, 6]);
    // Five newcomers reclaim what is inactive; the refaulted page stays.
    (11..16).for_each(|id| {
        owner.request(&mut policy, &Request::page(id));
    });
    assert!(owner.resident.contains_key(&5));
    assert!(policy.needs().unit_weights);
}

#[test]
fn w_tiny_lfu_keeps_what_is_used_more_against_a_scan() {
    let popular = (0..20).flat_map(|_| 0..8);
    let (_, owner) = after(WTinyLfu::fixed(10), popular.chain(8..24));
    assert!((0..8).all(|id| owner.resident.contains_key(&id)));
}
