//! Broken input of every kind is an error that names the file and the place. It never panics.

use crate::support::{read_everything, scratch};
use proptest::prelude::*;
use seekless_trace::*;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

fn write(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = scratch();
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn access(row: u64) -> Access {
    let latency_ns = row.is_multiple_of(2).then_some(row * row);
    Access {
        run: row as u32 / 60,
        time_ns: row * 7,
        bytes: row,
        latency_ns,
        ..Access::new(Op::Read, 0)
    }
}

/// A small trace with a little of everything.
fn sample_trace() -> Vec<u8> {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    for row in 0..120 {
        let file = writer.file(&format!("art/{}.dds", row % 9));
        writer.push(Access { file, ..access(row) }).unwrap();
    }
    writer.finish().unwrap();
    std::fs::read(&path).unwrap()
}

fn sample_spool() -> Vec<u8> {
    let folder = scratch();
    let path = folder.path().join("run.parquet.spool");
    let mut spool = SpoolWriter::create(&path, &Metadata::default()).unwrap();
    for row in 0..120 {
        let file = match row {
            0..9 => spool.file(format!("art/{row}.dds")),
            _ => (row % 9) as FileId,
        };
        spool.push(Access { file, ..access(row) }).unwrap();
        if row % 40 == 39 {
            spool.metadata_mut().lost += 1;
            spool.flush().unwrap();
        }
    }
    drop(spool);
    std::fs::read(&path).unwrap()
}

fn starts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(&b""[..]),
        Just(&b"PAR1"[..]),
        Just(&b"SKSP"[..]),
        Just(&b"\x1f\x8b\x08\x00"[..]),
        Just(&b"\xfd7zXZ\x00"[..]),
        Just(&b"\x28\xb5\x2f\xfd"[..]),
        Just(&b"\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff"[..]),
        Just(&b"path,size,op,time_s,offset,run\n"[..]),
        Just(&b"path\n\""[..]),
        Just(&b"1 2.5 read(3</a>, \"\", 1) = 1\n1 2.6 open(\""[..]),
        Just(&b"fio version 3 iolog\n1 /f open\n2 /f read "[..]),
        Just(&b"# DXT, file_id: 1, file_name: a\n X_POSIX 0 read "[..]),
        Just(&b"8,0 1 1 0.0 7 Q W 1 + 8 [x]\n8,0 "[..]),
        Just(&b"128166372003061629,usr,0,Read,1,2,3\n1,"[..]),
        Just(&b"\x07tae\x00\x00"[..]),
    ]
    .prop_map(<[u8]>::to_vec)
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::sample::select(b"a1,.\"\n\r -\\\xff0e".to_vec());
    prop_oneof![prop::collection::vec(any::<u8>(), 0..300), prop::collection::vec(text, 0..300)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes(start in starts(), rest in noise(), end in prop_oneof![Just(&b""[..]), Just(&b"PAR1"[..])]) {
        let (_folder, path) = write(&[start, rest, end.to_vec()].concat());
        read_everything(&path);
    }

    #[test]
    fn changed_bytes(spool in any::<bool>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = if spool { sample_spool() } else { sample_trace() };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let (_folder, path) = write(&bytes);
        read_everything(&path);
    }
}

/// Reads all rows, or returns the first error.
fn read_rows(path: &Path) -> Result<usize> {
    Trace::open(path)?.accesses()?.try_fold(0, |count, access| access.map(|_| count + 1))
}

#[test]
fn a_trace_cut_short() {
    let whole = sample_trace();
    for length in [0, 3, 4, 100, whole.len() / 2, whole.len() - 1] {
        let (_folder, path) = write(&whole[..length]);
        let error = read_rows(&path).unwrap_err();
        let expected = if length < 4 { ErrorKind::NotATrace } else { ErrorKind::Corrupt };
        assert_eq!(error.kind(), expected, "{length}: {error}");
        assert_eq!(error.path(), path);
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
}

#[test]
fn a_trace_with_damaged_rows() {
    let mut bytes = sample_trace();
    bytes[20..60].fill(0xaa);
    let (_folder, path) = write(&bytes);
    let error = read_rows(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.path(), path);
}

#[test]
fn a_file_that_is_missing() {
    let error = open_any(Path::new("/no/such/run.parquet")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.to_string(), "/no/such/run.parquet: no such trace");
}

#[test]
fn text_that_is_no_trace() {
    let (_folder, path) = write(b"hello\nworld\n");
    assert!(Trace::open(&path).unwrap_err().to_string().contains("seekless trace import"));
    let error = open_any(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotATrace);
    assert!(error.to_string().contains("names no `path`"), "{error}");
}

#[test]
fn a_pipe_is_read_from_its_first_byte() {
    let mut child = std::process::Command::new("printf")
        .arg("path,size\\na,5\\nb,6\\n")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdout.take().unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", pipe.as_raw_fd()));
    assert_eq!(open_any(&path).unwrap().rows(), 2);
    child.wait().unwrap();
}
