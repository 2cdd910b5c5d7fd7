//! Requests that a program hands over by one call, and whose results come later: io_submit and
//! io_uring, by each method that sees them.

use crate::support::{Place, Recording, helper, method, skip, succeed};
use seekless_trace::Op;

/// What the summary calls results that no call has shown.
const UNSEEN: &str = "results of requests (their bytes are as asked)";

/// Records a mode of the helper; skips where it does not work.
macro_rules! requests {
    ($place:ident, $($word:expr),+) => {
        match requests(&$place, &[$($word),+]) {
            Some(recording) => recording,
            None => skip!("no C compiler, or a kernel without such requests"),
        }
    };
}

fn requests(place: &Place, words: &[&str]) -> Option<Recording> {
    let helper = helper("dynamic")?;
    if place.command(helper).args(words).status().unwrap().code() == Some(3) {
        return None;
    }
    std::fs::write(place.file(), vec![b'.'; 10_000]).unwrap();
    succeed(&mut place.recorder(&[&[helper.to_str().unwrap()], words].concat()));
    Some(place.recording())
}

/// Offset and bytes of one kind of access to the place's file, the smallest offset first.
fn sorted(recording: &Recording, place: &Place, op: Op) -> Vec<(i64, u64)> {
    let mut ranges = recording.ranges(&place.file(), op);
    ranges.sort_unstable();
    ranges
}

/// The method notify counts such calls.
fn is_only_counted(recording: &Recording, call: &str) -> bool {
    let spots = recording.trace.metadata().blind_spots();
    if method() == "notify" {
        assert!(spots[call] > 0, "{spots:?}");
        return true;
    }
    false
}

#[test]
fn those_of_io_submit_are_rows_with_their_results() {
    let place = Place::new();
    let recording = requests!(place, "submits", "file");
    if is_only_counted(&recording, "io_submit") {
        return;
    }
    let reads = [(0, 20), (100, 50), (200, 7), (300, 5), (9990, 10)];
    assert_eq!(sorted(&recording, &place, Op::Read), reads);
    assert_eq!(sorted(&recording, &place, Op::Write), [(400, 3)]);
    let syncs = recording.of(&place.file()).iter().filter(|row| row.op == Op::Sync).count();
    assert_eq!(syncs, 1);
    let rows = recording.of(&place.file());
    assert!(rows.iter().all(|row| row.error.is_none() && row.latency_ns.is_some()), "{rows:?}");
    let metadata = recording.trace.metadata();
    assert_eq!((metadata.lost, metadata.blind_spots().len()), (0, 0), "{metadata:?}");
}

#[test]
fn one_thread_may_submit_and_another_take_the_results() {
    let place = Place::new();
    let recording = requests!(place, "submits-apart", "file");
    if is_only_counted(&recording, "io_submit") {
        return;
    }
    let expected: Vec<(i64, u64)> = (0..50).map(|at| (100 * at, 10 + at as u64)).collect();
    assert_eq!(sorted(&recording, &place, Op::Read), expected);
    let metadata = recording.trace.metadata();
    assert_eq!((metadata.lost, metadata.blind_spots().len()), (0, 0), "{metadata:?}");
}

#[test]
fn results_that_no_call_shows_are_as_asked_and_counted() {
    let place = Place::new();
    let recording = requests!(place, "submits-unseen", "file");
    if is_only_counted(&recording, "io_submit") {
        return;
    }
    assert_eq!(sorted(&recording, &place, Op::Read), [(100, 50), (9990, 50)]);
    let reads = recording.of(&place.file()).into_iter().filter(|row| row.op == Op::Read);
    assert!(reads.into_iter().all(|row| row.latency_ns.is_none()));
    assert_eq!(recording.trace.metadata().blind_spots()[UNSEEN], 2);
}

#[test]
fn many_requests_of_one_call_are_all_seen_or_counted() {
    for count in ["300", "1000"] {
        let place = Place::new();
        let recording = requests!(place, "submits-many", "file", count);
        if is_only_counted(&recording, "io_submit") {
            return;
        }
        let seen = recording.count(&place.file(), Op::Read) as u64;
        let lost = recording.trace.metadata().lost;
        assert!(seen >= 300 && (lost > 0 || seen.to_string() == count), "{seen} seen, {lost} lost");
    }
}

#[test]
fn those_of_a_ring_are_rows() {
    for mode in ["ring-reads", "polled-ring-reads"] {
        let place = Place::new();
        let recording = requests!(place, mode, "file");
        let spots = recording.trace.metadata().blind_spots();
        if is_only_counted(&recording, "io_uring_setup") {
            continue;
        }
        if mode == "polled-ring-reads" && method() == "ptrace" || kernel() < (6, 3) {
            assert!(spots["io_uring_setup"] == 1, "{spots:?}");
            continue;
        }
        let file = place.file();
        let reads =
            [(100, 50), (200, 7), (0, 10), (10, 5), (9990, 10), (300, 8), (308, 8), (500, 9)];
        assert_eq!(recording.ranges(&file, Op::Read), reads, "{mode}");
        assert_eq!(recording.ranges(&file, Op::Write), [(400, 3)], "{mode}");
        assert_eq!(recording.count(&file, Op::Sync), 1, "{mode}");
        // By ebpf, the file of the ring's own table turns up again after the close of its
        // descriptor.
        let opens = recording.count(&file, Op::Open);
        assert_eq!(opens, if method() == "ptrace" { 2 } else { 3 }, "{mode}");
        let metadata = recording.trace.metadata();
        assert_eq!((metadata.lost, spots.len()), (0, 0), "{mode}: {spots:?}");
    }
}

#[test]
fn several_requests_of_a_ring_end_in_their_order() {
    let place = Place::new();
    let recording = requests!(place, "ring-batch", "file");
    if is_only_counted(&recording, "io_uring_setup") || kernel() < (6, 3) {
        return;
    }
    assert_eq!(sorted(&recording, &place, Op::Read), [(0, 10), (2000, 12), (3000, 13)]);
    let metadata = recording.trace.metadata();
    assert_eq!((metadata.lost, metadata.blind_spots().len()), (0, 0), "{metadata:?}");
}

/// Major and minor version.
fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap(), numbers.next().unwrap())
}
