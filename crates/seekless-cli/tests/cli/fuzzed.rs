//! The fuzz targets that read the command lines of GNU's tools, over their seeds and mutations of
//! them, in a process that cannot have much memory; `fuzz/README.md` says how to fuzz for longer.

use super::workplace;
use drive::drive;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::Command;

#[path = "../../../../fuzz/src/drive.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets' own crate exports what this file holds")]
mod drive;
#[path = "../../../../fuzz/src/options.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets' own crate exports what this file holds")]
mod options;

/// Of addresses, the program and its libraries included; automata may take some hundreds of MiB.
const ADDRESSES_MAX: u64 = 1 << 30;

/// Runs a test of those below in a process of its own.
fn apart(test: &str) {
    let place = workplace();
    let mut command = Command::new(std::env::current_exe().expect("its path"));
    command.args(["--exact", test, "--ignored", "--nocapture"]).current_dir(place.path());
    let output = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("mutations"), "{}", text(&output.stdout));
    let left = std::fs::read_dir(place.path()).expect("there").count();
    assert_eq!(left, 0, "files were written");
}

fn with_little_memory(target: &str, body: fn(&[u8])) {
    let limit = Rlimit { current: Some(ADDRESSES_MAX), ..getrlimit(Resource::As) };
    setrlimit(Resource::As, limit).expect("lowered");
    drive(target, body);
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn wc() {
    with_little_memory("options_wc", options::wc);
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn grep() {
    with_little_memory("options_grep", options::grep);
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn find() {
    with_little_memory("options_find", options::find);
}

#[test]
fn any_words_of_wc() {
    apart("fuzzed::wc");
}

#[test]
fn any_words_of_grep() {
    apart("fuzzed::grep");
}

#[test]
fn any_words_of_find() {
    apart("fuzzed::find");
}
