//! Traces made for the purpose, played on real files in a folder beside the source.

use super::*;
use seekless_trace::{Access, Kind, Metadata, Op, Writer};
use std::fs;

fn folder() -> tempfile::TempDir {
    // On a disk, where /tmp may be memory.
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

/// Op, file, offset, bytes, time.
type Row<'a> = (Op, &'a str, i64, u64, u64);

fn trace(folder: &Path, kind: Kind, rows: &[Row<'_>]) -> PathBuf {
    let path = folder.join("trace.parquet");
    let metadata = Metadata { kind, ..Metadata::default() };
    let _ = fs::remove_file(&path);
    let mut writer = Writer::create(path.as_path(), metadata).unwrap();
    for &(op, name, offset, bytes, time_ns) in rows {
        let file = writer.file(name);
        writer.push(Access { time_ns, offset, bytes, ..Access::new(op, file) }).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn target(folder: &Path, bytes: usize) -> PathBuf {
    let path = folder.join("target");
    fs::write(&path, vec![7; bytes]).unwrap();
    path
}

fn played(trace: &Path, options: &Options) -> Result<Report> {
    replay(trace, options, &mut |_, _, _| ())
}

const BLOCKS: [Row<'static>; 4] = [
    (Op::Read, "sda", 0, 4096, 0),
    (Op::Write, "sda", 8192, 4096, 1000),
    (Op::Read, "sda", -1, 512, 2000),
    (Op::Read, "sda", 4096, 512, 3000),
];

#[test]
fn a_block_trace_is_played_on_a_file_without_its_writes() {
    let folder = folder();
    let (trace, target) =
        (trace(folder.path(), Kind::Blocks, &BLOCKS), target(folder.path(), 65_536));
    let options = Options { on: On::Target(target.clone()), ..Options::default() };
    let report = played(&trace, &options).unwrap();
    assert_eq!((report.ios, report.changes.writes_left_out), (2, 1));
    assert_eq!((report.skipped.without_place, report.trace_ns), (1, 3000));
    assert_eq!(report.real.unwrap().reads, 2);
    assert!(fs::read(&target).unwrap().iter().all(|&byte| byte == 7), "nothing was written");
    let reads = Options { writes: Writes::AsReads, ..options };
    let report = played(&trace, &reads).unwrap();
    assert_eq!((report.real.unwrap().reads, report.changes.writes_as_reads), (3, 1));
    assert!(fs::read(&target).unwrap().iter().all(|&byte| byte == 7), "nothing was written");
}

#[test]
fn writes_go_to_a_file_of_its_own_or_to_one_that_is_made() {
    let folder = folder();
    let (trace, old) = (trace(folder.path(), Kind::Blocks, &BLOCKS), target(folder.path(), 65_536));
    let on = |path: &Path| Options {
        on: On::Write(path.to_owned()),
        writes: Writes::Written,
        pattern: Pattern::Ozen,
        ..Options::default()
    };
    let report = played(&trace, &on(&old)).unwrap();
    assert_eq!(report.real.unwrap().writes, 1);
    let bytes = fs::read(&old).unwrap();
    assert!(bytes[8192..12_288].iter().all(|&byte| byte == b'@'));
    assert!(bytes[..8192].iter().chain(&bytes[12_288..]).all(|&byte| byte == 7));
    let new = folder.path().join("new");
    let report = played(&trace, &on(&new)).unwrap();
    assert!(report.target.unwrap().made);
    assert_eq!(fs::metadata(&new).unwrap().len(), 12_288);
}

#[test]
fn writing_needs_a_target_that_was_named_for_it() {
    let folder = folder();
    let (trace, target) =
        (trace(folder.path(), Kind::Blocks, &BLOCKS), target(folder.path(), 65_536));
    let on = |on| Options { on, writes: Writes::Written, ..Options::default() };
    for refused in [On::Target(target.clone()), On::Files, On::Write(trace.clone())] {
        let before = fs::read(&trace).unwrap();
        assert_eq!(played(&trace, &on(refused)).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(fs::read(&trace).unwrap(), before);
    }
    assert!(fs::read(&target).unwrap().iter().all(|&byte| byte == 7));
}

#[test]
fn a_trace_of_files_is_played_on_them_where_they_have_moved() {
    let folder = folder();
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).unwrap();
    for name in ["a", "b"] {
        fs::write(tree.join(name), vec![1; 10_000]).unwrap();
    }
    let rows = [
        (Op::Open, "/old/a", 0, 0, 0),
        (Op::Read, "/old/a", 0, 10_000, 1),
        (Op::Load, "/old/a", 0, 10_000, 2),
        (Op::Load, "/old/b", 0, 10_000, 3),
        (Op::Read, "/old/gone", 0, 100, 4),
        (Op::Write, "/old/b", 0, 10, 5),
        (Op::Write, "/old/log", 0, 10, 6),
    ];
    let trace = trace(folder.path(), Kind::Files, &rows);
    let missing = played(&trace, &Options::default()).unwrap_err();
    assert!(missing.to_string().contains("/old/a") && missing.to_string().contains("--root"));
    let roots = Roots::new(vec![format!("/old={}", tree.display()).parse().unwrap()]);
    let report = played(&trace, &Options { roots: roots.clone(), ..Options::default() }).unwrap();
    assert_eq!((report.ios, report.target.unwrap().files), (2, 2), "a's load is its read");
    assert_eq!((report.skipped.files_missing, report.skipped.on_skipped_files), (1, 1));
    assert_eq!(report.changes.writes_left_out, 2);
    // On one target the files lie end to end.
    let on = On::Target(target(folder.path(), 65_536));
    let report =
        played(&trace, &Options { on, roots: roots.clone(), ..Options::default() }).unwrap();
    assert_eq!(report.ios, 3);
    // What would be written lies in the traced tree.
    let inside = tree.join("mine");
    fs::write(&inside, vec![7; 65_536]).unwrap();
    let on = On::Write(inside.clone());
    let options = Options { on, roots, writes: Writes::Written, ..Options::default() };
    let refused = played(&trace, &options).unwrap_err().to_string();
    assert!(refused.contains("from which the trace reads"), "{refused}");
    assert!(fs::read(inside).unwrap().iter().all(|&byte| byte == 7));
}

#[test]
fn a_model_stands_beside_the_device_or_alone() {
    let folder = folder();
    let (trace, target) =
        (trace(folder.path(), Kind::Blocks, &BLOCKS), target(folder.path(), 65_536));
    let device: DeviceSpec = "iops=10,bandwidth=1MB/s,latency=2s".parse().unwrap();
    let on = On::Target(target);
    let beside = Options { on, device: Some(device.clone()), ..Options::default() };
    let report = played(&trace, &beside).unwrap();
    let (model, error) = (report.model.unwrap(), report.model_error.unwrap());
    assert!(model.time.median_ns >= 2_000_000_000 && error.time > 1.0, "{error:?}");
    let alone = Options { on: On::Model, writes: Writes::Written, ..beside };
    let report = played(&trace, &alone).unwrap();
    assert!(report.real.is_none() && report.model.unwrap().writes == 1);
    let neither = Options { on: On::Model, ..Options::default() };
    assert!(played(&trace, &neither).unwrap_err().to_string().contains("--device"));
}

#[test]
fn what_cannot_be_played_is_an_error_that_says_what_to_do() {
    let folder = folder();
    let on = Options { on: On::Target(target(folder.path(), 65_536)), ..Options::default() };
    let said = |kind, rows: &[Row<'_>], options: &Options| {
        played(&trace(folder.path(), kind, rows), options).unwrap_err().to_string()
    };
    assert!(said(Kind::Ids, &[(Op::Read, "1", 0, 1, 0)], &on).contains("bare ids"));
    assert!(said(Kind::Blocks, &BLOCKS, &Options::default()).contains("--on"));
    let writes = [(Op::Write, "sda", 0, 4096, 0)];
    assert!(said(Kind::Blocks, &writes, &on).contains("--writes-as-reads"));
    assert!(said(Kind::Blocks, &[], &on).contains("nothing to play"));
    let far = [(Op::Read, "sda", 1 << 30, 4096, 0)];
    assert!(said(Kind::Blocks, &far, &on).contains("--remap modulo"));
    let folded = Options { remap: Some(Remap::Modulo), ..on };
    let report = played(&trace(folder.path(), Kind::Blocks, &far), &folded).unwrap();
    assert_eq!(report.changes.remapped, 1);
}

#[test]
fn the_caller_may_stop_it() {
    let folder = folder();
    let rows = [(Op::Read, "sda", 0, 4096, 0), (Op::Read, "sda", 0, 4096, 3_600_000_000_000)];
    let trace = trace(folder.path(), Kind::Blocks, &rows);
    let options = Options {
        on: On::Target(target(folder.path(), 65_536)),
        pace: Pace::Timed { speed: 1.0 },
        ..Options::default()
    };
    options.cancel.store(true, Ordering::Relaxed);
    assert_eq!(played(&trace, &options).unwrap_err().kind(), ErrorKind::Interrupted);
}
