//! `seekless replay`: plays on files and on a loop device; what it may not overwrite stays as it
//! is.

use super::used_devices::{Loop, succeeds};
use super::{printed, run, workplace};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Reads and writes of pages in turn, by sector, as Ozen's traces have them.
fn blocks(directory: &Path, pages: u64) {
    let line =
        |page: u64| format!("{} {}\n", if page.is_multiple_of(2) { 'r' } else { 'w' }, page * 8);
    let text: String = (0..pages).map(line).collect();
    fs::write(directory.join("blocks.txt"), text).unwrap();
}

fn target(directory: &Path, bytes: usize) -> PathBuf {
    let path = directory.join("target.bin");
    fs::write(&path, vec![7; bytes]).unwrap();
    path
}

fn json(directory: &Path, words: &str) -> Value {
    serde_json::from_str(&printed(directory, &format!("replay {words} --json"))).unwrap()
}

/// Asserts that the replay fails with these words, and that the target's bytes are as they were.
fn refused(directory: &Path, words: &str, target: &Path, why: &str) {
    let before = fs::read(target).unwrap();
    let output = run(directory, &format!("replay {words}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(said.contains(why), "{words}: {said}");
    assert!(fs::read(target).unwrap() == before, "{words} changed its target");
}

#[test]
fn reads_are_played_and_writes_are_left_out() {
    let directory = workplace();
    blocks(directory.path(), 100);
    let target = target(directory.path(), 1 << 20);
    let report = json(directory.path(), "blocks.txt --on target.bin --rounds 3");
    assert_eq!((&report["ios"], &report["changes"]["writes_left_out"]), (&50.into(), &50.into()));
    assert_eq!(report["real"]["rounds_ns"].as_array().unwrap().len(), 3);
    assert!(report["real"]["cpu_ns_per_io"].as_f64().unwrap() > 0.0);
    let reads = json(directory.path(), "blocks.txt --on target.bin --writes-as-reads --threads");
    assert_eq!(
        (&reads["real"]["reads"], &reads["target"]["engine"]),
        (&100.into(), &"threads".into())
    );
    assert!(fs::read(target).unwrap().iter().all(|&byte| byte == 7));
}

#[test]
fn every_pace_plays_everything() {
    let directory = workplace();
    blocks(directory.path(), 400);
    target(directory.path(), 2 << 20);
    for pace in ["", "--depth 1", "--closed", "--timed", "--speed 2.5", "--like ozen --passes 3"] {
        let report = json(directory.path(), &format!("blocks.txt --on target.bin {pace}"));
        assert_eq!(report["real"]["reads"], 200, "{pace}");
    }
}

#[test]
fn a_timed_replay_takes_the_traces_time_and_tells_how_late_it_was() {
    let directory = workplace();
    target(directory.path(), 1 << 20);
    let row = |at: u32| format!("{:.3},read,a,{},4096\n", f64::from(at) / 1000.0, at % 200 * 4096);
    let rows: String = (0..200).map(row).collect();
    fs::write(directory.path().join("run.csv"), format!("time_s,op,path,offset,bytes\n{rows}"))
        .unwrap();
    let report = json(directory.path(), "run.csv --on target.bin --timed");
    let took = report["real"]["time"]["min_ns"].as_u64().unwrap();
    assert!(took >= 199_000_000, "it cannot be faster than the trace: {took}");
    assert!(report["real"]["lag"]["p99_ns"].as_u64().is_some());
    assert_eq!(report["trace_ns"], 199_000_000);
}

#[test]
fn the_report_and_the_picture_show_device_and_model() {
    let directory = workplace();
    blocks(directory.path(), 100);
    target(directory.path(), 1 << 20);
    let words = "replay blocks.txt --on target.bin --device t7k250 --picture replay.svg";
    let text = printed(directory.path(), words);
    for part in ["played", "50 I/Os of blocks.txt", "in flight", "t7k250", "off by", "read p99"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let picture = fs::read_to_string(directory.path().join("replay.svg")).unwrap();
    assert!(picture.contains("How long each took") && picture.contains("t7k250: 0 to"));
    let words = "replay blocks.txt --on target.bin --picture replay.svg";
    assert_eq!(run(directory.path(), words).status.code(), Some(2), "it does not replace a file");
}

#[test]
fn a_model_alone_needs_no_target_and_is_the_same_each_time() {
    let directory = workplace();
    blocks(directory.path(), 100);
    let words = "replay blocks.txt --device t7k250 --depth 4";
    let first = printed(directory.path(), words);
    assert_eq!(first, printed(directory.path(), words));
    assert!(first.contains("100 I/Os"), "a model destroys nothing, so writes are played: {first}");
}

#[test]
fn writes_go_to_a_file_that_is_made() {
    let directory = workplace();
    blocks(directory.path(), 100);
    let report = json(directory.path(), "blocks.txt --write new.bin --like ozen");
    assert_eq!((&report["real"]["writes"], &report["target"]["made"]), (&50.into(), &true.into()));
    let bytes = fs::read(directory.path().join("new.bin")).unwrap();
    assert_eq!(bytes.len(), 100 * 4096);
    for (page, bytes) in bytes.chunks(4096).enumerate() {
        assert_eq!(bytes[..512].iter().all(|&byte| byte == b'@'), page % 2 == 1, "page {page}");
    }
    let words = "blocks.txt --write small.bin --size 40960B --remap modulo";
    let report = json(directory.path(), words);
    assert_eq!(report["changes"]["remapped"], 90);
}

#[test]
fn files_that_something_else_may_want_are_refused_and_unchanged() {
    let directory = workplace();
    let folder = directory.path();
    blocks(folder, 100);
    let path = target(folder, 1 << 20);

    let mut other = Command::new("sleep")
        .arg("60")
        .stdin(Stdio::from(fs::File::open(&path).unwrap()))
        .spawn()
        .unwrap();
    refused(folder, "blocks.txt --write target.bin", &path, "open in sleep (process");
    other.kill().unwrap();
    other.wait().unwrap();

    fs::hard_link(&path, folder.join("second")).unwrap();
    refused(folder, "blocks.txt --write target.bin", &path, "it has 2 names");
    fs::remove_file(folder.join("second")).unwrap();

    std::os::unix::fs::symlink(&path, folder.join("link")).unwrap();
    refused(folder, "blocks.txt --write link", &path, "a symbolic link");
    refused(folder, "blocks.txt --write blocks.txt", &folder.join("blocks.txt"), "it is the trace");
    refused(folder, "blocks.txt --destroy-data target.bin", &path, "not a block device");
    refused(folder, "blocks.txt --on target.bin --write target.bin", &path, "cannot be used with");

    let rows = "op,path,offset,bytes\nread,target.bin,0,4096\nwrite,target.bin,0,4096\n";
    fs::write(folder.join("run.csv"), rows).unwrap();
    refused(folder, "run.csv --write target.bin", &path, "the trace reads from it");
    let rows = rows.replace("target.bin", folder.join("blocks.txt").to_str().unwrap());
    fs::write(folder.join("run.csv"), rows).unwrap();
    refused(folder, "run.csv --write target.bin", &path, "from which the trace reads");

    fs::write(folder.join("blocks.txt"), "w 0\nr 1000000\n").unwrap();
    refused(folder, "blocks.txt --write target.bin", &path, "1 I/Os lie outside the target");
}

#[test]
fn a_free_device_is_overwritten_and_its_store_is_not() {
    let directory = workplace();
    let folder = directory.path();
    blocks(folder, 100);
    let Some(disk) = Loop::new(folder) else { return };
    let store = folder.join("disk");
    let words = format!("blocks.txt --destroy-data {}", disk.device);
    refused(folder, "blocks.txt --write disk", &store, "the store of the loop device loop");
    refused(folder, &format!("blocks.txt --write {}", disk.device), &store, "not a regular file");
    printed(folder, &format!("replay {words} --like ozen"));
    assert!(succeeds(Command::new("sync").args(["-f", &disk.device])));
    let bytes = fs::read(&disk.device).unwrap();
    assert!(bytes[4096..4608].iter().all(|&byte| byte == b'@'), "the write of sector 8");
}

#[test]
fn wrong_words_are_usage_errors() {
    let directory = workplace();
    blocks(directory.path(), 10);
    target(directory.path(), 1 << 20);
    for (words, why) in [
        ("blocks.txt", "--on"),
        ("blocks.txt --on nothing.bin", "nothing.bin: cannot be opened"),
        ("missing.txt --on target.bin", "missing.txt"),
        ("blocks.txt --on target.bin --speed 0", "above 0"),
        ("blocks.txt --on target.bin --rounds never", "stable"),
        ("blocks.txt --on target.bin --depth 0", "1..=16384"),
        ("blocks.txt --on target.bin --size 5B", "--write"),
        ("blocks.txt --on target.bin --timed --closed", "--closed"),
    ] {
        let output = run(directory.path(), &format!("replay {words}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{words}: {said}");
    }
}
