//! Trees made from lists and traces, and all that must stop before a file is written.

use super::*;
use seekless_job::ErrorKind;
use seekless_job::roots::Roots;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

fn room() -> (TempDir, PathBuf) {
    let room = tempfile::tempdir().expect("a temporary folder");
    let dir = room.path().join("tree");
    (room, dir)
}

fn files(list: &[(&str, u64)]) -> Vec<File> {
    list.iter().map(|&(path, bytes)| File { path: path.to_owned(), bytes }).collect()
}

fn make(dir: &Path, list: &[(&str, u64)]) -> Result<Summary> {
    synth(dir, &files(list), &Options::default(), &mut |_, _| {})
}

/// The message of the refusal, which must come before anything is written.
fn refusal(dir: &Path, list: &[(&str, u64)]) -> String {
    let before = dir.exists().then(|| fs::read_dir(dir).expect("readable").count());
    let error = make(dir, list).expect_err("it must be refused");
    let after = dir.exists().then(|| fs::read_dir(dir).expect("readable").count());
    assert_eq!(before, after, "nothing is written before all is checked");
    error.to_string()
}

#[test]
fn names_and_sizes_are_those_asked_for() {
    let (_room, dir) = room();
    let list = [("a", 0), ("/home/u/b", 1), ("./c/d", 70_000), ("c/e", 3_000_000)];
    let mut last = (0, 0);
    let summary =
        synth(&dir, &files(&list), &Options::default(), &mut |done, total| last = (done, total));
    let summary = summary.expect("made");
    assert_eq!((summary.files, summary.made, summary.bytes), (4, 4, 3_070_001));
    assert_eq!(last, (3_070_001, 3_070_001));
    for (path, bytes) in [("a", 0), ("home/u/b", 1), ("c/d", 70_000), ("c/e", 3_000_000)] {
        assert_eq!(fs::metadata(dir.join(path)).expect("it is there").len(), bytes);
    }
    assert_eq!(fs::read(dir.join("c/e")).expect("readable"), Content::of("c/e").bytes(3_000_000));
}

#[test]
fn what_is_there_with_the_right_size_stays() {
    let (_room, dir) = room();
    make(&dir, &[("a", 5), ("b", 5)]).expect("made");
    fs::write(dir.join("a"), "mine!").expect("room");
    let summary = make(&dir, &[("a", 5), ("b", 5), ("c", 5)]).expect("made");
    assert_eq!((summary.made, summary.kept, summary.replaced), (1, 2, 0));
    assert_eq!(fs::read(dir.join("a")).expect("readable"), b"mine!");
}

#[test]
fn another_size_is_refused_without_force() {
    let (_room, dir) = room();
    make(&dir, &[("a", 5)]).expect("made");
    assert!(refusal(&dir, &[("0", 1), ("a", 6)]).contains("has 5 bytes, not 6; give --force"));
    fs::hard_link(dir.join("a"), dir.join("other")).expect("a second name");
    let force = Options { force: true, ..Options::default() };
    let summary = synth(&dir, &files(&[("a", 6)]), &force, &mut |_, _| {}).expect("replaced");
    assert_eq!((summary.made, summary.replaced), (1, 1));
    let length = |name| fs::metadata(dir.join(name)).expect("it is there").len();
    assert_eq!((length("a"), length("other")), (6, 5), "the file's other name keeps its content");
}

#[test]
fn nothing_leads_out() {
    let (room, dir) = room();
    for path in ["../x", "a/../../x", "/..", "a/..", "a\0b", "", "/", "a/"] {
        refusal(&dir, &[("fine", 1), (path, 1)]);
    }
    fs::create_dir_all(dir.join("sub")).expect("a folder");
    symlink(room.path(), dir.join("sub/link")).expect("a link");
    assert!(refusal(&dir, &[("sub/link/x", 1)]).contains("links are not followed"));
    symlink(room.path().join("target"), dir.join("file")).expect("a link");
    assert!(refusal(&dir, &[("file", 1)]).contains("is in the way"));
    let force = Options { force: true, ..Options::default() };
    assert!(
        synth(&dir, &files(&[("file", 1)]), &force, &mut |_, _| {}).is_err(),
        "not with force either"
    );
    assert!(!room.path().join("x").exists() && !room.path().join("target").exists());
}

#[test]
fn a_file_cannot_be_a_folder() {
    let (_room, dir) = room();
    assert!(refusal(&dir, &[("a", 1), ("a/b", 1)]).contains("cannot be a file"));
    fs::create_dir_all(dir.join("x")).expect("a folder");
    assert!(refusal(&dir, &[("x", 1)]).contains("is in the way"));
    fs::write(dir.join("y"), "").expect("room");
    assert!(refusal(&dir, &[("y/z", 1)]).contains("is in the way"));
}

#[test]
fn a_full_disk_is_noticed_first() {
    let (_room, dir) = room();
    assert!(refusal(&dir, &[("a", 1 << 60)]).contains("bytes free"));
    assert!(refusal(&dir, &[("a", u64::MAX), ("b", u64::MAX)]).contains("2^64"));
}

#[test]
fn two_spellings_are_one_file() {
    let (_room, dir) = room();
    let summary = make(&dir, &[("a/b", 3), ("/a//b", 5)]).expect("made");
    assert_eq!((summary.files, summary.bytes), (1, 5));
}

#[test]
fn bytes_that_are_not_utf8_come_back() {
    let (_room, dir) = room();
    make(&dir, &[("a\\xff\\\\b", 1)]).expect("made");
    let name =
        fs::read_dir(&dir).expect("readable").next().expect("one").expect("readable").file_name();
    assert_eq!(std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str()), b"a\xff\\b");
}

#[test]
fn a_cancelled_synthesis_leaves_no_half_file() {
    let (_room, dir) = room();
    let options = Options::default();
    let cancel = Arc::clone(&options.cancel);
    let error = synth(&dir, &files(&[("a", 200 << 20)]), &options, &mut |_, _| {
        cancel.store(true, Ordering::Relaxed)
    });
    assert_eq!(error.expect_err("it was cancelled").kind(), ErrorKind::Interrupted);
    assert!(!dir.join("a").exists());
}

#[test]
fn lists_and_traces_say_what_to_make() {
    let room = tempfile::tempdir().expect("a temporary folder");
    let read = |text: &str| {
        let path = room.path().join("list.csv");
        fs::write(&path, text).expect("room");
        files_of(&path, &Roots::default())
    };
    assert_eq!(read("path,size\na,5\nb/c,7\n").expect("a list"), files(&[("a", 5), ("b/c", 7)]));
    let trace = "time_s,path,size\n0.5,b,7\n0.6,a,5\n0.7,b,7\n";
    assert_eq!(read(trace).expect("a trace"), files(&[("b", 7), ("a", 5)]));
    assert!(read("a\nb\n").is_err(), "no sizes");
    assert!(files_of(&room.path().join("absent"), &Roots::default()).is_err());
}
