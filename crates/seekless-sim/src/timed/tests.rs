//! Times against those computed by hand on a device that serves one I/O at a time.

use super::*;
use proptest::prelude::*;
use seekless_device::{Costs, DeviceModel, Io, Nanos};
use seekless_policy::readahead::{Options, READAHEADS};
use std::collections::VecDeque;

const MS: Nanos = 1_000_000;

/// Serves one I/O after another: 1 ms each, and 1 µs a page.
#[derive(Debug, Default)]
struct Serial {
    ends: VecDeque<(Nanos, Io)>,
    free_at: Nanos,
    /// What was handed over, and when.
    submitted: Vec<(Nanos, Io)>,
}

impl DeviceModel for Serial {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.submitted.push((now, io));
        self.free_at = self.free_at.max(now) + MS + 1000 * io.bytes / PAGE_BYTES;
        self.ends.push_back((self.free_at, io));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.ends.front().map(|&(end, _)| end)
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        while let Some((end, io)) = self.ends.pop_front_if(|&mut (end, _)| end <= now) {
            done(end, io);
        }
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: MS, bytes_per_second: 4_096_000_000, depth: 1 }
    }
}

fn rules(think_ns: Nanos) -> Rules {
    Rules { think_ns, ..Rules::default() }
}

fn run(workload: &Workload, case: &TimedCase, rules: &Rules) -> (TimedFigures, Vec<(Nanos, Io)>) {
    let mut device = Serial::default();
    let figures = simulate(workload, case, rules, &mut device).unwrap();
    (figures, device.submitted)
}

fn pages(numbers: impl IntoIterator<Item = u64>) -> Workload {
    let reads = numbers.into_iter().map(|page| (page * PAGE_BYTES, PAGE_BYTES));
    Workload::of_one_file(1000 * PAGE_BYTES, reads)
}

/// 1 ms and 1 µs for an I/O of one page.
const ONE_PAGE: f64 = 0.001_001;

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn without_readahead_every_page_is_waited_for() {
    let (figures, _) = run(&pages(0..10), &TimedCase::unbounded("none"), &rules(100_000));
    assert!(near(figures.wait_seconds, 10.0 * ONE_PAGE), "{figures:?}");
    assert!(near(figures.device_busy_seconds, 10.0 * ONE_PAGE));
    assert!(near(figures.seconds, 10.0 * (ONE_PAGE + 0.0001)));
    assert!(near(figures.queueing_seconds, 0.0));
    assert_eq!((figures.device_reads, figures.device_bytes), (10, 40_960));
    assert_eq!((figures.pages_demanded, figures.pages_ready, figures.amplification), (10, 0, 1.0));
}

#[test]
fn what_is_prefetched_while_the_reader_thinks_is_not_waited_for() {
    // The window of 4 pages at 0 takes 1.004 ms; all later ones come while 4 pages or more are
    // thought about, 1 ms each.
    let (figures, submitted) = run(&pages(0..28), &TimedCase::unbounded("ondemand"), &rules(MS));
    let begun: Vec<(Nanos, u64)> =
        submitted.iter().map(|(now, io)| (*now, io.bytes / PAGE_BYTES)).collect();
    assert_eq!(begun, [(0, 4), (2_004_000, 8), (5_004_000, 16), (13_004_000, 32)]);
    assert!(near(figures.wait_seconds, 0.001_004), "{figures:?}");
    assert!(near(figures.seconds, 0.001_004 + 0.028));
    let waits: Vec<(u64, u64)> = figures.waits.iter().map(|it| (it.at_most_ns, it.count)).collect();
    assert_eq!(waits, [(0, 27), (1_004_000, 1)], "the first access waits for all");
    assert_eq!((figures.pages_prefetched, figures.pages_used, figures.pages_late), (59, 27, 0));
    assert_eq!((figures.pages_unused_at_end, figures.pages_wasted), (32, 0));
    assert_eq!(
        figures.windows,
        [4, 8, 16, 32].map(|pages| SizeCount { pages, count: 1 }),
        "windows by size"
    );
}

#[test]
fn a_page_on_its_way_is_late_and_waited_for_once() {
    let (figures, _) = run(&pages(0..8), &TimedCase::unbounded("ondemand"), &rules(0));
    // At 1.004 ms the marker of page 1 asks for 4..12, which come 1.008 ms later.
    assert!(near(figures.wait_seconds, 0.001_004 + 0.001_008), "{figures:?}");
    assert_eq!((figures.pages_late, figures.pages_used), (1, 7));
}

#[test]
fn a_fetch_is_cut_and_each_part_fills_its_pages() {
    let workload = Workload::of_one_file(64 * PAGE_BYTES, [(0, 8 * PAGE_BYTES)]);
    let rules = Rules { io_bytes_max: 2 * PAGE_BYTES, ..rules(0) };
    let (figures, submitted) = run(&workload, &TimedCase::unbounded("none"), &rules);
    assert!(submitted.iter().all(|(now, io)| *now == 0 && io.bytes == 8192), "{submitted:?}");
    assert!(near(figures.seconds, 4.0 * 0.001_002));
    // The four wait 1, 2, 3 and 4 times 1.002 ms; the device is busy for 4 of these 10.
    assert!(near(figures.queueing_seconds, 6.0 * 0.001_002), "{figures:?}");
    assert_eq!(figures.ios, [SizeCount { pages: 2, count: 4 }]);
}

#[test]
fn readers_go_on_by_themselves_and_wait_for_one_fetch_together() {
    let access = TimedAccess { handle: 0, ask: Ask::Read, offset: 0, bytes: 4096, time_ns: 0 };
    let reader = |offset| Reader { accesses: vec![TimedAccess { offset, ..access }] };
    let readers = vec![reader(0), reader(0), reader(1 << 20)];
    let files = vec![FilePlace { offset: 1 << 30, bytes: 2 << 20 }];
    let phases = vec![Phase { handles: vec![0], readers }];
    let (figures, submitted) =
        run(&Workload { files, phases }, &TimedCase::unbounded("none"), &rules(0));
    let offsets: Vec<u64> = submitted.iter().map(|(_, io)| io.offset).collect();
    assert_eq!(offsets, [1 << 30, (1 << 30) + (1 << 20)]);
    assert!(near(figures.wait_seconds, 4.0 * ONE_PAGE), "{figures:?}");
    assert!(near(figures.seconds, 2.0 * ONE_PAGE));
    assert_eq!(figures.bytes_delivered, 3 * 4096);
}

#[test]
fn arrivals_wait_for_their_time_and_phases_for_each_other() {
    let access = |time_ns, page: u64| TimedAccess {
        handle: 0,
        ask: Ask::Read,
        offset: page * PAGE_BYTES,
        bytes: 4096,
        time_ns,
    };
    let phase = Phase {
        handles: vec![0],
        readers: vec![Reader { accesses: vec![access(5 * MS, 0), access(5 * MS, 1)] }],
    };
    let files = vec![FilePlace { offset: 0, bytes: 8192 }];
    let workload = Workload { files, phases: vec![phase.clone(), phase] };
    let rules = Rules { pacing: Pacing::Arrivals, ..rules(0) };
    let (figures, submitted) = run(&workload, &TimedCase::unbounded("none"), &rules);
    let times: Vec<Nanos> = submitted.iter().map(|(now, _)| *now).collect();
    assert_eq!(times, [5 * MS, 6_001_000]);
    assert!(near(figures.seconds, 0.005 + 2.0 * ONE_PAGE + 0.005), "the second finds both cached");
    assert_eq!((figures.pages_ready, figures.accesses), (2, 4));
}

#[test]
fn a_simulation_stops_at_its_time() {
    let rules = Rules { until_ns: 5 * MS, ..rules(0) };
    let (figures, _) = run(&pages(0..100), &TimedCase::unbounded("none"), &rules);
    assert_eq!((figures.accesses, figures.bytes_delivered), (4, 4 * 4096));
    assert!(near(figures.seconds, 5.0 * ONE_PAGE), "{figures:?}");
}

#[test]
fn a_dirty_page_that_is_evicted_is_written() {
    let mut workload = pages(0..5);
    workload.phases[0].readers[0].accesses[0].ask = Ask::Write;
    let case = TimedCase { capacity: Some(2 * PAGE_BYTES), ..TimedCase::unbounded("none") };
    let (figures, submitted) = run(&workload, &case, &rules(0));
    assert_eq!((figures.device_reads, figures.device_writes), (4, 1));
    let written: Vec<u64> =
        submitted.iter().filter(|(_, io)| io.write).map(|(_, io)| io.offset).collect();
    assert_eq!(written, [0]);
}

fn written(workload: &Workload, write_back: &str, capacity_pages: u64) -> (TimedFigures, Vec<Io>) {
    let capacity = Some(capacity_pages * PAGE_BYTES);
    let case = TimedCase { capacity, ..TimedCase::unbounded("none") };
    let rules = Rules { write_back: write_back.parse().unwrap(), ..rules(MS) };
    let (figures, submitted) = run(workload, &case, &rules);
    (figures, submitted.into_iter().map(|(_, io)| io).filter(|io| io.write).collect())
}

fn writes(numbers: impl IntoIterator<Item = u64>) -> Workload {
    let mut workload = pages(numbers);
    for access in &mut workload.phases[0].readers[0].accesses {
        access.ask = Ask::Write;
    }
    workload
}

#[test]
fn the_flusher_writes_what_is_old_in_one_piece_and_no_writer_waits() {
    // A page a millisecond; the flusher wakes every 10 ms.
    let (figures, ios) = written(&writes(0..30), "expire=5ms,wake=10ms", 100);
    assert_eq!(figures.held_up, 0);
    assert!(near(figures.wait_seconds, 0.0) && near(figures.seconds, 0.03), "{figures:?}");
    let ranges: Vec<(u64, u64)> =
        ios.iter().map(|io| (io.offset / PAGE_BYTES, io.bytes / PAGE_BYTES)).collect();
    // At 10 ms pages 0 to 5 are 5 ms old, at 20 ms those up to 15, at the end those up to 25.
    assert_eq!(ranges, [(0, 6), (6, 10), (16, 10)]);
    assert_eq!(figures.pages_dirty_at_end, 4);
}

#[test]
fn a_writer_above_the_limit_waits_for_the_device() {
    let (figures, ios) = written(&writes(0..30), "expire=10s,background=10%,limit=20%", 100);
    // Pages 20 and 26 are too many; each time six go, down to 15, which takes 1 ms and 6 µs.
    assert_eq!((figures.held_up, ios.len(), figures.pages_dirty_at_end), (2, 2, 18));
    assert!(near(figures.wait_seconds, 2.0 * 0.001_006), "{figures:?}");
}

#[test]
fn a_sync_waits_for_its_file_where_the_rule_has_syncs() {
    let mut workload = writes(0..3);
    let accesses = &mut workload.phases[0].readers[0].accesses;
    accesses.push(TimedAccess { ask: Ask::Sync, offset: 0, bytes: 0, ..accesses[0] });
    let (figures, ios) = written(&workload, "sync", 100);
    assert_eq!((ios.len(), figures.pages_dirty_at_end, figures.accesses), (1, 0, 4));
    assert!(near(figures.wait_seconds, 0.001_003), "{figures:?}");
    let (figures, ios) = written(&workload, "evict", 100);
    assert_eq!((ios.len(), figures.pages_dirty_at_end), (0, 3));
}

#[test]
fn write_back_that_has_no_meaning_in_time_is_refused() {
    for (rule, why) in [("expire=100", "in time"), ("shrink=50%@1s..2s", "does not shrink")] {
        let rules = Rules { write_back: rule.parse().unwrap(), ..rules(0) };
        let error = rules.check().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_window_larger_than_the_cache_thrashes_and_is_counted() {
    let case = |pages| TimedCase {
        capacity: Some(pages * PAGE_BYTES),
        options: Options { max_pages: 32, ..Options::default() },
        ..TimedCase::unbounded("linux")
    };
    // Ten streams, and room for 16 pages in all.
    let workload = patterns::interleaved(10, 64 * PAGE_BYTES, u64::MAX, 5);
    let (tight, _) = run(&workload, &case(16), &rules(0));
    assert!(tight.pages_evicted_unused > 100, "{tight:?}");
    let (wide, _) = run(&workload, &case(1000), &rules(0));
    assert_eq!(wide.pages_evicted_unused, 0);
    assert!(wide.seconds < tight.seconds);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refused = |case: TimedCase| check(&[case]).unwrap_err().to_string();
    let opt = TimedCase { policy: "opt".to_owned(), ..TimedCase::unbounded("none") };
    assert!(refused(opt).contains("use another policy with --device"));
    assert!(refused(TimedCase::unbounded("lynux")).contains("near it are linux"));
    let nothing = Workload::default();
    let figures =
        simulate(&nothing, &TimedCase::unbounded("none"), &rules(0), &mut Serial::default());
    assert_eq!((figures.as_ref().unwrap().seconds, figures.unwrap().bytes_per_second), (0.0, 0.0));
}

fn workloads() -> impl Strategy<Value = Workload> {
    let access = (0u32..3, any::<bool>(), 0u64..200, 1u64..9, 0u64..5000);
    let reader = prop::collection::vec(access, 0..40).prop_map(|accesses| {
        let access = |(handle, write, page, pages, time)| TimedAccess {
            handle,
            ask: match time % 6 {
                0 | 3 if write => Ask::Write,
                1 if write && time % 12 == 1 => Ask::Sync,
                _ => Ask::Read,
            },
            offset: page * PAGE_BYTES + time % 4096,
            bytes: if write && time % 12 == 1 { 0 } else { pages * PAGE_BYTES },
            time_ns: time * 1000,
        };
        Reader { accesses: accesses.into_iter().map(access).collect() }
    });
    prop::collection::vec(prop::collection::vec(reader, 0..4), 0..3).prop_map(|phases| Workload {
        files: (0..2).map(|file| FilePlace { offset: file << 30, bytes: 1 << 20 }).collect(),
        phases: phases
            .into_iter()
            .map(|readers| Phase { handles: vec![0, 1, 0], readers })
            .collect(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn every_page_has_one_end_and_every_byte_is_delivered(
        workload in workloads(),
        capacity in prop_oneof![Just(None), (2u64..300).prop_map(|pages| Some(pages * PAGE_BYTES))],
        policy in prop::sample::select(vec!["lru", "arc", "sieve", "2q", "s3-fifo"]),
        readahead in prop::sample::select(READAHEADS),
        max_pages in 1u32..40,
        think in 0u64..2000,
        arrivals in any::<bool>(),
        write_back in prop::sample::select(vec![
            "evict", "sync", "every=1ms,sync", "expire=2ms,wake=1ms", "dirty=20%",
            "background=10%,limit=20%,cluster=file", "linux,expire=3ms,wake=1ms",
        ]),
    ) {
        let case = TimedCase {
            policy: policy.to_owned(),
            capacity,
            readahead: readahead.name.to_owned(),
            options: Options { max_pages, ..Options::default() },
        };
        let pacing = if arrivals { Pacing::Arrivals } else { Pacing::Closed };
        let (figures, submitted) = run(&workload, &case, &Rules {
            pacing,
            write_back: write_back.parse().unwrap(),
            ..rules(think * 1000)
        });
        prop_assert_eq!(figures.accesses, workload.accesses());
        let accesses = || workload.phases.iter().flat_map(|phase| &phase.readers)
            .flat_map(|reader| &reader.accesses);
        let read: u64 = accesses().filter(|access| access.ask == Ask::Read).map(|access| access.bytes).sum();
        prop_assert_eq!(figures.bytes_delivered, read);
        prop_assert_eq!(
            figures.pages_prefetched,
            figures.pages_used + figures.pages_wasted + figures.pages_unused_at_end
        );
        prop_assert!(figures.pages_late <= figures.pages_used);
        prop_assert!(figures.device_busy_seconds <= figures.seconds + 1e-9);
        let bytes: u64 = submitted.iter().map(|(_, io)| io.bytes).sum();
        prop_assert_eq!(figures.device_bytes, bytes);
        let reads: u64 =
            submitted.iter().filter(|(_, io)| !io.write).map(|(_, io)| io.bytes).sum();
        prop_assert!(reads >= (figures.pages_fetched + figures.pages_prefetched) * PAGE_BYTES);
        prop_assert!(submitted.is_sorted_by_key(|(now, _)| *now));
    }
}
