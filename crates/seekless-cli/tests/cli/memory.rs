//! The memory of `grep` and `wc`: at most 64 MiB above that at their start, whatever they read.

use super::workplace;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const MEBIBYTE: u64 = 1 << 20;
const ALLOWED_BYTES: u64 = 64 * MEBIBYTE;
/// The variable that holds the words of the command to measure, one a line.
const WORDS: &str = "SEEKLESS_TEST_MEASURED";

/// Runs the command in a process that has no other child, and prints the command's largest resident
/// set.
#[test]
#[ignore = "run by the other tests, with the words to measure in the environment"]
fn the_peak_of_a_command() {
    let Ok(words) = std::env::var(WORDS) else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    let out = File::create("out").expect("created");
    command.args(words.lines()).stdin(Stdio::null()).stdout(out);
    let code = command.stderr(Stdio::null()).status().expect("it starts").code();
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN);
    println!("peak {} {}", usage.expect("known").max_rss() * 1024, code.unwrap_or(-1));
}

/// The largest resident set of `seekless WORDS` in bytes, and its exit code. Its output goes to a
/// file: if it went to /dev/null, the command could skip work.
fn peak(folder: &Path, words: &[&str]) -> (u64, i32) {
    let this = std::env::current_exe().expect("its path");
    let mut command = Command::new(this);
    command.args(["--exact", "memory::the_peak_of_a_command", "--ignored", "--nocapture"]);
    let output =
        command.env(WORDS, words.join("\n")).current_dir(folder).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text
        .lines()
        .find_map(|line| line.split("peak ").nth(1))
        .unwrap_or_else(|| panic!("{text}"));
    let (bytes, code) = line.split_once(' ').expect("two figures");
    (bytes.parse().expect("bytes"), code.parse().expect("a code"))
}

fn assert_bounded(folder: &Path, words: &[&str]) -> i32 {
    let (start, _) = peak(folder, &[words[0], "--version"]);
    let (bytes, code) = peak(folder, words);
    assert!(
        bytes <= start + ALLOWED_BYTES,
        "{words:?}: {} MiB above its start",
        (bytes - start) / MEBIBYTE
    );
    code
}

fn sparse(path: &Path, mebibytes: u64, end: &[u8]) {
    let mut file = File::create(path).expect("created");
    file.write_all(b"a needle\n").expect("written");
    file.set_len(mebibytes * MEBIBYTE).expect("longer");
    let mut file = File::options().append(true).open(path).expect("opened");
    file.write_all(end).expect("written");
}

#[test]
fn a_run_of_nuls_is_no_long_line() {
    let place = workplace();
    sparse(&place.path().join("holes"), 160, b"another needle\n");
    for words in [
        &["grep", "-c", "needle", "holes"][..],
        &["grep", "x", "holes"],
        &["grep", "-I", "-c", "x", "holes"],
        &["grep", "-z", "-o", "needle", "holes"],
        &["wc", "-lwmcL", "holes"],
    ] {
        assert!(assert_bounded(place.path(), words) < 2, "{words:?}");
    }
}

#[test]
fn a_line_longer_than_memory_may_hold_is_an_error_that_says_where() {
    let place = workplace();
    sparse(&place.path().join("holes"), 160, b"\nanother needle\n");
    for words in
        [&["grep", "-a", "another", "holes"][..], &["grep", "-a", "-c", "another", "holes"]]
    {
        assert_eq!(assert_bounded(place.path(), words), 2, "{words:?}");
    }
    let output = super::run(place.path(), "grep -a -n needle holes");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1:a needle\n");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "grep: holes: the record at byte 9 is longer than 25165824 bytes\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

/// The usual state of a log: its tail is cached, its head no longer.
#[test]
fn lines_are_printed_as_they_come_though_the_head_is_not_cached() {
    let _kept = crate::caches::kept();
    let place = workplace();
    let path = place.path().join("log");
    let line = |at: u32| format!("{at} one line of a log like others\n");
    fs::write(&path, (0..600_000).map(line).collect::<String>()).expect("written");
    let file = File::open(&path).expect("opened");
    file.sync_all().expect("on the device");
    for words in [
        &["grep", "--color=always", "-nbH", "[a-z0-9]", "log"][..],
        &["grep", "-v", "-nbH", "--linear", "x", "log"],
        &["grep", "-o", "-nbH", "[a-z0-9]", "log"],
    ] {
        let head = std::num::NonZeroU64::new(64 << 10);
        rustix::fs::fadvise(&file, 0, head, rustix::fs::Advice::DontNeed).expect("advised");
        assert_eq!(assert_bounded(place.path(), words), 0, "{words:?}");
    }
}

#[test]
fn a_tree_is_walked_as_it_is_searched() {
    let place = workplace();
    let tree = place.path().join("tree");
    fs::create_dir(&tree).expect("made");
    let one = tree.join("one");
    fs::write(&one, "a needle\n").expect("written");
    let (mut file, mut links) = (one, 0);
    for at in 0..100_000 {
        let link = tree.join(format!("{at}{}", "x".repeat(150)));
        // File systems limit the number of names of a file (65,000 on ext4).
        if fs::hard_link(&file, &link).is_err() || links == 60_000 {
            fs::write(&link, "a needle\n").expect("written");
            (file, links) = (link, 0);
        }
        links += 1;
    }
    assert_eq!(assert_bounded(place.path(), &["grep", "-r", "needle", "tree"]), 0);
    let output = super::run(place.path(), "grep -rch needle tree");
    assert_eq!(output.stdout.len(), 100_001 * 2);
}

#[test]
fn a_long_list_of_names_is_read_as_it_is_counted() {
    let place = workplace();
    fs::write(place.path().join("one"), "one line\n").expect("written");
    let mut list = File::create(place.path().join("list")).expect("created");
    list.write_all(format!("./{}one\0", "./".repeat(60)).repeat(150_000).as_bytes())
        .expect("written");
    assert_eq!(assert_bounded(place.path(), &["wc", "-l", "--files0-from=list"]), 0);
    let output = super::run(place.path(), "wc -l --files0-from=list");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!((text.lines().count(), text.lines().last()), (150_001, Some("150000 total")));
}
