//! A trace that was written before there were checksums can still be read.

use crate::support::rows;
use seekless_trace::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ROWS: u64 = 60;
/// The kinds of accesses that there were then.
const OPS: usize = 11;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The rows in the fixtures: each kind of access, with and without the fields that may be unknown.
fn row(number: u64) -> (Access, String) {
    let access = Access {
        run: number as u32 / 40,
        time_ns: number * 1_000_003,
        pid: 7,
        tid: 8 + number as u32 % 2,
        offset: number as i64 % 5 * 4096,
        bytes: number * 3,
        latency_ns: number.is_multiple_of(2).then_some(number * number),
        error: number.is_multiple_of(9).then_some(2),
        file_bytes: number.is_multiple_of(3).then_some(1 << 40),
        device: Some(2049),
        inode: number.is_multiple_of(4).then_some(number),
        ..Access::new(Op::ALL[number as usize % OPS], 0)
    };
    (access, format!("art/{} wall\u{e9}.dds", number % 7))
}

fn metadata() -> Metadata {
    let blind_spots = BTreeMap::from([("io_uring".to_owned(), 3)]);
    let run = RunInfo {
        command: vec!["make".to_owned(), "-j2".to_owned()],
        blind_spots,
        ..RunInfo::default()
    };
    Metadata {
        page_bytes: 512,
        lost: 4,
        runs: vec![run, RunInfo::default()],
        ..Metadata::default()
    }
}

#[test]
fn an_old_trace_is_read() {
    let old = fixture("before-checksums.parquet");
    assert_eq!(rows(&old), (0..ROWS).map(row).collect::<Vec<_>>());
    assert_eq!(Trace::open(&old).unwrap().metadata(), &metadata());
}
