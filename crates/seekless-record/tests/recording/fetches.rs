//! What comes into the page cache for the recorded program has rows of its own.

use crate::support::{FILE_BYTES, Place, Recording, helper, skip, succeed};
use seekless_trace::Op;
use std::fs::File;
use std::os::fd::AsFd;

/// Records a program that uses the file, which is not cached. `None` if that cannot be had.
/// Tests that empty the machine's caches wait meanwhile.
fn recorded(place: &Place, cached_by: Option<&str>, program: &[&str]) -> Option<Recording> {
    let _kept = seekless_sys::residency::keep_all_caches().unwrap();
    let file = File::open(place.file()).unwrap();
    file.sync_all().unwrap();
    seekless_sys::residency::drop_cached(file.as_fd()).unwrap();
    if seekless_sys::residency::resident_bytes(file.as_fd()).unwrap() != Some(0) {
        return None;
    }
    if let Some(other) = cached_by {
        assert!(place.command(other).arg("file").status().unwrap().success());
    }
    let mut recorder = place.command(crate::support::recorder());
    recorder.arg(place.output()).args(["--method", "ebpf", "--fetches"]).args(program);
    succeed(&mut recorder);
    Some(place.recording())
}

/// How much of the file came in, and that no part of it came twice.
fn fetched(recording: &Recording, place: &Place) -> u64 {
    let mut ranges = recording.ranges(&place.file(), Op::Fetch);
    ranges.sort_unstable();
    for two in ranges.windows(2) {
        assert!(two[0].0 as u64 + two[0].1 <= two[1].0 as u64, "{ranges:?}");
    }
    ranges.iter().map(|range| range.1).sum()
}

macro_rules! needs_fetches {
    () => {
        if let Err(why) = seekless_record::fetches_work() {
            skip!("what comes into the page cache is not reported: {why}");
        }
    };
}

#[test]
fn a_file_that_is_read_or_mapped_cold_comes_in_once() {
    needs_fetches!();
    let map = "import sys, mmap\nf = open('file', 'rb')\n\
               m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\nm[::4096]";
    for program in [&["cat", "file"][..], &["python3", "-c", map]] {
        let place = Place::new();
        let Some(recording) = recorded(&place, None, program) else {
            skip!("the file cannot be dropped from the cache");
        };
        assert_eq!(fetched(&recording, &place), FILE_BYTES, "{program:?}");
        assert_eq!(recording.trace.metadata().lost, 0);
    }
}

#[test]
fn what_another_program_has_brought_in_has_no_rows() {
    needs_fetches!();
    let place = Place::new();
    let Some(recording) = recorded(&place, Some("cat"), &["cat", "file"]) else {
        skip!("the file cannot be dropped from the cache");
    };
    assert!(recording.count(&place.file(), Op::Read) > 0);
    assert_eq!(fetched(&recording, &place), 0);
}

#[test]
fn what_a_program_writes_was_not_fetched() {
    needs_fetches!();
    let place = Place::new();
    let write = "head -c 1000000 /dev/zero > new; cat file";
    let Some(recording) = recorded(&place, None, &["sh", "-c", write]) else {
        skip!("the file cannot be dropped from the cache");
    };
    let new = place.file().with_file_name("new");
    assert!(recording.count(&new, Op::Write) > 0);
    assert_eq!(recording.ranges(&new, Op::Fetch), []);
    assert_eq!(fetched(&recording, &place), FILE_BYTES);
}

#[test]
fn requests_of_a_ring_bring_in_what_they_read() {
    needs_fetches!();
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    for mode in ["ring-reads", "polled-ring-reads"] {
        let place = Place::new();
        if place.command(helper).args([mode, "file"]).status().unwrap().code() == Some(3) {
            skip!("no io_uring here");
        }
        let program = [helper.to_str().unwrap(), mode, "file"];
        let Some(recording) = recorded(&place, None, &program) else {
            skip!("the file cannot be dropped from the cache");
        };
        assert!(fetched(&recording, &place) > 0, "{mode}");
    }
}
