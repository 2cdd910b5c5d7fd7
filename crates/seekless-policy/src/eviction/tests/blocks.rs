//! The policies of Ozen's thesis against naive models written from their own papers, on pages that
//! are read and written.

mod models;

use super::*;
use models::{
    Naive, NaiveCar, NaiveCflru, NaiveClock, NaiveClockPro, NaiveDeviceTime, NaiveFab, NaiveRrip,
    NaiveSpatial, NaiveTwoQueue, NaiveWsr,
};

/// An owner that knows what is dirty.
#[derive(Default)]
struct Owner {
    dirty: HashSet<Id>,
    evicted: Vec<Id>,
}

impl Pool for Owner {
    fn evict(&mut self, victim: Id) {
        self.dirty.remove(&victim);
        self.evicted.push(victim);
    }

    fn forget(&mut self, _id: Id) {}

    fn state(&self, id: Id) -> PageState {
        PageState { dirty: self.dirty.contains(&id), ..CLEAN }
    }
}

/// A page, how it is used, and whether it is written back just before.
type Turn = (Id, Use, bool);

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    prop::collection::vec((0..IDS, any_use(), prop::bool::weighted(0.1)), 1..500)
}

const PAGE_BYTES: u64 = 4096;

/// A device whose requests cost as much as this many pages.
fn page_a_microsecond(pages: u64, depth: u32) -> Costs {
    Costs { request_ns: 1000 * pages, bytes_per_second: 1_000_000 * PAGE_BYTES, depth }
}

/// Runs policy and model, and compares hits and victims after each turn.
fn check<E: Eviction, M: Naive>(mut policy: E, mut model: M, turns: &[Turn]) {
    policy.grow(IDS);
    let mut owner = Owner::default();
    for (number, &(id, kind, clean)) in turns.iter().enumerate() {
        if clean && owner.dirty.remove(&id) {
            policy.cleaned(id);
        }
        let request = Request { kind, ..Request::page(id) };
        let (hit, victims) = model.request(&request, &owner.dirty);
        assert_eq!(
            policy.request(&request, &mut owner) == Outcome::Hit,
            hit,
            "turn {number}: {request:?}"
        );
        assert_eq!(std::mem::take(&mut owner.evicted), victims, "turn {number}: {request:?}");
        if kind == Use::Write {
            owner.dirty.insert(id);
        }
    }
}

proptest! {
    #[test]
    fn clock_equals_frames_and_a_hand(capacity in 1usize..14, turns in turns()) {
        check(Clock::new(capacity as u64), NaiveClock::new(capacity), &turns);
    }

    #[test]
    fn two_queue_equals_its_pseudocode(capacity in 1usize..14, turns in turns()) {
        check(TwoQueue::new(capacity as u64), NaiveTwoQueue::full(capacity), &turns);
        check(TwoQueueSimple::new(capacity as u64), NaiveTwoQueue::simple(capacity), &turns);
    }

    #[test]
    fn car_equals_figure_2(capacity in 1usize..14, turns in turns()) {
        check(Car::new(capacity as u64), NaiveCar::new(capacity), &turns);
    }

    #[test]
    fn clock_pro_equals_a_list_searched_from_its_end(capacity in 1usize..14, turns in turns()) {
        check(ClockPro::new(capacity as u64), NaiveClockPro::new(capacity), &turns);
    }

    #[test]
    fn rrip_equals_ageing_every_page(capacity in 1usize..14, turns in turns()) {
        check(Rrip::new(capacity as u64), NaiveRrip::new(capacity), &turns);
    }

    #[test]
    fn cflru_equals_a_search_in_the_window(capacity in 1usize..14, turns in turns(), quarters in 0usize..5) {
        let policy = Cflru::with_window(capacity as u64, quarters as f64 / 4.0).unwrap();
        check(policy, NaiveCflru::new(capacity, capacity * quarters / 4), &turns);
    }

    #[test]
    fn device_time_equals_a_look_at_every_page(capacity in 1usize..24, turns in turns(), quarters in 0usize..5, request in 1u64..9, depth in 1u32..4) {
        let share = quarters as f64 / 4.0;
        let mut policy = DeviceTime::with_window(capacity as u64, share).unwrap();
        policy.charged_by(&page_a_microsecond(request, depth), PAGE_BYTES);
        let write = (request / u64::from(depth)).max(1);
        check(policy, NaiveDeviceTime::new(capacity, share, [request, write]), &turns);
    }

    #[test]
    fn lru_wsr_equals_a_list_with_marks(capacity in 1usize..14, turns in turns()) {
        check(LruWsr::new(capacity as u64), NaiveWsr::new(capacity), &turns);
    }

    #[test]
    fn fab_equals_a_look_at_every_block(capacity in 1usize..14, turns in turns(), pages in 1u32..9) {
        check(Fab::with_block(capacity as u64, pages), NaiveFab::new(capacity, pages, false), &turns);
        check(Fab::as_published(capacity as u64), NaiveFab::new(capacity, 4, true), &turns);
    }

    #[test]
    fn spatial_clock_equals_a_sorted_array(capacity in 1usize..14, turns in turns()) {
        check(SpatialClock::new(capacity as u64), NaiveSpatial::new(capacity), &turns);
    }

    #[test]
    fn random2_with_two_pages_is_lru(ids in prop::collection::vec(0..IDS, 1..300)) {
        let steps: Vec<_> = ids.into_iter().map(|id| Step::Request(Request::page(id))).collect();
        check_model(Random2::new(2), NaiveLru::new(2), &steps);
    }

    #[test]
    fn random2_never_evicts_the_page_used_last(capacity in 2u64..14, ids in prop::collection::vec(0..IDS, 1..300)) {
        let (mut policy, mut owner) = (Random2::new(capacity), Owner::default());
        policy.grow(IDS);
        for pair in ids.windows(2) {
            policy.request(&Request::page(pair[0]), &mut owner);
            owner.evicted.clear();
            policy.request(&Request::page(pair[1]), &mut owner);
            prop_assert!(!owner.evicted.contains(&pair[0]));
        }
    }
}

/// Reads or writes pages, and returns who left.
fn victims(policy: &mut DeviceTime, kind: Use, pages: impl IntoIterator<Item = Id>) -> Vec<Id> {
    let mut owner = Owner::default();
    for id in pages {
        policy.request(&Request { kind, ..Request::page(id) }, &mut owner);
    }
    owner.evicted
}

#[test]
fn what_costs_the_device_little_leaves_first() {
    let mut policy = DeviceTime::with_window(12, 1.0).unwrap();
    policy.charged_by(&page_a_microsecond(4, 1), PAGE_BYTES);
    policy.grow(200);
    // Scattered pages, a run that is dirty, and a run that is not: each later than the one before.
    assert_eq!(victims(&mut policy, Use::Read, [50, 60, 70, 80, 90, 100]), []);
    assert_eq!(victims(&mut policy, Use::Write, [3, 4, 5]), []);
    assert_eq!(victims(&mut policy, Use::Read, [9, 10, 11]), []);
    // The clean run goes by the page, the dirty one at once, in the order of the device.
    assert_eq!(victims(&mut policy, Use::Read, [110, 120, 130]), [9, 10, 11]);
    assert_eq!(victims(&mut policy, Use::Read, [140]), [3, 4, 5]);
}

#[test]
fn of_what_costs_alike_and_came_together_the_first_on_the_device_leaves() {
    let mut policy = DeviceTime::with_window(4, 1.0).unwrap();
    policy.charged_by(&page_a_microsecond(1, 1), PAGE_BYTES);
    policy.grow(200);
    assert_eq!(victims(&mut policy, Use::Read, [60, 50, 8, 7]), []);
    assert_eq!(victims(&mut policy, Use::Read, [3, 80, 90, 1]), [7, 8, 50, 60]);
    assert_eq!(victims(&mut policy, Use::Read, [100]), [1]);
    assert!(DeviceTime::with_window(4, 1.5).is_err());
}

#[test]
fn bimodal_insertion_keeps_part_of_a_loop_and_the_duel_finds_it_out() {
    let hits = |mut policy: Rrip| {
        policy.grow(2400);
        let mut owner = Owner::default();
        let requests = (0..240_000).map(|turn| Request::page(turn % 2400));
        requests.filter(|request| policy.request(request, &mut owner) == Outcome::Hit).count()
    };
    assert_eq!(hits(Rrip::new(2000)), 0);
    let (alone, duel) = (hits(Rrip::bimodal(2000, 1)), hits(Rrip::duel(2000, 1)));
    assert!(alone > 150_000 && duel > 100_000, "{alone} alone, {duel} in the duel");
}

#[test]
fn clock_pro_keeps_part_of_a_loop_where_clock_keeps_nothing() {
    let requests: Vec<_> = (0..120_000).map(|turn| Request::page(turn % 1200)).collect();
    let hits = |policy: &str| {
        let (mut policy, mut owner) = (named(policy, 1000).unwrap(), Owner::default());
        policy.grow(1200);
        requests
            .iter()
            .filter(|request| policy.request(request, &mut owner) == Outcome::Hit)
            .count()
    };
    assert_eq!(hits("clock"), 0);
    assert!(hits("clock-pro") > 90_000, "{}", hits("clock-pro"));
}

#[test]
fn a_window_that_is_no_share_is_refused() {
    for share in [-0.1, 1.1, f64::NAN] {
        assert_eq!(
            Cflru::with_window(1, share).unwrap_err().kind(),
            crate::ErrorKind::BadParameter
        );
    }
}
