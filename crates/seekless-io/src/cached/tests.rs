use super::hit_log::STRIPE_HITS_MAX;
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
}

fn log_hit(log: &HitLog<Number>, id: Id) -> bool {
    let hit = log.hit_or(id, &Digits, || Some(Number(id))).expect("it was found");
    assert_eq!((hit.id, hit.buffer), (id, id));
    hit.is_full
}

#[test]
fn one_threads_hits_are_drained_in_order_and_once() {
    let log = HitLog::new();
    for id in [3, 1, 3, 2] {
        assert!(!log_hit(&log, id));
    }
    assert!(log.hit_or(9, &Digits, || None).is_none(), "no hit is no hit");
    assert!(log.hit("9", &Digits).is_none());
    assert_eq!(log.hit("1", &Digits).map(|hit| (hit.id, hit.buffer)), Some((1, 1)));
    let (mut scratch, mut seen) = (Vec::new(), Vec::new());
    log.drain(&mut scratch, |ids| seen.extend_from_slice(ids));
    log.drain(&mut scratch, |ids| seen.extend_from_slice(ids));
    log_hit(&log, 4);
    log.stop(&Digits).drain(|ids| seen.extend_from_slice(ids));
    assert_eq!(seen, [3, 1, 3, 2, 1, 4]);
}

#[test]
fn a_full_stripe_asks_to_be_drained() {
    let log = HitLog::new();
    let asked = (0..STRIPE_HITS_MAX).filter(|_| log_hit(&log, 0)).count();
    assert_eq!(asked, 1);
}

#[test]
fn no_hit_is_lost_between_threads() {
    let log = HitLog::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|turn| _ = log_hit(&log, turn % 10)));
        }
    });
    let mut drained = 0;
    log.drain(&mut Vec::new(), |ids| drained += ids.len());
    assert_eq!(drained, 2000);
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
    let (log, looks) = (HitLog::<Number>::new(), std::cell::Cell::new(0));
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
