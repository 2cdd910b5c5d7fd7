//! Mapped traces of files that the tests make.

use super::*;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

/// A file on the disk of this crate with data, a hole, and data again.
fn with_a_hole(folder: &Path) -> PathBuf {
    let path = folder.join("data");
    let file = File::create(&path).unwrap();
    file.write_all_at(&[1; 8192], 0).unwrap();
    file.write_all_at(&[2; 4096], 65_536).unwrap();
    file.sync_all().unwrap();
    path
}

fn traced(folder: &Path, rows: &[(&Path, Op, i64, u64)]) -> PathBuf {
    let path = folder.join(format!("{}.parquet", rows.len()));
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    for (time_ns, &(name, op, offset, bytes)) in (0..).zip(rows) {
        let file = writer.file(name.to_str().unwrap());
        let about = name.metadata().ok();
        let device = about.as_ref().map(MetadataExt::dev);
        let inode = about.as_ref().map(MetadataExt::ino);
        let row = Access { time_ns, offset, bytes, device, inode, ..Access::new(op, file) };
        writer.push(row).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn rows(path: &Path) -> Vec<(Op, i64, u64)> {
    let trace = Trace::open(path).unwrap();
    assert_eq!(
        (trace.metadata().kind, trace.metadata().view),
        (Kind::Blocks, Some(View::PreCache))
    );
    let rows = trace.accesses().unwrap();
    rows.map(|row| row.unwrap()).map(|row| (row.op, row.offset, row.bytes)).collect()
}

/// Where a byte of a file lies on its disk; `None` where that cannot be known here.
fn place(path: &Path, byte: u64) -> Option<i64> {
    let found = seekless_sys::extents::extents(File::open(path).unwrap(), byte..byte + 1, 1);
    let first = *found.unwrap()?.list.first()?;
    let number = path.metadata().unwrap().dev();
    let device = OnDisk::find((major(number), minor(number)))?;
    Some((device.start + first.place? + byte - first.offset) as i64)
}

fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

#[test]
fn an_access_is_where_its_file_lies_and_what_is_nowhere_is_counted() {
    let folder = workplace();
    let data = with_a_hole(folder.path());
    let (Some(first), Some(last)) = (place(&data, 0), place(&data, 65_536)) else {
        return eprintln!("skipped: this folder's file system gives no places on a block device");
    };
    let gone = folder.path().join("gone");
    let trace = traced(
        folder.path(),
        &[
            (&data, Op::Read, 100, 8),
            (&data, Op::Write, 0, 4096),
            (&data, Op::Read, 8000, 60_000),
            (&gone, Op::Read, 0, 10),
            (&data, Op::Map, 0, 8192),
        ],
    );
    let out = folder.path().join("blocks.parquet");
    let report =
        blocks(&trace, &Destination::new(&out), None, &Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!(
        rows(&out),
        [
            (Op::Read, first, 512),
            (Op::Write, first, 4096),
            (Op::Read, first + 7680, 512),
            (Op::Read, last, 2560),
        ]
    );
    assert_eq!((report.rows, report.accesses, report.devices.len()), (4, 4, 1));
    let left = |why, parts, bytes| (why, LeftOut { parts, bytes });
    assert_eq!(report.left_out, [left(Why::Hole, 1, 65_536 - 8192), left(Why::Gone, 1, 10)].into());
    assert_eq!(report.gone, [gone.to_str().unwrap()]);
}

#[test]
fn ozens_lines_go_one_sector_further_and_minus_one_is_nowhere() {
    let folder = workplace();
    let data = with_a_hole(folder.path());
    let Some(first) = place(&data, 0) else {
        return eprintln!("skipped: this folder's file system gives no places on a block device");
    };
    let trace = traced(
        folder.path(),
        &[(&data, Op::Read, 0, 4096), (&data, Op::Read, 4096, 4096), (&data, Op::Fault, 0, 4096)],
    );
    let out = folder.path().join("blocks.parquet");
    let options = Options { ozen: true, ..Options::default() };
    blocks(&trace, &Destination::new(&out), None, &options, &mut |_, _| {}).unwrap();
    let rows = rows(&out);
    let line = |sector: i64| (Op::Read, first + 512 * sector, 512);
    assert_eq!(rows[..9], (0..9).map(line).collect::<Vec<_>>());
    assert_eq!(rows[9..17], (8..16).map(line).collect::<Vec<_>>());
    assert_eq!(rows[17..], [(Op::Read, -1, 512)], "the hole behind");
}

#[test]
fn a_name_that_stands_for_another_file_is_told_and_a_moved_tree_is_found() {
    let folder = workplace();
    let data = with_a_hole(folder.path());
    if place(&data, 0).is_none() {
        return eprintln!("skipped: this folder's file system gives no places on a block device");
    }
    let trace = traced(folder.path(), &[(&data, Op::Read, 0, 4096)]);
    let moved = folder.path().join("elsewhere");
    std::fs::create_dir(&moved).unwrap();
    std::fs::rename(&data, moved.join("data")).unwrap();
    let out = Destination::new(folder.path().join("blocks.parquet")).replacing(true);
    let map = |options: &Options| blocks(&trace, &out, None, options, &mut |_, _| {});
    let error = map(&Options::default()).unwrap_err();
    assert!(error.to_string().contains("--root"), "{error}");
    assert!(!out.path().exists(), "nothing is left behind");
    let root = format!("{}={}", folder.path().display(), moved.display()).parse().unwrap();
    let report = map(&Options { roots: Roots::new(vec![root]), ..Options::default() }).unwrap();
    assert_eq!((report.rows, report.replaced.len()), (1, 0));
    with_a_hole(folder.path());
    let report = map(&Options::default()).unwrap();
    assert_eq!(report.replaced, [data.to_str().unwrap()]);
}

#[test]
fn a_block_trace_is_not_mapped_again() {
    let folder = workplace();
    let path = folder.path().join("blocks.parquet");
    let metadata = Metadata { kind: Kind::Blocks, ..Metadata::default() };
    Writer::create(&path, metadata).unwrap().finish().unwrap();
    let out = Destination::new(folder.path().join("again.parquet"));
    let error = blocks(&path, &out, None, &Options::default(), &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("blocks trace already"), "{error}");
}
