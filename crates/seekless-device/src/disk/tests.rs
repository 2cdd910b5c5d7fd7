//! The disk against times computed by hand, and against the one that was fitted to Wu, Xi and Xu's
//! measurements.

use super::*;
use crate::preset;

const MS: Nanos = 1_000_000;
const US: Nanos = 1_000;

/// A revolution in 10 ms, a byte in 10 ns.
fn plain() -> DiskParameters {
    DiskParameters {
        capacity_bytes: 1_000_000_000,
        rpm: 6000,
        heads: 2,
        track_skew_ns: 0,
        cylinder_skew_ns: 0,
        head_switch_ns: 500 * US,
        cylinder_switch_ns: MS,
        overhead_ns: 200 * US,
        command_bytes: 1 << 30,
        bus_bytes_per_second: None,
        queue: Discipline::Fifo,
        depth: 32,
        seek: Seek {
            settle_ns: MS,
            base_ns: 100 * US,
            root_ns: 100 * US,
            long: Some(LongSeek { from_cylinders: 100, base_ns: 1500 * US, cylinder_ns: 10 * US }),
        },
        cache: SegmentCache { segments: 2, segment_bytes: 100_000, read_on: false },
        zones: vec![DiskZone { from_byte: 0, track_bytes: 1_000_000 }],
    }
}

fn reading_on() -> Disk {
    let mut parameters = plain();
    parameters.cache.read_on = true;
    Disk::new(parameters).unwrap()
}

fn io(tag: u64, offset: u64, bytes: u64) -> Io {
    Io { tag, write: false, offset, bytes }
}

/// When a read of an idle disk at `now` ends.
fn read(disk: &mut Disk, now: Nanos, offset: u64, bytes: u64) -> Nanos {
    disk.submit(now, io(0, offset, bytes));
    let mut ended = None;
    disk.advance(Nanos::MAX, &mut |end, _| ended = Some(end));
    ended.unwrap()
}

fn first(parameters: DiskParameters, offset: u64, bytes: u64) -> Nanos {
    read(&mut Disk::new(parameters).unwrap(), 0, offset, bytes)
}

/// Completions of commands that are all there at time 0.
fn order(queue: Discipline, offsets: &[u64]) -> Vec<u64> {
    let mut disk = Disk::new(DiskParameters { queue, ..plain() }).unwrap();
    (0..).zip(offsets).for_each(|(tag, &offset)| disk.submit(0, io(tag, offset, 1000)));
    let mut tags = Vec::new();
    disk.advance(Nanos::MAX, &mut |_, io| tags.push(io.tag));
    tags
}

#[test]
fn a_command_takes_overhead_seek_rotation_and_transfer() {
    // Byte 0 passed 0.2 ms before the command was ready: it comes again at 10 ms.
    assert_eq!(first(plain(), 0, 1000), 10 * MS + 10 * US);
    // Half a revolution on.
    assert_eq!(first(plain(), 500_000, 1000), 5 * MS + 10 * US);
    // Cylinder 4: 0.2 + 1 + 0.1 + 0.1 × √4 = 1.5 ms.
    assert_eq!(first(plain(), 8_150_000, 1000), 1500 * US + 10 * US);
    assert_eq!(first(plain(), 8_149_999, 1000), 11_499_990 + 10 * US);
    // Cylinder 100 is far: 0.2 + 1 + 1.5 + 100 × 0.01 = 3.7 ms.
    assert_eq!(first(plain(), 200_370_000, 1000), 3700 * US + 10 * US);
    // The other head: 0.2 + 0.5 ms.
    assert_eq!(first(plain(), 1_070_000, 1000), 700 * US + 10 * US);
    assert_eq!(first(plain(), 12_345, 0), 200 * US, "a command without bytes");
}

#[test]
fn a_transfer_over_tracks_pays_their_skew_or_a_revolution() {
    let skewed = DiskParameters { track_skew_ns: MS, cylinder_skew_ns: 2 * MS, ..plain() };
    // Two and a half tracks: one change of head, one of cylinder.
    assert_eq!(first(skewed.clone(), 0, 2_500_000), (10 + 25 + 1 + 2) * MS);
    // Track 1 begins 1 ms later, track 2 the skew of both later, and so does a command there.
    assert_eq!(first(skewed.clone(), 1_000_000, 1000), MS + 10 * US);
    assert_eq!(first(skewed.clone(), 2_000_000, 1000), 3 * MS + 10 * US);
    // A skew that is too short for the switch costs a revolution more.
    let short = DiskParameters { track_skew_ns: 400 * US, ..skewed };
    assert_eq!(first(short, 0, 1_500_000), (10 + 15 + 10) * MS + 400 * US);
}

#[test]
fn outer_zones_are_faster() {
    let zone = |from_byte, track_bytes| DiskZone { from_byte, track_bytes };
    let zones = vec![zone(0, 1_000_000), zone(4_000_000, 500_000)];
    let parameters = DiskParameters { zones, cylinder_switch_ns: 0, ..plain() };
    let mut disk = Disk::new(parameters).unwrap();
    let start = read(&mut disk, 0, 3_000_000, 500_000);
    let middle = read(&mut disk, start, 3_500_000, 1_000_000);
    // 5 ms for half a track in the first zone, 10 ms for a track in the second.
    assert_eq!(middle - start, 10 * MS + 15 * MS, "after a lost revolution");
}

#[test]
fn without_reading_on_the_next_byte_is_missed_by_the_overhead() {
    let mut disk = Disk::new(plain()).unwrap();
    let mut now = read(&mut disk, 0, 0, 100_000);
    for command in 1..1000 {
        let end = read(&mut disk, now, command * 100_000, 100_000);
        assert_eq!(end - now, 11 * MS, "command {command}: a revolution and its transfer");
        now = end;
    }
}

#[test]
fn a_disk_that_reads_on_goes_on_at_its_full_rate() {
    let mut disk = reading_on();
    let mut now = read(&mut disk, 0, 0, 100_000);
    for command in 1..10 {
        let end = read(&mut disk, now, command * 100_000, 100_000);
        assert_eq!(end - now, MS, "command {command}");
        now = end;
    }
}

#[test]
fn what_was_read_on_comes_without_the_head() {
    let mut disk = reading_on();
    assert_eq!(read(&mut disk, 0, 0, 1000), 10 * MS + 10 * US);
    assert_eq!(read(&mut disk, 10_500 * US, 1000, 40_000), 10_700 * US, "read by 10.41 ms");
    // Asked for at 10.7 ms, byte 101,000 is read at 11.01 ms.
    assert_eq!(read(&mut disk, 10_700 * US, 41_000, 60_000), 11_010 * US);
}

#[test]
fn the_disk_stops_when_its_segment_is_full_and_must_wait_for_the_next_byte() {
    let mut disk = reading_on();
    read(&mut disk, 0, 0, 1000);
    // It stopped at byte 101,000, at 11.01 ms. That byte comes again at 21.01 ms.
    assert_eq!(read(&mut disk, 15 * MS, 1000, 200_000), 22_010 * US);
}

#[test]
fn an_answer_from_another_segment_does_not_stop_the_reading_on() {
    let mut disk = reading_on();
    read(&mut disk, 0, 0, 1000);
    assert_eq!(read(&mut disk, 20 * MS, 500_000, 1000), 25_010 * US);
    assert_eq!(read(&mut disk, 25_050 * US, 1000, 1000), 25_250 * US, "from the first segment");
    assert_eq!(read(&mut disk, 26_500 * US, 501_000, 100_000), 26_700 * US, "all read on by now");
}

#[test]
fn the_oldest_segment_goes_and_a_write_drops_what_it_changes() {
    let mut disk = reading_on();
    let hit = |disk: &mut Disk, now, offset| read(disk, now, offset, 1000) - now == 200 * US;
    for (number, offset) in [0, 500_000, 700_000].into_iter().enumerate() {
        read(&mut disk, 100 * MS * number as u64, offset, 2000);
    }
    assert!(!hit(&mut disk, 400 * MS, 0), "the third took the place of the first");
    // The bytes that were asked for have made room for those behind them.
    assert!(hit(&mut disk, 500 * MS, 702_000));
    disk.submit(600 * MS, Io { tag: 0, write: true, offset: 750_000, bytes: 10 });
    disk.advance(650 * MS, &mut |_, _| ());
    assert!(!hit(&mut disk, 700 * MS, 703_000));
}

#[test]
fn the_bus_limits_what_comes_from_the_cache() {
    let parameters = DiskParameters { bus_bytes_per_second: Some(10_000_000), ..plain() };
    let mut disk = Disk::new(parameters).unwrap();
    let end = read(&mut disk, 0, 0, 10_000);
    assert_eq!(end, 10 * MS + 100 * US, "the transfer over the bus began before the head's");
    assert_eq!(read(&mut disk, end, 0, 10_000) - end, 1200 * US);
}

#[test]
fn an_io_over_the_largest_command_is_several() {
    let parameters = DiskParameters { command_bytes: 100_000, ..plain() };
    assert_eq!(first(parameters, 0, 300_000), 10 * MS + 3 * MS + 2 * 10 * MS);
}

#[test]
fn each_queue_chooses_by_its_rule() {
    // The first begins at once and ends on cylinder 5. Those that wait: far, near but just passed,
    // before the head, and as far as the second but under the head sooner.
    let offsets = [10_000_000, 400_000_000, 10_002_000, 2_000_000, 10_250_000];
    assert_eq!(order(Discipline::Fifo, &offsets), [0, 1, 2, 3, 4]);
    assert_eq!(order(Discipline::Elevator, &offsets), [0, 2, 4, 1, 3]);
    assert_eq!(order(Discipline::ShortestPositioning, &offsets)[..2], [0, 4]);
}

#[test]
fn a_queue_begins_its_next_command_when_the_last_ends() {
    let mut disk = Disk::new(plain()).unwrap();
    disk.submit(0, io(0, 0, 1000));
    disk.submit(0, io(1, 500_000, 1000));
    assert_eq!(disk.next_event(), Some(10_010 * US));
    // The disk was not advanced to 10.01 ms, and yet the second command began then.
    disk.submit(30 * MS, io(2, 100_000, 1000));
    let mut ends = Vec::new();
    disk.advance(Nanos::MAX, &mut |end, io| ends.push((io.tag, end)));
    assert_eq!(ends, [(0, 10_010 * US), (1, 15_010 * US), (2, 31_010 * US)]);
    assert_eq!(disk.next_event(), None);
}

#[test]
fn numbers_that_no_disk_has_are_refused() {
    let zone = |from_byte, track_bytes| DiskZone { from_byte, track_bytes };
    let bad = [
        DiskParameters { rpm: 0, ..plain() },
        DiskParameters { heads: 0, ..plain() },
        DiskParameters { command_bytes: 0, ..plain() },
        DiskParameters { zones: vec![], ..plain() },
        DiskParameters { zones: vec![zone(0, 0)], ..plain() },
        DiskParameters { zones: vec![zone(0, u64::MAX)], ..plain() },
        DiskParameters { zones: vec![zone(7, 1)], ..plain() },
        DiskParameters { zones: vec![zone(0, 1), zone(0, 1)], ..plain() },
    ];
    for parameters in bad {
        assert!(Disk::new(parameters.clone()).is_err(), "{parameters:?}");
    }
}

#[test]
fn absurd_offsets_and_times_do_not_overflow() {
    let mut disk = reading_on();
    disk.submit(u64::MAX - 5, io(0, u64::MAX - 3, u64::MAX));
    disk.submit(u64::MAX - 4, io(1, 0, u64::MAX));
    disk.submit(u64::MAX - 3, io(2, 5_000_000_000, 1 << 40));
    let mut ended = 0;
    disk.advance(u64::MAX, &mut |_, _| ended += 1);
    assert_eq!(ended, 3);
}

/// The rate of one stream that asks for 1 MiB at a time, in commands of 512 KiB, and for the next
/// when the first command of the last has ended.
fn one_stream(parameters: DiskParameters) -> f64 {
    let mut disk = Disk::new(parameters).unwrap();
    let (mut now, mut next, mut in_flight) = (0, 0, 0);
    const TOTAL: u64 = 100 << 20;
    while next < TOTAL || in_flight > 0 {
        if next < TOTAL && in_flight < 2 {
            (0..2).for_each(|half| disk.submit(now, io(0, next + (half << 19), 1 << 19)));
            (next, in_flight) = (next + (1 << 20), in_flight + 2);
        }
        let event = disk.next_event().unwrap();
        disk.advance(event, &mut |end, _| (now, in_flight) = (end, in_flight - 1));
    }
    TOTAL as f64 / (now as f64 / 1e9) / 1e6
}

#[test]
fn one_stream_gets_what_wu_measured() {
    // Wu, Xi and Xu 2010, Fig. 11: 28.32 MB/s without the disk's readahead, 51.38 with it.
    let off = one_stream(preset::wu_2010());
    assert!((27.5..=28.5).contains(&off), "{off}");
    let on = one_stream(preset::wu_2010_cached());
    assert!((50.5..=52.0).contains(&on), "{on}");
}

#[test]
fn costs_are_those_of_a_request_to_a_random_place() {
    let costs = Disk::new(preset::wu_2010()).unwrap().costs();
    // 0.24 ms, 0.89 ms + 89 µs × √(a third of 7,921 cylinders), half of 8.33 ms.
    assert!((9_800_000..9_950_000).contains(&costs.request_ns), "{costs:?}");
    assert!((50_400_000..=50_500_000).contains(&costs.bytes_per_second), "{costs:?}");
}
