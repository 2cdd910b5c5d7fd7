use super::hit_log::{STRIPE_ENTRIES_MAX, STRIPE_HITS_MAX};
use super::*;

/// Lends its number, again and again.
struct Number(u32);

impl Lend for Number {
    type Lent = u32;

    fn lend(&mut self) -> u32 {
        self.0
    }
}

/// Ten entries, called "0" to "9".
struct Digits;

impl Names for Digits {
    fn name(&self, id: Id) -> &str {
        &"0123456789"[id as usize..][..1]
    }

    fn place(&self, id: Id) -> NamePlace {
        NamePlace { source: 0, start: id, end: id + 1 }
    }

    fn is_at(&self, place: NamePlace, name: &str) -> bool {
        self.name(place.start) == name
    }
}

fn log_hit(log: &HitLog<Number>, id: Id) -> bool {
    let hit = log.hit_or(id, &Digits, || Some(Number(id))).expect("it was found");
    assert_eq!((hit.id, hit.buffer), (id, id));
    hit.is_full
}

/// All that is logged, as it is reported to the policy: entry and number of hits.
fn drained(log: &HitLog<Number>) -> Vec<(Id, u32)> {
    let mut seen = Vec::new();
    log.drain(&mut Vec::new(), |taken| {
        seen.extend(taken.iter().map(|taken| (taken.id, taken.hits)))
    });
    seen
}

#[test]
fn one_threads_hits_are_drained_in_order_and_once() {
    let log = HitLog::new(false);
    for id in [3, 1, 3, 2] {
        assert!(!log_hit(&log, id));
    }
    assert!(log.hit_or(9, &Digits, || None).is_none(), "no hit is no hit");
    assert!(log.hit("9", &Digits).is_none());
    assert_eq!(log.hit("1", &Digits).map(|hit| (hit.id, hit.buffer)), Some((1, 1)));
    let mut seen = drained(&log);
    seen.extend(drained(&log));
    log_hit(&log, 4);
    let taken = |taken: &[EntryHits]| seen.extend(taken.iter().map(|taken| (taken.id, taken.hits)));
    log.stop(&Digits).drain(&mut Vec::new(), taken);
    assert_eq!(seen, [3, 1, 3, 2, 1, 4].map(|id| (id, 1)));
}

#[test]
fn folded_hits_are_counted_and_in_the_order_of_their_last() {
    let log = HitLog::new(true);
    for id in [3, 1, 3, 2, 1, 3, 3, 5] {
        assert!(!log_hit(&log, id));
    }
    assert_eq!(drained(&log), [(2, 1), (1, 2), (3, 4), (5, 1)]);
    assert!(drained(&log).is_empty());
    assert_eq!(log.hit("5", &Digits).map(|hit| hit.buffer), Some(5));
    log_hit(&log, 1);
    let (mut seen, mut scratch) = (Vec::new(), Vec::new());
    let mut stopped = log.stop(&Digits);
    stopped.drain(&mut scratch, |taken| seen.extend_from_slice(taken));
    stopped.forget(5);
    drop(stopped);
    assert_eq!(
        seen.iter().map(|taken| (taken.id, taken.hits)).collect::<Vec<_>>(),
        [(5, 1), (1, 1)]
    );
    assert!(log.hit("5", &Digits).is_none() && log.hit("1", &Digits).is_some());
}

#[test]
fn a_full_stripe_asks_to_be_drained() {
    let log = HitLog::new(false);
    let asked = (0..STRIPE_HITS_MAX).filter(|_| log_hit(&log, 0)).count();
    assert_eq!(asked, 1);
}

#[test]
fn a_stripe_that_folds_is_full_of_entries_not_of_hits() {
    /// More entries than a stripe holds, of all names.
    struct Numbers(Vec<String>);

    impl Names for Numbers {
        fn name(&self, id: Id) -> &str {
            &self.0[id as usize]
        }

        fn place(&self, id: Id) -> NamePlace {
            NamePlace { source: 0, start: id, end: id + 1 }
        }

        fn is_at(&self, place: NamePlace, name: &str) -> bool {
            self.name(place.start) == name
        }
    }

    let names = Numbers((0..STRIPE_ENTRIES_MAX).map(|id| id.to_string()).collect());
    let log = HitLog::<Number>::new(true);
    let hit = |id| log.hit_or(id, &names, || Some(Number(id))).unwrap().is_full;
    assert!(!(0..2 * STRIPE_ENTRIES_MAX).any(|_| hit(0)));
    let asked = (0..STRIPE_ENTRIES_MAX as Id).filter(|&id| hit(id)).collect::<Vec<_>>();
    assert_eq!(asked, [STRIPE_ENTRIES_MAX as Id - 1]);
}

#[test]
fn no_hit_is_lost_between_threads() {
    for folds in [false, true] {
        let log = HitLog::new(folds);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|turn| _ = log_hit(&log, turn % 10)));
            }
        });
        assert_eq!(drained(&log).iter().map(|(_, hits)| hits).sum::<u32>(), 2000);
    }
}

#[test]
fn an_orphan_lives_as_long_as_its_user() {
    let slots = Slots::new(1);
    let memory = crate::memory::Memory::new(1, 64, false).unwrap();
    slots.keep(0, Buffer::new(memory.content(2, false).unwrap().freeze(false)));
    let user = slots.lender(0).unwrap().lend();
    assert!(slots.orphan(0).is_some_and(|buffer| buffer.ptr_eq(&user)));
    assert!(slots.lender(0).is_none());
    assert!(slots.alive(0).is_some_and(|buffer| buffer.ptr_eq(&user)));
    drop(user);
    assert!(slots.alive(0).is_none());
    assert!(slots.orphan(0).is_none());
}

#[test]
fn a_stripe_looks_once_and_again_after_an_eviction() {
    let (log, looks) = (HitLog::<Number>::new(true), std::cell::Cell::new(0));
    let look = || {
        looks.set(looks.get() + 1);
        Some(Number(5))
    };
    (0..3).for_each(|_| assert!(log.hit_or(5, &Digits, look).is_some()));
    assert_eq!((looks.get(), log.hit("5", &Digits).is_some()), (1, true));
    log.stop(&Digits).forget(5);
    assert!(log.hit("5", &Digits).is_none() && log.hit_or(5, &Digits, || None).is_none());
    assert!(log.hit_or(5, &Digits, look).is_some());
    assert_eq!(looks.get(), 2);
}
