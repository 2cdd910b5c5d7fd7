use super::*;

const US: Nanos = 1_000;

fn row(bytes: u64, microseconds: [u64; 3]) -> LatencyRow {
    LatencyRow { bytes, latency_ns: microseconds.map(|us| us * US).to_vec() }
}

fn table() -> LatencyTableParameters {
    LatencyTableParameters {
        depths: vec![1, 4, 16],
        reads: vec![
            row(4 << 10, [100, 120, 400]),
            row(64 << 10, [160, 400, 1600]),
            row(1 << 20, [1120, 4000, 16_000]),
        ],
        writes: vec![row(4 << 10, [20, 40, 80])],
    }
}

#[test]
fn known_points_are_exact_and_the_line_between_is_straight_over_logarithms() {
    let table = table();
    let read = |bytes, depth| table.latency_ns(false, bytes, depth) / US;
    assert_eq!([read(4096, 1), read(65_536, 4), read(1 << 20, 16)], [100, 400, 16_000]);
    // Half way in logarithms: 16 KiB of 4 to 64, a depth of 2 of 1 to 4, 8 of 4 to 16.
    assert_eq!([read(16 << 10, 1), read(4096, 2), read(4096, 8)], [130, 110, 260]);
    assert_eq!(read(16 << 10, 2), (130 + 260) / 2);
    // Within a power of two it is straight over bytes.
    assert_eq!(read(24 << 10, 1), 137, "130 to 145");
}

#[test]
fn beyond_the_table_latencies_grow_in_proportion() {
    let table = table();
    let read = |bytes, depth| table.latency_ns(false, bytes, depth) / US;
    assert_eq!([read(0, 1), read(1, 1)], [100, 100]);
    assert_eq!(read(2 << 20, 1), 2240);
    assert_eq!(read(4096, 32), 800);
    assert_eq!(table.latency_ns(true, 8192, 1) / US, 40);
}

#[test]
fn requests_in_flight_make_a_request_slower_until_they_end() {
    let mut device = LatencyTable::new(table()).unwrap();
    let io = |tag| Io { tag, write: false, offset: 0, bytes: 4096 };
    device.submit(0, io(0));
    device.submit(0, io(1));
    assert_eq!(device.next_event(), Some(100 * US));
    // The first has ended, but its completion has not been taken: two are in flight.
    device.submit(100 * US, io(2));
    let mut ends = Vec::new();
    device.advance(Nanos::MAX, &mut |end, io| ends.push((io.tag, end / US)));
    assert_eq!(ends, [(0, 100), (1, 110), (2, 210)]);
}

#[test]
fn costs_follow_from_the_table() {
    let costs = LatencyTable::new(table()).unwrap().costs();
    // 1020 µs more for 1,044,480 bytes more; 16 at once are a fifth faster than 4.
    assert_eq!(costs, Costs { request_ns: 100 * US, bytes_per_second: 1_024_000_000, depth: 16 });
}

#[test]
fn tables_that_make_no_sense_are_refused() {
    let bad = [
        LatencyTableParameters { depths: vec![], ..table() },
        LatencyTableParameters { depths: vec![0, 1, 2], ..table() },
        LatencyTableParameters { depths: vec![4, 1, 16], ..table() },
        LatencyTableParameters { depths: vec![1, 4], ..table() },
        LatencyTableParameters { reads: vec![], ..table() },
        LatencyTableParameters { reads: vec![row(1, [0, 1, 2])], ..table() },
        LatencyTableParameters { writes: vec![row(2, [1, 1, 2]), row(1, [1, 1, 2])], ..table() },
    ];
    for parameters in bad {
        assert!(LatencyTable::new(parameters.clone()).is_err(), "{parameters:?}");
    }
}
