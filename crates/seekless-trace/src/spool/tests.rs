//! A spool returns the rows that were pushed; cut anywhere, it returns the first of them.

use super::*;
use crate::Op;
use crate::scratch::scratch;

fn access(row: u64) -> Access {
    Access {
        time_ns: row,
        pid: 7,
        tid: 8,
        offset: -1,
        bytes: row * 3,
        latency_ns: row.is_multiple_of(2).then_some(row),
        error: row.is_multiple_of(3).then_some(2),
        file_bytes: Some(row),
        device: None,
        inode: Some(9),
        ..Access::new(Op::ALL[row as usize % Op::ALL.len()], 0)
    }
}

/// A spool of three batches of ten rows, and changed metadata.
fn spool(path: &Path) -> SpoolWriter {
    let mut spool =
        SpoolWriter::create(path, &Metadata { page_bytes: 512, ..Metadata::default() }).unwrap();
    let files: Vec<FileId> = (0..7).map(|file| spool.file(format!("file {file}"))).collect();
    for row in 0..30 {
        spool.push(Access { file: files[row as usize % 7], ..access(row) }).unwrap();
        if row % 10 == 9 {
            spool.metadata_mut().lost = row;
            spool.flush().unwrap();
        }
    }
    spool
}

fn rows(trace: &Trace) -> Vec<(Access, String)> {
    let names = trace.file_names().unwrap();
    let row = |row: Access| (Access { file: 0, ..row }, names[row.file as usize].clone());
    trace.accesses().unwrap().map(|access| row(access.unwrap())).collect()
}

fn expected(count: u64) -> Vec<(Access, String)> {
    (0..count).map(|row| (access(row), format!("file {}", row % 7))).collect()
}

#[test]
fn becomes_a_trace() {
    let folder = scratch();
    let (out, path) = (folder.path().join("run.parquet"), folder.path().join("spool"));
    let summary = spool(&path).finish_into(&out).unwrap();
    assert_eq!((summary.rows, summary.files), (30, 7));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(rows(&trace), expected(30));
    assert_eq!(trace.metadata(), &Metadata { page_bytes: 512, lost: 29, ..Metadata::default() });
    assert!(!path.exists());
}

/// The folder of the spool may have had no room for the trace beside it.
#[test]
fn becomes_the_same_trace_if_that_could_not_be_made_meanwhile() {
    let folder = scratch();
    let [with, without] = ["with.parquet", "without.parquet"].map(|name| folder.path().join(name));
    let path = folder.path().join("spool");
    let whole = spool(&path).finish_into(&with).unwrap();
    let mut late = spool(&path);
    late.trace = None;
    assert_eq!(late.finish_into(&without).unwrap(), whole);
    let [with, without] = [with, without].map(|path| std::fs::read(path).unwrap());
    assert!(with == without, "byte for byte");
}

#[test]
fn files_are_numbered_once_and_the_number_travels() {
    let folder = scratch();
    let mut spool =
        SpoolWriter::create(&folder.path().join("spool"), &Metadata::default()).unwrap();
    // The last is a second number for the first path.
    let [a, _unused, b, twin] = ["a", "never read", "b", "a"].map(|path| spool.file(path));
    for (time_ns, file) in [(0, b), (1, a), (2, twin), (3, b)] {
        spool.push(Access { file, ..access(time_ns) }).unwrap();
    }
    let error = spool.push(Access { file: twin + 1, ..access(4) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let out = folder.path().join("run.parquet");
    spool.finish_into(&out).unwrap();
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.file_names().unwrap(), ["b", "a"]);
    let files: Vec<FileId> = trace.accesses().unwrap().map(|row| row.unwrap().file).collect();
    assert_eq!(files, [0, 1, 1, 0]);
}

#[test]
fn opens_in_place_of_the_trace_that_is_missing() {
    let folder = scratch();
    let (out, beside) =
        (folder.path().join("run.parquet"), folder.path().join("run.parquet.spool"));
    drop(spool(&beside));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.origin(), &Origin::Spool { torn_bytes: 0 });
    assert_eq!(rows(&trace), expected(30));
    let recovered = crate::recover::recover(&out, &out).unwrap();
    assert_eq!((recovered.summary.rows, beside.exists()), (30, false));
    assert_eq!(rows(&Trace::open(&out).unwrap()), expected(30));
}

#[test]
fn cut_at_every_byte_gives_whole_batches() {
    let folder = scratch();
    let (whole, cut) = (folder.path().join("whole.spool"), folder.path().join("cut.spool"));
    drop(spool(&whole));
    let bytes = std::fs::read(&whole).unwrap();
    let mut counts = Vec::new();
    for length in 0..=bytes.len() {
        std::fs::write(&cut, &bytes[..length]).unwrap();
        let Ok(mut reader) = read::SpoolReader::open(&cut) else { continue };
        let mut got = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            got.extend(batch.rows);
        }
        assert_eq!(got.len() % 10, 0);
        let numbered = |(row, access): (usize, Access)| Access { file: row as u32 % 7, ..access };
        let expected: Vec<_> = expected(got.len() as u64)
            .into_iter()
            .map(|row| row.0)
            .enumerate()
            .map(numbered)
            .collect();
        assert_eq!(got, expected);
        assert!(reader.left().bytes < length as u64 && reader.left().damaged_at.is_none());
        counts.push(got.len());
    }
    counts.dedup();
    assert_eq!(counts, [0, 10, 20, 30], "each batch appears once its last byte is there");
}

#[test]
fn a_cut_spool_says_how_much_was_torn() {
    let folder = scratch();
    let path = folder.path().join("run.parquet.spool");
    drop(spool(&path));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let Origin::Spool { torn_bytes } = Trace::open(&path).unwrap().origin().clone() else {
        panic!("opened as a spool")
    };
    assert!(torn_bytes > 0);
}

#[test]
fn what_is_no_spool_is_not_called_an_empty_one() {
    let folder = scratch();
    let (path, out) = (folder.path().join("run.parquet"), folder.path().join("out"));
    for (bytes, kind) in [
        (&b"PAR1"[..], ErrorKind::NotATrace),
        (b"SK", ErrorKind::Corrupt),
        (b"", ErrorKind::Corrupt),
    ] {
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(crate::recover::recover(&path, &out).unwrap_err().kind(), kind);
        assert!(!out.exists());
    }
}

#[test]
fn a_second_writer_leaves_the_first_ones_spool_alone() {
    let folder = scratch();
    let path = folder.path().join("spool");
    let first = spool(&path);
    let second = SpoolWriter::create(&path, &Metadata::default()).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Usage);
    assert_eq!(rows(&open(&path).unwrap()), expected(30));
    drop(first);
    SpoolWriter::create(&path, &Metadata::default()).unwrap();
}

/// Every flip in a spool of some batches, the bits of a byte in turn.
#[test]
fn no_flipped_bit_gives_other_rows() {
    let folder = scratch();
    let (whole, flipped) = (folder.path().join("whole.spool"), folder.path().join("flipped.spool"));
    drop(spool(&whole));
    let mut bytes = std::fs::read(&whole).unwrap();
    for at in 0..bytes.len() {
        let bit = 1 << (at % 8);
        bytes[at] ^= bit;
        std::fs::write(&flipped, &bytes).unwrap();
        bytes[at] ^= bit;
        let Ok(trace) = Trace::open(&flipped) else { continue };
        assert_eq!(rows(&trace), expected(30), "bit {bit} of byte {at}");
    }
}

#[test]
fn what_lies_before_damage_is_recovered() {
    let folder = scratch();
    let (path, out) = (folder.path().join("run.spool"), folder.path().join("out.parquet"));
    drop(spool(&path));
    let mut bytes = std::fs::read(&path).unwrap();
    let frames: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&frames::MARK)).collect();
    bytes[frames[3] + 100] ^= 1; // the second batch of rows, after the start, the first, and its metadata
    std::fs::write(&path, bytes).unwrap();
    let error = Trace::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.to_string().contains("`seekless trace recover` makes a trace of what lies before"),
        "{error}"
    );
    let recovered = crate::recover::recover(&path, &out).unwrap();
    assert!(recovered.damaged_at.is_some() && recovered.torn_bytes > 0, "{recovered:?}");
    assert_eq!(rows(&Trace::open(&out).unwrap()), expected(10));
}

#[test]
fn a_spool_is_for_its_user_alone_also_in_place_of_one_that_was_not() {
    let folder = scratch();
    let path = folder.path().join("spool");
    std::fs::write(&path, "old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(spool(&path));
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_spool_that_is_written_stays_and_one_that_is_left_can_be_removed() {
    let folder = scratch();
    let (path, trace) =
        (folder.path().join("run.spool"), folder.path().join("odd\n\u{e9}.parquet"));
    let writer = SpoolWriter::create_for(&trace, &path, &Metadata::default()).unwrap();
    let kept = KeptSpool::at(&path).unwrap();
    assert_eq!((kept.is_running, kept.trace.as_deref()), (true, Some(&*trace)));
    assert!(!kept.remove().unwrap());
    assert!(path.exists());
    drop(writer);
    assert!(!KeptSpool::at(&path).unwrap().is_running);
    assert!(kept.remove().unwrap());
    assert!(!path.exists());
    assert!(kept.remove().unwrap(), "it is gone");
}

/// Whoever removed it held its lock, and its name was gone when we got that.
#[test]
fn a_recorder_does_not_write_into_a_spool_that_was_removed_before_it_was_locked() {
    let folder = scratch();
    let path = folder.path().join("spool");
    let opened = open_for_us(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(!stands_at(&opened, &path));
    let file = create_locked(&path).unwrap();
    assert!(stands_at(&file, &path));
}
