//! The field's older policies against naive models written from their papers.

mod models;

use super::*;
use models::{NaiveBelady, NaiveFwf, NaiveMq, NaiveScored, NaiveSlru, Score};
use proptest::prelude::*;

/// Sets in each request when its id comes next, counted in requests.
fn with_next_uses(mut steps: Vec<Step>) -> Vec<Step> {
    let requests = steps.iter().filter(|step| matches!(step, Step::Request(_))).count() as u64;
    let (mut position, mut next) = (requests, HashMap::new());
    for step in steps.iter_mut().rev() {
        if let Step::Request(request) = step {
            position -= 1;
            request.next_use = next.insert(request.id, position).unwrap_or(NEVER);
        }
    }
    steps
}

/// Makes every request cost 1.
fn with_unit_costs(mut steps: Vec<Step>) -> Vec<Step> {
    for step in &mut steps {
        if let Step::Request(request) = step {
            request.cost = 1;
        }
    }
    steps
}

fn hits<E: Eviction>(mut policy: E, steps: &[Step]) -> usize {
    policy.grow(IDS);
    let mut owner = Checker::default();
    let requests = steps.iter().filter_map(|step| match step {
        Step::Request(request) => Some(request),
        _ => None,
    });
    requests.filter(|request| owner.request(&mut policy, request) == Outcome::Hit).count()
}

proptest! {
    #[test]
    fn lru_2_equals_its_definition(capacity in 0u64..60, steps in steps()) {
        check_model(Lru2::new(capacity), NaiveScored::new(capacity, Score::Lru2), &steps);
        check_model(Lru2::with_history(capacity), NaiveScored::with_history(capacity, Score::Lru2), &steps);
    }

    #[test]
    fn lru_k_equals_its_definition_lru_and_lru_2(capacity in 0u64..60, steps in steps()) {
        check_model(LruK::of(capacity, 1), NaiveScored::new(capacity, Score::Lru), &steps);
        check_model(LruK::of(capacity, 2), NaiveScored::new(capacity, Score::Lru2), &steps);
        check_model(LruK::of(capacity, 3), NaiveScored::new(capacity, Score::Lru3), &steps);
    }

    #[test]
    fn gds_equals_its_definition(capacity in 0u64..60, pages in page_steps(), files in steps()) {
        let steps = [with_unit_costs(pages), files].concat();
        check_model(Gds::new(capacity), NaiveScored::new(capacity, Score::Gds), &steps);
    }

    #[test]
    fn gds_is_landlord_with_full_restore(capacity in 0u64..60, steps in steps()) {
        check_model(Gds::new(capacity), NaiveLandlord::new(capacity, 4), &with_unit_costs(steps));
    }

    #[test]
    fn landlord_at_the_speed_of_lru_is_landlord(capacity in 0u64..60, pages in page_steps(), files in steps()) {
        let steps = [with_unit_costs(pages), files].concat();
        check_model(Gds::full_landlord(capacity), NaiveLandlord::new(capacity, 4), &steps);
    }

    #[test]
    fn gdsf_equals_its_definition(capacity in 0u64..60, pages in page_steps(), files in steps()) {
        let steps = [with_unit_costs(pages), files].concat();
        check_model(Gdsf::new(capacity), NaiveScored::new(capacity, Score::Gdsf), &steps);
    }

    #[test]
    fn hyperbolic_evicts_the_least_used_for_its_age_and_weight(
        capacity in 1u64..60,
        ids in prop::collection::vec((0..IDS, 1u32..4), 1..200),
    ) {
        let mut policy = Hyperbolic::new(capacity);
        policy.grow(IDS);
        let mut owner = Checker::default();
        // Uses, cost and turn of admission of what is resident.
        let mut known: HashMap<Id, (u32, u32, u64)> = HashMap::new();
        for (turn, (id, cost)) in (1u64..).zip(ids) {
            let outcome = owner.request(&mut policy, &Request { cost, ..Request::file(id, weight_of(id)) });
            let priority = |id: Id, (uses, cost, admitted): (u32, u32, u64)| {
                let worth = f64::from(uses) * f64::from(cost);
                worth / ((turn + 1 - admitted) as f64 * weight_of(id).max(1) as f64)
            };
            for victim in owner.evicted.drain(..) {
                let left = priority(victim, known.remove(&victim).unwrap());
                prop_assert!(known.iter().all(|(&id, &page)| priority(id, page) >= left));
            }
            match outcome {
                Outcome::Hit => { let page = known.get_mut(&id).unwrap(); (page.0, page.1) = (page.0 + 1, cost); }
                Outcome::Admitted => { known.insert(id, (1, cost, turn)); }
                Outcome::Bypassed => {}
            }
        }
    }

    #[test]
    fn mq_equals_the_papers_pseudocode(capacity in 0u64..12, steps in page_steps()) {
        check_model(Mq::new(capacity), NaiveMq::new(capacity), &steps);
    }

    #[test]
    fn opt_equals_looking_at_all_next_uses(capacity in 0u64..20, steps in page_steps()) {
        let steps = with_next_uses(steps);
        check_model(Opt::new(capacity), NaiveScored::new(capacity, Score::Opt), &steps);
    }

    #[test]
    fn opt_with_bypass_hits_at_least_as_often(capacity in 1u64..20, steps in page_steps()) {
        let steps = with_next_uses(steps);
        prop_assert!(hits(Opt::with_bypass(capacity), &steps) >= hits(Opt::new(capacity), &steps));
    }

    #[test]
    fn opt_is_never_beaten(
        capacity in 1u64..20,
        steps in page_steps(),
        name in prop::sample::select(NAMES),
    ) {
        let steps = with_next_uses(steps);
        prop_assert!(hits(named(name, capacity).unwrap(), &steps) <= hits(Opt::with_bypass(capacity), &steps));
    }

    #[test]
    fn belady_size_with_equal_weights_is_opt(capacity in 1u64..20, steps in page_steps()) {
        let steps = with_next_uses(steps);
        prop_assert_eq!(hits(BeladySize::new(capacity), &steps), hits(Opt::new(capacity), &steps));
    }

    #[test]
    fn belady_equals_sorting_by_next_use(capacity in 0u64..60, steps in steps()) {
        check_model(Belady::new(capacity), NaiveBelady::new(capacity), &with_next_uses(steps));
    }

    #[test]
    fn belady_on_pages_is_opt_with_bypass(capacity in 1u64..20, steps in page_steps()) {
        let steps = with_next_uses(steps);
        let (belady, opt) = (Belady::new(capacity), Opt::with_bypass(capacity));
        prop_assert_eq!(hits(belady, &steps), hits(opt, &steps));
    }

    #[test]
    fn belady_without_knowledge_is_lru(capacity in 0u64..60, steps in steps()) {
        let read = |step| match step {
            Step::Request(request) => Step::Request(Request { kind: Use::Read, ..request }),
            other => other,
        };
        let steps: Vec<_> = steps.into_iter().map(read).collect();
        check_model(Belady::new(capacity), NaiveLru::new(capacity), &steps);
    }

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
    fn cr_lfu_equals_counting_with_the_newest_first(capacity in 0u64..60, steps in steps()) {
        check_model(CrLfu::new(capacity), NaiveScored::new(capacity, Score::CrLfu), &steps);
    }

    #[test]
    fn mru_equals_looking_for_the_last_use(capacity in 0u64..60, steps in steps()) {
        check_model(Mru::new(capacity), NaiveScored::new(capacity, Score::Mru), &steps);
    }

    #[test]
    fn size_equals_looking_for_the_largest(capacity in 0u64..60, steps in steps()) {
        check_model(Size::new(capacity), NaiveScored::new(capacity, Score::Size), &steps);
    }

    #[test]
    fn camp_equals_its_definition(capacity in 0u64..60, steps in steps()) {
        check_model(Camp::new(capacity), NaiveScored::new(capacity, Score::Camp), &steps);
    }

    #[test]
    fn gd_wheel_with_equal_costs_is_lru(
        capacity in 0u64..60,
        cost in prop::sample::select(vec![1, 200, 255, 256, 70_000, u32::MAX]),
        steps in page_steps(),
    ) {
        let mut steps = with_unit_costs(steps);
        for step in &mut steps {
            if let Step::Request(request) = step {
                request.cost = cost;
            }
        }
        check_model(GdWheel::new(capacity), NaiveLru::new(capacity), &steps);
    }

    #[test]
    fn samples_of_nearly_all_pages_make_lru_and_lfu(capacity in 0u64..60, steps in steps()) {
        let lru = SampledLru::drawing(capacity, 1000);
        check_model(lru, NaiveScored::new(capacity, Score::Lru), &steps);
        let lfu = SampledLfu::drawing(capacity, 1000);
        check_model(lfu, NaiveScored::new(capacity, Score::Lfu), &steps);
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

/// Every policy that knows the future obeys announcements between requests.
#[test]
fn what_is_foreseen_replaces_what_was_known() {
    for name in ["opt", "belady", "belady-size"] {
        let mut policy = named(name, 3).unwrap();
        let mut owner = Checker::default();
        policy.grow(IDS);
        for id in 0..3 {
            let next_use = 10 + u64::from(id);
            owner.request(&mut policy, &Request { next_use, ..Request::page(id) });
        }
        policy.foresee(1, 90);
        policy.foresee(9, 95);
        owner.request(&mut policy, &Request { next_use: 14, ..Request::page(3) });
        policy.foresee(0, NEVER);
        owner.request(&mut policy, &Request { next_use: 15, ..Request::page(4) });
        assert_eq!(owner.evicted, [1, 0], "{name}");
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
