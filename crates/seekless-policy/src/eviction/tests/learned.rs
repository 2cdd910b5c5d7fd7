//! Policies that learn, and those of the same years, against naive models.

mod models;

use super::*;
use models::{NaiveCart, NaiveFrd, NaiveLeCaR};
use proptest::prelude::*;

/// Nothing but reads of pages.
fn reads_of_pages() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..IDS).prop_map(|id| Step::Request(Request::page(id))), 1..400)
}

proptest! {
    #[test]
    fn lecar_equals_two_lists_and_a_draw(capacity in 0u64..40, steps in steps()) {
        check_model(LeCaR::new(capacity), NaiveLeCaR::new(capacity), &steps);
    }

    #[test]
    fn cart_equals_figure_3(capacity in 1u64..14, steps in reads_of_pages()) {
        check_model(Cart::new(capacity), NaiveCart::new(capacity as usize), &steps);
    }

    #[test]
    fn frd_equals_a_filter_and_a_stack(capacity in 1u64..24, steps in reads_of_pages()) {
        check_model(Frd::new(capacity), NaiveFrd::new(capacity as usize), &steps);
    }
}

/// Misses of a loop over `length` pages that goes on for 40 rounds, among a scan if `scans`.
fn loop_misses(name: &str, length: u32, scans: bool) -> usize {
    let mut policy = named(name, 100).unwrap();
    policy.grow(20_000);
    let mut owner = Checker::default();
    let mut scanned = 1000;
    let mut misses = 0;
    for turn in 0..40 * length {
        let looped = owner.request(&mut policy, &Request::page(turn % length));
        misses += usize::from(looped != Outcome::Hit);
        if scans {
            owner.request(&mut policy, &Request::page(scanned));
            scanned += 1;
        }
    }
    misses
}

#[test]
fn experts_of_cacheus_resist_churn_and_scans() {
    // More pages in turn than there is room: LRU misses all.
    assert_eq!(loop_misses("lru", 120, false), 4800);
    assert!(loop_misses("cr-lfu", 120, false) < 1200);
    assert!(loop_misses("cacheus", 120, false) < 2400);
    // 80 pages among a scan.
    assert_eq!(loop_misses("lru", 80, true), 3200);
    for name in ["sr-lru", "cacheus", "cart", "frd"] {
        let misses = loop_misses(name, 80, true);
        assert!(misses < 1600, "{name}: {misses}");
    }
}

#[test]
fn lhd_keeps_what_is_small_and_used_soon() {
    let mut policy = named("lhd", 1000).unwrap();
    policy.grow(5000);
    let mut owner = Checker::default();
    let mut misses = 0;
    for turn in 0..4000 {
        let small = Request::file(turn % 50, 10);
        misses += usize::from(owner.request(&mut policy, &small) != Outcome::Hit);
        owner.request(&mut policy, &Request::file(100 + turn, 200));
    }
    // LRU misses all of them.
    assert!(misses < 400, "{misses}");
}
