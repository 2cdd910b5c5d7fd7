//! The volume against a naive one that keeps exact fractions of a second and serves part by part.

use super::*;
use proptest::prelude::*;

/// Times as whole multiples of 1 / (iops × bandwidth) nanoseconds: no rounding until a completion is printed.
struct Naive {
    iops: u128,
    bandwidth: u128,
    requests_free: u128,
    bytes_free: u128,
}

impl Naive {
    fn new(iops: u64, bandwidth: u64) -> Self {
        Naive { iops: iops.into(), bandwidth: bandwidth.into(), requests_free: 0, bytes_free: 0 }
    }

    fn end(&mut self, now: Nanos, mut bytes: u64) -> Nanos {
        let scale = self.iops * self.bandwidth;
        // What was not used in the last tenth of a second is there.
        let from = u128::from(now.saturating_sub(100_000_000)) * scale;
        let mut end = u128::from(now) * scale;
        loop {
            let part = bytes.min(PART_BYTES);
            self.requests_free = self.requests_free.max(from) + 1_000_000_000 * self.bandwidth;
            self.bytes_free = self.bytes_free.max(from) + u128::from(part) * 1_000_000_000 * self.iops;
            end = self.requests_free.max(self.bytes_free).max(end);
            bytes -= part;
            if bytes == 0 {
                return Nanos::try_from(end.div_ceil(scale)).unwrap();
            }
        }
    }
}

fn io(tag: u64, bytes: u64) -> Io {
    Io { tag, write: false, offset: tag * 4096, bytes }
}

fn ends(volume: &mut Volume, until: Nanos) -> Vec<(Nanos, u64)> {
    let mut ends = Vec::new();
    volume.advance(until, &mut |end, io| ends.push((end, io.tag)));
    ends
}

#[test]
fn one_request_waits_for_the_slower_bucket() {
    let mut volume = Volume::new(500, 150_000_000);
    volume.submit(0, io(0, 4096));
    assert_eq!(ends(&mut volume, u64::MAX), [(2_000_000, 0)], "one of 500 requests a second");
    volume.submit(1_000_000_000, io(1, 30_000_000));
    assert_eq!(
        ends(&mut volume, u64::MAX),
        [(1_100_000_000, 1)],
        "30 MB at 150 MB/s are 200 ms, of which the pause has left 100"
    );
}

#[test]
fn a_reader_that_thinks_between_requests_gets_the_whole_rate() {
    let mut volume = Volume::new(500, 150_000_000);
    let mut now = 0;
    for tag in 0..1000 {
        now += 1_500_000;
        // Requests of 2 ms, every fifth of 6 ms by its bytes: 2.0 ms a request, 1.84 ms by bytes.
        volume.submit(now, io(tag, if tag % 5 == 0 { 900_000 } else { 120_000 }));
        now = volume.next_event().unwrap().max(now);
        volume.advance(now, &mut |_, _| ());
    }
    assert!((2_000_000_000..2_120_000_000).contains(&now), "{now}");
}

#[test]
fn a_large_request_counts_once_for_each_mebibyte() {
    let mut volume = Volume::new(100, u64::MAX);
    volume.submit(0, io(0, (3 << 20) + 1));
    assert_eq!(volume.next_event(), Some(40_000_000));
    assert_eq!((parts(0), parts(1), parts(1 << 20), parts((1 << 20) + 1)), (1, 1, 1, 2));
}

#[test]
fn the_buckets_are_shared_by_all_in_flight_and_do_not_wait_for_each_other() {
    let mut volume = Volume::new(10, 1_000_000);
    volume.submit(0, io(0, 1_000_000)); // bytes until 1.0 s, request until 0.1 s
    volume.submit(0, io(1, 0)); // request until 0.2 s: no bytes of its own, yet behind those before it
    volume.submit(0, io(2, 500_000));
    assert_eq!(volume.in_flight(), 3);
    assert!(ends(&mut volume, 999_999_999).is_empty());
    assert_eq!(
        ends(&mut volume, 1_500_000_000),
        [(1_000_000_000, 0), (1_000_000_000, 1), (1_500_000_000, 2)]
    );
}

#[test]
fn a_million_requests_in_a_queue_do_not_drift() {
    let mut volume = Volume::new(3, 1 << 40);
    let mut last = 0;
    for tag in 0..1_000_000 {
        volume.submit(0, io(tag, 1));
        volume.advance(0, &mut |_, _| ());
    }
    volume.advance(u64::MAX, &mut |end, _| last = end);
    assert_eq!(last, (1_000_000u64 * 1_000_000_000).div_ceil(3));
}

#[test]
fn costs_say_what_one_more_request_is_worth() {
    let costs = Volume::new(500, 150_000_000).costs();
    assert_eq!(costs.request_ns, 2_000_000);
    assert_eq!(costs.gap_bytes(), 300_000);
}

#[test]
fn absurd_sizes_and_rates_do_not_overflow() {
    let mut volume = Volume::new(0, 0);
    for tag in 0..4 {
        volume.submit(u64::MAX - 1, io(tag, u64::MAX));
    }
    assert_eq!(ends(&mut volume, u64::MAX).len(), 4);
}

proptest! {
    #[test]
    fn equals_the_naive_model(
        iops in 1u64..2_000_000,
        bandwidth in 1u64..10_000_000_000,
        ios in prop::collection::vec((prop_oneof![0u64..5_000_000, 0u64..300_000_000], prop_oneof![0u64..20_000, 0u64..6 << 20], any::<bool>()), 1..60),
    ) {
        let (mut volume, mut naive) = (Volume::new(iops, bandwidth), Naive::new(iops, bandwidth));
        let (mut now, mut expected, mut seen) = (0, Vec::new(), Vec::new());
        for (tag, (pause, bytes, wait)) in (0u64..).zip(ios) {
            // Either some time passes, or the caller waits for what it has sent.
            now = if wait { expected.last().map_or(now, |&(end, _)| now.max(end)) } else { now + pause };
            volume.advance(now, &mut |end, io| seen.push((end, io.tag)));
            volume.submit(now, io(tag, bytes));
            expected.push((naive.end(now, bytes), tag));
        }
        volume.advance(u64::MAX, &mut |end, io| seen.push((end, io.tag)));
        prop_assert_eq!(volume.next_event(), None);
        prop_assert_eq!(seen, expected);
    }
}
