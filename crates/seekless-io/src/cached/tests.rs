use super::hit_log::STRIPE_HITS_MAX;
use super::*;

fn log_hit(log: &HitLog<Vec<u8>>, id: u32) -> bool {
    log.hit(id, || Some(vec![7; 10])).expect("it was found").1
}

#[test]
fn one_threads_hits_are_drained_in_order_and_once() {
    let log: HitLog<Vec<u8>> = HitLog::new();
    for id in [3, 1, 3, 2] {
        assert!(!log_hit(&log, id));
    }
    assert!(log.hit(9, || None).is_none(), "no hit is no hit");
    let (mut scratch, mut seen) = (Vec::new(), Vec::new());
    log.drain(&mut scratch, |id| seen.push(id));
    log.drain(&mut scratch, |id| seen.push(id));
    log_hit(&log, 4);
    log.stop().drain(|id| seen.push(id));
    assert_eq!(seen, [3, 1, 3, 2, 4]);
    assert_eq!(log.totals(), (5, 50));
}

#[test]
fn a_full_stripe_asks_to_be_drained() {
    let log: HitLog<Vec<u8>> = HitLog::new();
    let asked = (0..STRIPE_HITS_MAX).filter(|_| log_hit(&log, 0)).count();
    assert_eq!(asked, 1);
}

#[test]
fn no_hit_is_lost_between_threads() {
    let log: HitLog<Vec<u8>> = HitLog::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|id| _ = log_hit(&log, id)));
        }
    });
    let mut drained = 0;
    log.drain(&mut Vec::new(), |_| drained += 1);
    assert_eq!((drained, log.totals().0), (2000, 2000));
}

#[test]
fn an_orphan_lives_as_long_as_its_user() {
    let slots = Slots::new(1);
    let memory = crate::memory::Memory::new(1, 64, false).unwrap();
    slots.keep(0, Buffer::new(memory.content(2, false).unwrap().freeze(false)));
    let user = slots.kept(0).unwrap();
    assert!(slots.orphan(0).is_some_and(|buffer| buffer.ptr_eq(&user)));
    assert!(slots.kept(0).is_none());
    assert!(slots.alive(0).is_some_and(|buffer| buffer.ptr_eq(&user)));
    drop(user);
    assert!(slots.alive(0).is_none());
    assert!(slots.orphan(0).is_none());
}

#[test]
fn a_stripe_looks_once_and_again_after_an_eviction() {
    let (log, looks) = (HitLog::<Vec<u8>>::new(), std::cell::Cell::new(0));
    let look = || {
        looks.set(looks.get() + 1);
        Some(vec![7; 10])
    };
    (0..3).for_each(|_| drop(log.hit(5, look)));
    assert_eq!(looks.get(), 1);
    log.stop().forget(5);
    assert!(log.hit(5, || None).is_none());
    drop(log.hit(5, look));
    assert_eq!(looks.get(), 2);
}
