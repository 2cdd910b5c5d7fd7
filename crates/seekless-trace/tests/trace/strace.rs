//! The text of strace: descriptors are followed, and calls that were printed in two parts joined.

use crate::support::rows;
use seekless_trace::*;
use std::path::Path;
use std::process::Command;

fn imported(text: &str) -> Vec<(u32, u64, Op, String, i64, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.strace");
    std::fs::write(&path, text).unwrap();
    rows(&path)
        .into_iter()
        .map(|(row, name)| (row.pid, row.time_ns, row.op, name, row.offset, row.bytes))
        .collect()
}

#[test]
fn reads_go_on_where_the_descriptor_stands() {
    let text = "\
7 1700000000.000001 openat(AT_FDCWD</home/u>, \"data/a\", O_RDONLY|O_CLOEXEC) = 3</home/u/data/a> <0.000010>
7 1700000000.000002 newfstatat(3</home/u/data/a>, \"\", {st_mode=S_IFREG|0644, st_size=900, ...}, AT_EMPTY_PATH) = 0 <0.000001>
7 1700000000.000003 read(3</home/u/data/a>, \"x, y) = 9\", 100) = 100 <0.000001>
7 1700000000.000004 dup(3</home/u/data/a>) = 4</home/u/data/a> <0.000001>
7 1700000000.000005 read(4</home/u/data/a>, \"\"..., 100) = 50 <0.000001>
7 1700000000.000006 lseek(3</home/u/data/a>, 800, SEEK_SET) = 800 <0.000001>
7 1700000000.000007 read(3</home/u/data/a>, \"\"..., 4096) = 100 <0.000001>
7 1700000000.000008 pread64(3</home/u/data/a>, \"\"..., 64, 128) = 64 <0.000001>
7 1700000000.000009 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</home/u/data/a>, 0x1000) = 0x7f00 <0.000001>
7 1700000000.000010 read(0<pipe:[12]>, \"\"..., 64) = 64 <0.000001>
7 1700000000.000011 write(2</dev/pts/0<char 136:0>>, \"\"..., 64) = 64 <0.000001>
7 1700000000.000012 openat(AT_FDCWD</home/u>, \"none\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000001>
7 1700000000.000013 close(3</home/u/data/a>) = 0 <0.000001>
7 1700000000.000014 +++ exited with 0 +++
";
    let a = || "/home/u/data/a".to_owned();
    let row = |us: u64, op, offset, bytes| (7, (us - 1) * 1000, op, a(), offset, bytes);
    assert_eq!(
        imported(text),
        [
            row(1, Op::Open, 0, 0),
            row(2, Op::Stat, 0, 0),
            row(3, Op::Read, 0, 100),
            row(5, Op::Read, 100, 50),
            row(7, Op::Read, 800, 100),
            row(8, Op::Read, 128, 64),
            row(9, Op::Map, 4096, 8192),
            (7, 11_000, Op::Open, "/home/u/none".to_owned(), 0, 0),
            row(13, Op::Close, 0, 0),
        ]
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.strace");
    std::fs::write(&path, text).unwrap();
    let found = rows(&path);
    assert_eq!((found[7].0.error, found[0].0.latency_ns), (Some(2), Some(10_000)));
    assert_eq!(found[2].0.file_bytes, Some(900));
    let trace = open_any(&path).unwrap();
    assert_eq!(trace.metadata().runs[0].started_unix_ns, Some(1_700_000_000_000_001_000));
}

#[test]
fn a_child_has_its_parents_descriptors_until_it_becomes_another_program() {
    // Without -y, so that descriptors are known from the calls alone.
    let text = "\
7 open(\"/a\", O_RDONLY) = 3
7 open(\"/b\", O_RDONLY|O_CLOEXEC) = 4
7 read(3, \"\"..., 10) = 10
7 vfork( <unfinished ...>
8 read(3, \"\"..., 10) = 10
8 read(4, \"\"..., 5) = 5
8 execve(\"/bin/x\", [\"x\"], 0x7ff /* 3 vars */ <unfinished ...>
7 <... vfork resumed>) = 8
8 <... execve resumed>) = 0
8 read(4, \"\"..., 10) = -1 EBADF (Bad file descriptor)
8 read(3,  <unfinished ...>
7 read(4, \"\"..., 10) = 10
8 <... read resumed>\"\"..., 10) = 6
";
    let rows = imported(text);
    let brief: Vec<_> = rows.iter().map(|row| (row.0, row.2, row.3.as_str(), row.4)).collect();
    assert_eq!(
        brief,
        [
            (7, Op::Open, "/a", 0),
            (7, Op::Open, "/b", 0),
            (7, Op::Read, "/a", 0),
            (8, Op::Read, "/a", 10),
            (8, Op::Read, "/b", 0),
            (8, Op::Read, "/a", 20),
            (7, Op::Read, "/b", 5),
        ]
    );
}

#[test]
fn a_program_under_strace() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("some data"), folder.path().join("run.strace"));
    std::fs::write(&data, [b'x'; 5000]).unwrap();
    let script = "exec 5<\"$1\"; head -c 1000 <&5 >/dev/null; cat <&5 >/dev/null";
    let run = Command::new("strace")
        .args(["-f", "-ttt", "-T", "-y", "-o"])
        .arg(&log)
        .args(["sh", "-c", script, "sh"])
        .arg(&data)
        .status();
    if !run.is_ok_and(|status| status.success()) {
        println!("skipped: strace cannot be run here");
        return;
    }
    let name = data.canonicalize().unwrap();
    let found = rows(&log);
    let mut reads: Vec<(i64, u64)> = found
        .iter()
        .filter(|(row, path)| row.op == Op::Read && Path::new(path) == name && row.bytes > 0)
        .map(|(row, _)| (row.offset, row.bytes))
        .collect();
    // What two processes read through one description follows each other.
    reads.sort_unstable();
    let end = reads
        .iter()
        .try_fold(0, |at, &(offset, bytes)| (offset == at).then_some(offset + bytes as i64));
    assert_eq!(end, Some(5000), "{reads:?}");
}
