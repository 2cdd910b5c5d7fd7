//! Merges traces, and reads the loads of traces with and without load rows.

use seekless_trace::*;
use std::path::{Path, PathBuf};

fn write(path: &Path, metadata: Metadata, rows: &[(&str, Access)]) -> PathBuf {
    let mut writer = Writer::create(path, metadata).unwrap();
    for (name, access) in rows {
        let file = writer.file(name);
        writer.push(Access { file, ..*access }).unwrap();
    }
    writer.finish().unwrap();
    path.to_owned()
}

fn row(run: u32, time_ns: u64, op: Op, bytes: u64) -> Access {
    Access { run, time_ns, bytes, ..Access::new(op, 0) }
}

#[test]
fn runs_are_renumbered_and_files_joined() {
    let folder = tempfile::tempdir().unwrap();
    let named = |source: &str| RunInfo { source: source.into(), ..RunInfo::default() };
    let one = Metadata { lost: 1, runs: vec![named("one"), named("empty")], ..Metadata::default() };
    let first = write(
        &folder.path().join("1.parquet"),
        one,
        &[("a", row(0, 5, Op::Read, 1)), ("b", row(0, 6, Op::Read, 2))],
    );
    let second = write(
        &folder.path().join("2.parquet"),
        Metadata { lost: 2, ..Metadata::default() },
        &[("b", row(0, 1, Op::Read, 3)), ("a", row(1, 0, Op::Read, 4))],
    );
    let out = folder.path().join("all.parquet");
    let summary = merge::merge(&[first, second], &out, &mut |_, _| {}).unwrap();
    assert_eq!((summary.rows, summary.files, summary.late), (4, 2, 0));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.metadata().lost, 3);
    let sources: Vec<&str> = trace.metadata().runs.iter().map(|run| run.source.as_str()).collect();
    assert_eq!(sources, ["one", "empty", "", ""]);
    let rows: Vec<_> = trace
        .accesses()
        .unwrap()
        .map(Result::unwrap)
        .map(|row| (row.run, row.file, row.bytes))
        .collect();
    assert_eq!(rows, [(0, 0, 1), (0, 1, 2), (2, 1, 3), (3, 0, 4)]);
}

#[test]
fn kinds_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(&folder.path().join("1.parquet"), Metadata::default(), &[]);
    let second = write(
        &folder.path().join("2.parquet"),
        Metadata { kind: Kind::Ids, ..Metadata::default() },
        &[],
    );
    let error =
        merge::merge(&[first, second], folder.path().join("out"), &mut |_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("2.parquet: is a trace of ids"), "{error}");
}

#[test]
fn load_rows_win_over_reads() {
    let folder = tempfile::tempdir().unwrap();
    let failed = Access { error: Some(5), ..row(0, 1, Op::Read, 0) };
    let sized = |access: Access, size| Access { file_bytes: Some(size), ..access };
    let trace = write(
        &folder.path().join("1.parquet"),
        Metadata { runs: vec![RunInfo::default(); 2], ..Metadata::default() },
        &[
            ("loaded", row(0, 1, Op::Open, 0)),
            ("loaded", sized(row(0, 2, Op::Read, 10), 10)),
            ("loaded", sized(row(0, 1, Op::Load, 10), 10)),
            ("loaded", sized(row(0, 9, Op::Load, 10), 10)),
            ("in part", failed),
            ("in part", sized(row(0, 3, Op::Read, 4), 99)),
            ("in part", sized(row(0, 4, Op::Read, 4), 99)),
            ("mapped", row(0, 2, Op::Map, 7)),
            ("missing", Access { error: Some(2), ..row(0, 2, Op::Open, 0) }),
        ],
    );
    let loads = Loads::read(&[trace.clone(), trace]).unwrap();
    let named = |run: &Vec<Load>| -> Vec<(String, u64, u64)> {
        run.iter()
            .map(|load| (loads.names[load.file as usize].clone(), load.bytes, load.time_ns))
            .collect()
    };
    let expected = [("loaded", 10, 1), ("mapped", 7, 2), ("in part", 99, 3), ("loaded", 10, 9)];
    let expected = expected.map(|(name, bytes, time)| (name.to_owned(), bytes, time));
    assert_eq!(loads.runs.iter().map(Vec::len).collect::<Vec<_>>(), [4, 0, 4, 0]);
    assert_eq!(named(&loads.runs[0]), expected);
    assert_eq!(loads.runs[0], loads.runs[2]);
    assert_eq!(loads.names.len(), loads.bytes.len());
}
