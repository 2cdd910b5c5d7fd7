//! The figures of a trace that is small enough to sum up by hand.

use super::*;
use crate::scratch::scratch;
use crate::{Access, Op, Writer};

/// Run 0 reads parts of `a` twice, loads it, and fails to open `b`; run 1 loads `a` and `c` without
/// calls.
fn summary() -> TraceSummary {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| writer.file(name));
    let rows = [
        Access { time_ns: 5, ..Access::new(Op::Open, a) },
        Access { time_ns: 6, bytes: 60, ..Access::new(Op::Read, a) },
        Access {
            time_ns: 7,
            offset: 40,
            bytes: 60,
            latency_ns: Some(3),
            ..Access::new(Op::Read, a)
        },
        Access { time_ns: 7, bytes: 8, ..Access::new(Op::Write, a) },
        Access { time_ns: 5, bytes: 100, file_bytes: Some(100), ..Access::new(Op::Load, a) },
        Access { time_ns: 9, error: Some(2), ..Access::new(Op::Open, b) },
        Access { run: 1, bytes: 100, ..Access::new(Op::Load, a) },
        Access { run: 1, bytes: 30, ..Access::new(Op::Load, c) },
        Access { run: 1, bytes: 30, ..Access::new(Op::Load, c) },
    ];
    rows.into_iter().for_each(|row| writer.push(row).unwrap());
    writer.finish().unwrap();
    summarise(&Trace::open(&path).unwrap(), &mut |_, _| {}).unwrap()
}

#[test]
fn totals() {
    let all = summary();
    assert_eq!((all.accesses, all.names, all.files), (9, 3, 2));
    assert_eq!((all.read_bytes, all.written_bytes, all.unique_bytes), (120 + 160, 8, 130));
    assert_eq!(all.ops, BTreeMap::from([("load", 4), ("open", 2), ("read", 2), ("write", 1)]));
    assert_eq!(all.failed_opens, BTreeMap::from([(2, 1)]));
    assert_eq!((all.sizes.files, all.sizes.total, all.sizes.p25, all.sizes.max), (2, 130, 30, 100));
    let reuse = Reuse {
        loads: 4,
        repeated_in_run: 1,
        repeated: 2,
        files_in_every_run: 1,
        files_in_one_run: 1,
    };
    assert_eq!(all.reuse, reuse);
}

#[test]
fn runs() {
    let first = RunSummary {
        accesses: 6,
        loads: 1,
        opens: 1,
        failed_opens: 1,
        files: 1,
        files_only_here: 0,
        read_bytes: 120, // its load has calls
        unique_bytes: 100,
        written_bytes: 8,
        span_ns: 5,
    };
    let second = RunSummary {
        accesses: 3,
        loads: 3,
        files: 2,
        files_only_here: 1,
        read_bytes: 160,
        unique_bytes: 130,
        ..RunSummary::default()
    };
    assert_eq!(summary().runs, [first, second]);
}
