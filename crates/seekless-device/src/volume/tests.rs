//! The volume against what a throttled disk took, and against the rules that a limit must keep.

use super::*;
use proptest::prelude::*;

const MS: Nanos = 1_000_000;

fn io(tag: u64, bytes: u64) -> Io {
    Io { tag, write: false, offset: tag * 4096, bytes }
}

fn ends(volume: &mut Volume, until: Nanos) -> Vec<(Nanos, u64)> {
    let mut ends = Vec::new();
    volume.advance(until, &mut |end, io| ends.push((end, io.tag)));
    ends
}

/// The time of reads of these sizes, each after the one before has ended.
fn one_by_one(volume: &mut Volume, start: Nanos, sizes: impl IntoIterator<Item = u64>) -> Nanos {
    let mut now = start;
    for (tag, bytes) in (0..).zip(sizes) {
        volume.submit(now, io(tag, bytes));
        volume.advance(Nanos::MAX, &mut |end, _| now = now.max(end));
    }
    now - start
}

#[test]
fn reads_take_as_long_as_behind_a_throttle() {
    // Linux 6.18, blkio of version 1, 500 requests and 150 MB a second, direct reads at random
    // places.
    let measured_ms = [
        (320, 4096, 605),
        (500, 4096, 911),
        (400, 256 << 10, 726),
        (400, 512 << 10, 1345),
        (100, 2 << 20, 1344),
    ];
    for (count, bytes, measured) in measured_ms {
        let mut volume = Volume::new(500, 150_000_000);
        let took = one_by_one(&mut volume, 0, std::iter::repeat_n(bytes, count)) / MS;
        let apart = took.abs_diff(measured) as f64 / measured as f64;
        assert!(apart < 0.04, "{count} reads of {bytes}: {took} ms, measured {measured}");
    }
}

#[test]
fn what_a_slice_allows_may_be_used_at_its_start() {
    let mut volume = Volume::new(500, 150_000_000);
    (0..120).for_each(|tag| volume.submit(7 * MS, io(tag, 0)));
    let slices: Vec<Nanos> =
        ends(&mut volume, u64::MAX).into_iter().map(|(end, _)| end / MS).collect();
    assert_eq!(slices, [vec![7; 50], vec![107; 50], vec![207; 20]].concat());
}

#[test]
fn a_large_request_is_cut_as_linux_cuts_it() {
    let mut volume = Volume::new(10, u64::MAX);
    volume.submit(0, io(0, (3 << 20) + 1));
    assert_eq!(volume.next_event(), Some(600 * MS), "one a slice, the first at once");
    assert_eq!((parts(0), parts(1)), (1, 1));
    // Of forty direct reads into fresh memory each, on a virtio disk of 254 segments, blk-throttle
    // counted this many requests for nearly all.
    let counted = [(1000, 1), (1016, 1), (1020, 2), (1024, 2), (1300, 3), (2048, 4), (4096, 8)];
    for (kib, requests) in counted {
        assert_eq!(parts(kib << 10), requests, "{kib} KiB");
    }
}

#[test]
fn the_limits_are_shared_by_all_in_flight_and_do_not_wait_for_each_other() {
    let mut volume = Volume::new(10, 1_000_000);
    volume.submit(0, io(0, 1_000_000)); // bytes until 1.0 s, its request at once
    volume.submit(0, io(1, 0)); // no bytes of its own, yet behind those before it
    volume.submit(0, io(2, 500_000));
    assert_eq!(volume.in_flight(), 3);
    assert!(ends(&mut volume, 999_999_999).is_empty());
    assert_eq!(ends(&mut volume, 1500 * MS), [(1000 * MS, 0), (1000 * MS, 1), (1500 * MS, 2)]);
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
    let exact = (1_000_000u64 * 1_000_000_000).div_ceil(3);
    assert!((exact - 2 * 100 * MS..=exact).contains(&last), "{last}");
}

#[test]
fn a_pause_brings_one_slice_and_no_more() {
    let mut volume = Volume::new(500, u64::MAX);
    assert_eq!(one_by_one(&mut volume, 0, [0; 100]), 100 * MS);
    assert_eq!(one_by_one(&mut volume, 60_000 * MS, [0; 150]), 200 * MS);
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
    fn ends_come_in_order_and_keep_both_limits(
        iops in 10u64..2_000_000,
        bandwidth in 1_000u64..10_000_000_000,
        ios in prop::collection::vec((prop_oneof![0u64..5_000_000, 0u64..300_000_000], prop_oneof![0u64..20_000, 0u64..6 << 20], any::<bool>()), 1..60),
    ) {
        let mut volume = Volume::new(iops, bandwidth);
        let (mut now, mut served) = (0, Vec::<(Nanos, u64)>::new());
        for (tag, (pause, bytes, wait)) in (0u64..).zip(ios) {
            // Either some time passes, or the caller waits for what it has sent.
            now = if wait { served.last().map_or(now, |&(end, _)| now.max(end)) } else { now + pause };
            volume.submit(now, io(tag, bytes));
            let end = volume.in_flight.back().map(|&(end, _)| end).unwrap();
            prop_assert!(end >= now && served.last().is_none_or(|&(last, _)| end >= last));
            served.push((end, bytes));
        }
        // In no stretch of time more than the rate and three slices of it.
        for (first, &(from, _)) in served.iter().enumerate() {
            let (mut requests, mut sum) = (0, 0);
            for &(to, bytes) in &served[first..] {
                requests += parts(bytes);
                sum += bytes;
                let seconds = (to - from + 3 * 100 * MS) as f64 / 1e9;
                prop_assert!(requests - parts(served[first].1) <= (seconds * iops as f64) as u64 + 1);
                prop_assert!(sum - served[first].1 <= (seconds * bandwidth as f64) as u64 + 1);
            }
        }
    }
}
