//! The throttled engine and the throttle: exact counts, and completions in the model's order and at
//! its times.

use crate::common::{read_all, reads, sample};
use seekless_device::{Costs, DeviceModel, DeviceSpec, Io, Nanos};
use seekless_engine::{
    Clock, Engine, EngineKind, Noop, Throttle, Throttled, build, build_throttled,
};
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const MIB: u64 = 1 << 20;

#[test]
fn counts_requests_as_they_are_cut_and_bytes_within_the_file() {
    let (file, _) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    let spec: DeviceSpec = "iops=1000000,bandwidth=100GB/s".parse().unwrap();
    let engine = build(EngineKind::Throttled(spec.clone())).unwrap();
    assert_eq!((engine.name(), engine.costs()), ("throttled", spec.costs()));
    read_all(
        &*engine,
        &open,
        &[(0, 100), (0, MIB as usize + 1), (2_999_999, 4096), (9_000_000, 50)],
    );
    engine.opened();
    let counters = engine.counters();
    assert_eq!(counters.requests, 1 + 3 + 1 + 1 + 1);
    assert_eq!(
        counters.bytes,
        100 + (MIB + 1) + 2,
        "what lies past the end of the file is not read"
    );
    assert!(counters.exact);
}

/// Ends opens at once, and reads, last submitted first, once its gate is open.
struct Backwards {
    waiting: Vec<Io>,
    gate: Arc<AtomicBool>,
}

impl Backwards {
    fn may_end(&self, io: &Io) -> bool {
        io.bytes == 0 || self.gate.load(Ordering::SeqCst)
    }
}

impl DeviceModel for Backwards {
    fn submit(&mut self, _now: Nanos, io: Io) {
        self.waiting.push(io);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.waiting.iter().any(|io| self.may_end(io)).then_some(0)
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        let (ended, waiting): (Vec<Io>, Vec<Io>) =
            self.waiting.iter().partition(|io| self.may_end(io));
        self.waiting = waiting;
        ended.into_iter().rev().for_each(|io| done(now, io));
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 1, bytes_per_second: 1, depth: 1 }
    }
}

#[test]
fn completions_come_in_the_models_order() {
    let gate = Arc::new(AtomicBool::new(false));
    let model = Backwards { waiting: Vec::new(), gate: Arc::clone(&gate) };
    let engine =
        Throttled::new(Arc::new(Noop::patterned()), Box::new(model), Clock::wall()).unwrap();
    let file = Arc::new(File::open("/dev/null").unwrap());
    let ranges: Vec<(u64, usize)> = (0..50).map(|offset| (offset, 1)).collect();
    let (done, completions) = mpsc::channel();
    engine.submit(reads(&file, &ranges, &done));
    drop(done);
    // An open queues behind the reads, so when it is over the timer has heard that they were read.
    engine.opened();
    assert!(completions.try_recv().is_err(), "the model has ended none of them");
    gate.store(true, Ordering::SeqCst);
    engine.opened();
    let order: Vec<u8> = completions.iter().map(|read| read.buffer[0]).collect();
    assert!(order.iter().copied().eq((0..50).rev()), "{order:?}");
}

/// Notes what it is asked for, and ends it at once.
struct Noting(Arc<Mutex<Vec<(u64, u64)>>>, Vec<Io>);

impl DeviceModel for Noting {
    fn submit(&mut self, _now: Nanos, io: Io) {
        self.0.lock().unwrap().push((io.offset, io.bytes));
        self.1.push(io);
    }

    fn next_event(&self) -> Option<Nanos> {
        (!self.1.is_empty()).then_some(0)
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.1.drain(..).for_each(|io| done(now, io));
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 1, bytes_per_second: 1, depth: 1 }
    }
}

#[test]
fn an_open_asks_for_what_it_takes_where_that_lies() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let model = Noting(Arc::clone(&seen), Vec::new());
    let engine =
        Throttled::new(Arc::new(Noop::patterned()), Box::new(model), Clock::wall()).unwrap();
    engine.opened();
    let engine = engine.with_opening(vec![(1 << 20, 4096), (5 << 20, 33 * 4096)]);
    engine.opened();
    assert_eq!(*seen.lock().unwrap(), [(0, 0), (1 << 20, 4096), (5 << 20, 33 * 4096)]);
    assert_eq!((engine.counters().requests, engine.counters().bytes), (3, 34 * 4096));
}

#[test]
fn a_dropped_engine_does_not_wait_for_the_model() {
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    let hour_each = DeviceSpec::Volume { iops: 1, bytes_per_second: 1 };
    let engine = build(EngineKind::Throttled(hour_each)).unwrap();
    let (done, completions) = mpsc::channel();
    engine.submit(reads(&open, &[(0, 4_000), (4_000, 4_000)], &done));
    drop(done);
    assert!(completions.try_recv().is_err());
    drop(engine);
    let mut ended: Vec<_> = completions.iter().map(|read| (read.tag, read.buffer)).collect();
    ended.sort_by_key(|&(tag, _)| tag);
    assert!(ended.len() == 2 && ended[1].1[..] == bytes[4_000..8_000]);
}

#[test]
fn the_throttle_ends_requests_at_the_models_times() {
    let throttle = Throttle::new(DeviceSpec::Volume { iops: 10, bytes_per_second: 10_000_000 });
    let first = throttle.charge(0);
    let opened = throttle.charge(0);
    let (word, read) = throttle.during(0, 2_500_000, || "read");
    assert_eq!(word, "read");
    assert!(opened >= first + 100_000_000, "one of 10 requests a second: {opened}");
    assert!(read >= 250_000_000, "2.5 MB at 10 MB/s: {read}");
    let counters = throttle.counters();
    assert_eq!((counters.requests, counters.bytes, counters.exact), (1 + 1 + 5, 2_500_000, true));
}

#[test]
fn threads_that_share_a_throttle_share_the_device() {
    let throttle = Throttle::new(DeviceSpec::Volume { iops: 50, bytes_per_second: u64::MAX });
    let ends = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| ends.lock().unwrap().push(throttle.charge(1))));
        }
    });
    let mut ends = ends.into_inner().unwrap();
    ends.sort_unstable();
    assert_eq!(ends.len(), 20);
    // Five in each tenth of a second. What a busy machine leaves unused comes later, never earlier.
    assert!(ends.iter().zip(0..).all(|(&end, before)| end >= before / 5 * 100_000_000), "{ends:?}");
}

/// Hours of modelled time on a clock that skips them; on the wall this test would not end.
#[test]
fn a_skipping_clock_does_not_wait_for_the_model() {
    let hour = 3_600_000_000_000;
    let spec = DeviceSpec::Volume { iops: 1, bytes_per_second: 1 };
    let clock = Clock::skipping();
    let throttle = Throttle::with_model(Box::new(spec.model()), clock.clone());
    let ends: Vec<Nanos> = (0..3).map(|_| throttle.charge(3_600)).collect();
    assert!(
        ends.iter().zip(1..).all(|(&end, count)| end >= count * hour && end < (count + 1) * hour),
        "{ends:?}"
    );
    assert!(clock.now() >= 3 * hour);
}

#[test]
fn reads_on_a_skipping_clock_end_in_the_models_order_and_at_its_times() {
    let (file, bytes) = sample();
    let open = Arc::new(File::open(file.path()).unwrap());
    let spec = DeviceSpec::Volume { iops: 1, bytes_per_second: 1_000_000 };
    let clock = Clock::skipping();
    let engine = build_throttled(spec, clock.clone()).unwrap();
    let (done, completions) = mpsc::channel();
    engine.submit(reads(&open, &(0..600).map(|read| (read * 10, 10)).collect::<Vec<_>>(), &done));
    drop(done);
    let mut last = 0;
    for (place, read) in completions.iter().enumerate() {
        assert_eq!(
            (read.tag, &read.buffer[..]),
            (place as u64, &bytes[place * 10..place * 10 + 10])
        );
        // One request a second, at the start of the slice that allows it. The clock may have
        // skipped to the next request before this one is looked at.
        assert!(clock.now() >= place as u64 * 1_000_000_000 + 900_000_000 && clock.now() >= last);
        last = clock.now();
    }
    assert!(last >= 599_900_000_000, "{last}");
}
