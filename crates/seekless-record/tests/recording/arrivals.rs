//! A recording where perf events are refused, as in many containers: what is touched of mapped
//! files is reported by what came into the page cache.

use crate::support::{METHOD, Place, program, recorder, skip, succeed};
use seekless_trace::Op;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

const BYTES: usize = 64 << 20;
const TOUCHED: i64 = 40 << 20;

/// Maps the file and touches one byte.
const SCRIPT: &str = "import sys, mmap\nf = open(sys.argv[1], 'rb')\n\
                      m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\nm[40 << 20]";

#[test]
fn parts_of_mapped_files_are_reported_without_perf_events() {
    if std::env::var_os(METHOD).is_some() {
        skip!("files are looked at while a program stops");
    }
    let Some(refuse) = program("refuse_perf", &[]) else { skip!("no C compiler") };
    let place = Place::new();
    let large = place.root.join("large");
    let mut file = File::create(&large).unwrap();
    file.write_all(&vec![7; BYTES]).unwrap();
    file.sync_all().unwrap();
    seekless_sys::residency::drop_cached(file.as_fd()).unwrap();
    if seekless_sys::residency::resident_bytes(file.as_fd()).unwrap() != Some(0) {
        skip!("the file cannot be dropped from the cache, or is not reported");
    }
    let mut command = place.command(refuse);
    command.arg(recorder()).arg(place.output()).args(["--method", "ptrace", "python3", "-c"]);
    match command.arg(SCRIPT).arg(&large).output() {
        Ok(output) if output.status.success() => {}
        other => skip!("no python3, or no tracing: {other:?}"),
    }
    let recording = place.recording();
    let source = &recording.trace.metadata().runs[0].source;
    assert!(source.contains("by what came into the page cache"), "{source}");
    let faults = recording.ranges(&large, Op::Fault);
    let touched =
        |(offset, bytes): &(i64, u64)| (*offset..offset + *bytes as i64).contains(&TOUCHED);
    assert!(faults.iter().any(touched), "{faults:?}");
    let all: u64 = faults.iter().map(|(_, bytes)| bytes).sum();
    assert!(all < BYTES as u64, "read ahead too, but not all: {faults:?}");

    // Now the file is cached, and no touch of it can be seen. Tests that run as root empty all
    // caches.
    let _kept = seekless_sys::residency::keep_all_caches().ok();
    std::fs::read(&large).unwrap();
    std::fs::remove_file(place.output()).unwrap();
    let mut command = place.command(refuse);
    command.arg(recorder()).arg(place.output()).args(["--method", "ptrace", "python3", "-c"]);
    succeed(command.arg(SCRIPT).arg(&large));
    assert_eq!(place.recording().ranges(&large, Op::Fault), []);
}
