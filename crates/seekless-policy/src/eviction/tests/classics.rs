//! The field's older policies against naive models written from their papers.

mod models;

use super::*;
use models::{NaiveFwf, NaiveScored, NaiveSlru, Score};
use proptest::prelude::*;

/// Requests and everything else, for files.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(false), 1..300)
}

/// The same for pages.
fn page_steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(true), 1..300)
}

proptest! {
    #[test]
    fn fifo_equals_a_queue(capacity in 0u64..60, steps in steps()) {
        check_model(Fifo::new(capacity), NaiveScored::new(capacity, Score::Fifo), &steps);
    }

    #[test]
    fn fwf_equals_phases(capacity in 0u64..60, steps in steps()) {
        check_model(Fwf::new(capacity), NaiveFwf::new(capacity), &steps);
    }

    #[test]
    fn lfu_equals_counting(capacity in 0u64..60, steps in steps()) {
        check_model(Lfu::new(capacity), NaiveScored::new(capacity, Score::Lfu), &steps);
    }

    #[test]
    fn lfu_da_equals_counting_with_an_age(capacity in 0u64..60, steps in steps()) {
        check_model(LfuDa::new(capacity), NaiveScored::new(capacity, Score::LfuDa), &steps);
    }

    #[test]
    fn slru_equals_two_lists(capacity in 0u64..16, steps in page_steps()) {
        check_model(Slru::new(capacity), NaiveSlru::new(capacity, 2), &steps);
    }

    #[test]
    fn slru_of_four_equals_four_lists(capacity in 0u64..24, steps in page_steps()) {
        check_model(Slru::four(capacity), NaiveSlru::new(capacity, 4), &steps);
    }
}

#[test]
fn random_victims_follow_from_the_seed_alone() {
    let victims = |seed| {
        let mut policy = Random::with_seed(8, seed);
        let mut owner = Checker::default();
        policy.grow(IDS);
        (0..500).for_each(|turn| {
            owner.request(&mut policy, &Request::page(turn * 7 % IDS));
        });
        owner.evicted
    };
    assert_eq!(victims(1), victims(1));
    assert_ne!(victims(1), victims(2));
}

#[test]
fn random_gives_every_page_the_same_chance() {
    let mut policy = Random::new(8);
    let mut owner = Checker::default();
    policy.grow(9);
    (0..8).for_each(|id| {
        owner.request(&mut policy, &Request::page(id));
    });
    let mut counts = [0; 9];
    let mut outside = 8;
    for _ in 0..9000 {
        owner.request(&mut policy, &Request::page(outside));
        outside = owner.evicted[owner.evicted.len() - 1];
        counts[outside as usize] += 1;
    }
    assert!(counts.iter().all(|&count| (850..1150).contains(&count)), "{counts:?}");
}
