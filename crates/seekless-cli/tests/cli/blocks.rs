//! The block view: `seekless trace blocks`, and `seekless record --block --post`. The program that
//! is recorded is this test's own binary: a test of it that reads past the page cache.

use crate::{printed, seekless, workplace};
use rustix::fs::{FallocateFlags, fallocate};
use seekless::engine::AlignedBuf;
use seekless::sys::direct::open_direct;
use seekless::sys::extents::extents;
use seekless::trace::{Access, Kind, Op, Trace, View};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Output;

const FILE: &str = "SEEKLESS_TEST_READS_PAST_THE_CACHE";
const READS: u64 = 1_000;
const BLOCK: u64 = 4096;
const FILE_BYTES: u64 = 32 << 20;

/// The recorded program, if the test runs it so: reads of one to four blocks all over the file.
#[test]
fn the_reader() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let Ok(Some(file)) = open_direct(Path::new(&path)) else { return };
    let mut buffer = AlignedBuf::with_capacity(4 * BLOCK as usize);
    let blocks = file.metadata().unwrap().len() / BLOCK;
    let mut state = 2018_u64;
    for _ in 0..READS {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let count = 1 + (state >> 33) % 4;
        let first = (state >> 40) % (blocks - count);
        let bytes = (count * BLOCK) as usize;
        file.read_exact_at(&mut buffer.whole_mut()[..bytes], first * BLOCK).unwrap();
    }
}

/// A file in hundreds of pieces: parts of it are cut out, and what is behind moves up. `None` where
/// the file system cannot do that.
fn fragmented(folder: &Path) -> Option<std::path::PathBuf> {
    let path = folder.join("data");
    let file = File::create_new(&path).unwrap();
    file.write_all_at(&vec![7; FILE_BYTES as usize], 0).unwrap();
    file.sync_all().unwrap();
    for piece in 0..300 {
        fallocate(&file, FallocateFlags::COLLAPSE_RANGE, piece * 16 * BLOCK, BLOCK).ok()?;
    }
    file.sync_all().unwrap();
    let found = extents(&file, 0..FILE_BYTES, usize::MAX).unwrap()?;
    assert!(found.list.len() >= 300, "it is in {} pieces", found.list.len());
    Some(path)
}

fn rows(path: &Path) -> Vec<Access> {
    Trace::open(path).unwrap().accesses().unwrap().map(|row| row.unwrap()).collect()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs `seekless record` with its state in a folder of its own; `None` where it cannot record.
fn record(folder: &Path, words: &[&str], environment: Option<&Path>) -> Option<Output> {
    let mut command = seekless(folder);
    command.env("XDG_STATE_HOME", folder.join("state")).arg("record").args(words);
    if let Some(file) = environment {
        command.env(FILE, file);
    }
    let output = command.output().unwrap();
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", said(&output));
        return None;
    }
    Some(output)
}

/// Issue 14, bar 1: FIEMAP's sectors are those of the block layer, for 1,000 reads past the page
/// cache of a fragmented file.
#[test]
fn mapped_blocks_are_those_that_the_block_layer_sees() {
    let place = workplace();
    let Some(data) = fragmented(place.path()) else {
        return eprintln!("skipped: this file system cannot cut a file into pieces");
    };
    let program = std::env::current_exe().unwrap();
    let words = ["--block", "pre.parquet", "--post", "post.parquet", "--"];
    let reader = [program.to_str().unwrap(), "--exact", "blocks::the_reader"];
    let Some(output) = record(place.path(), &[&words[..], &reader].concat(), Some(&data)) else {
        return;
    };
    assert!(output.status.success(), "{}", said(&output));
    if !place.path().join("post.parquet").exists() {
        return eprintln!("skipped: no block events here: {}", said(&output));
    }
    let [pre, post] =
        ["pre.parquet", "post.parquet"].map(|name| Trace::open(&place.path().join(name)).unwrap());
    assert_eq!((pre.metadata().kind, pre.metadata().view), (Kind::Blocks, Some(View::PreCache)));
    assert_eq!((post.metadata().kind, post.metadata().view), (Kind::Blocks, Some(View::PostCache)));
    assert_eq!(pre.metadata().lost + post.metadata().lost, 0);
    let [asked, issued] = [pre, post].map(|trace| reads_of(&trace, &data));
    assert!(asked.len() as u64 >= READS, "{} pieces of {READS} reads", asked.len());
    // Where two pieces happen to lie side by side, the block layer makes one request of them.
    let [mut asked, mut issued] = [asked, issued].map(sectors);
    asked.sort_unstable();
    issued.sort_unstable();
    assert_eq!(asked, issued, "{}", said(&output));
}

/// The sectors of these reads.
fn sectors(reads: Vec<(i64, u64)>) -> Vec<i64> {
    let sectors =
        |(offset, bytes): (i64, u64)| (0..bytes as i64 / 512).map(move |at| offset / 512 + at);
    reads.into_iter().flat_map(sectors).collect()
}

/// The reads of a trace that lie where the file lies: offset on the disk, and bytes.
fn reads_of(trace: &Trace, file: &Path) -> Vec<(i64, u64)> {
    use seekless::sys::block::OnDisk;
    use std::os::unix::fs::MetadataExt;
    let file = File::open(file).unwrap();
    let device = file.metadata().unwrap().dev();
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    let start = OnDisk::find(number).unwrap().start;
    let laid = extents(&file, 0..FILE_BYTES, usize::MAX).unwrap().unwrap();
    let inside = |offset: u64| {
        laid.list.iter().any(|extent| {
            let place = start + extent.place.unwrap();
            (place..place + extent.bytes).contains(&offset)
        })
    };
    let rows = trace.accesses().unwrap().map(|row| row.unwrap());
    let reads = rows.filter(|row| row.op == Op::Read && inside(row.offset as u64));
    reads.map(|row| (row.offset, row.bytes)).collect()
}

#[test]
fn files_that_are_deleted_or_moved_meanwhile_have_places() {
    let place = workplace();
    let script = "dd if=/dev/zero of=temporary bs=4096 count=4 conv=fsync 2>/dev/null; cat temporary; rm temporary; \
                  dd if=/dev/zero of=held bs=4096 count=2 conv=fsync 2>/dev/null; exec 3<held; rm held; cat <&3; \
                  dd if=/dev/zero of=old bs=4096 count=8 2>/dev/null; mv old new";
    let words = [
        "--only",
        "temporary",
        "--only",
        "held",
        "--only",
        "old",
        "--block",
        "blocks.parquet",
        "--sync",
        "--",
    ];
    let program = ["sh", "-c", script];
    let Some(output) = record(place.path(), &[&words[..], &program].concat(), None) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let path = place.path().join("blocks.parquet");
    if !path.exists() {
        return eprintln!(
            "skipped: this folder's file system is on no block device: {}",
            said(&output)
        );
    }
    let said = said(&output);
    assert!(said.contains("gone: ") && said.contains("/held"), "{said}");
    let written: u64 =
        rows(&path).iter().filter(|row| row.op == Op::Write).map(|row| row.bytes).sum();
    let read: u64 = rows(&path).iter().filter(|row| row.op == Op::Read).map(|row| row.bytes).sum();
    assert_eq!(read, 4 * 4096 + 2 * 4096, "{said}");
    let all = (4 + 2 + 8) * 4096;
    // Without root a moved file is not found again, and it had no place when it was closed.
    let moved = said.contains("/old -> ") && said.contains("/new");
    assert_eq!(written, if moved { all } else { all - 8 * 4096 }, "{said}");
    assert!(moved || !rustix::process::geteuid().is_root(), "{said}");
}

#[test]
fn a_trace_is_mapped_after_its_recording_and_what_is_left_out_is_said() {
    let place = workplace();
    let data = place.path().join("data");
    std::fs::write(&data, vec![1; 10_000]).unwrap();
    File::open(&data).unwrap().sync_all().unwrap();
    let program = [
        "-o",
        "run.parquet",
        "--only",
        "data",
        "--only",
        "gone",
        "--",
        "sh",
        "-c",
        "cat data; echo 1 >gone; rm gone",
    ];
    let Some(output) = record(place.path(), &program, None) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let output = crate::run(place.path(), "trace blocks run.parquet -o blocks.parquet");
    if said(&output).contains("on no block device") {
        return eprintln!("skipped: this folder's file system is on no block device");
    }
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("blocks.parquet: 1 row of 2 accesses\n"), "{text}");
    assert!(text.contains("left out: 1 part, 2 B, in files that are gone\n"), "{text}");
    assert!(text.contains("10.2 KB"), "whole sectors: {text}");
    let info = printed(place.path(), "trace info blocks.parquet");
    assert!(info.starts_with("blocks.parquet: block trace, pre-cache, 1 run"), "{info}");
    let again = crate::run(place.path(), "trace blocks blocks.parquet -o more.parquet");
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("is a blocks trace already"), "{}", said(&again));
}
