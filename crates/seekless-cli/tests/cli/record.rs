//! `seekless record`: what a user sees of it, and finds after it was killed.

use crate::{seekless, workplace};
use std::path::Path;
use std::process::Output;

/// Runs the command with its state in a folder of its own.
fn run(directory: &Path, words: &[&str]) -> Output {
    let work = directory.join("work");
    std::fs::create_dir_all(&work).unwrap();
    seekless(&work).env("XDG_STATE_HOME", directory.join("state")).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_killed_recording_is_found_by_its_output() {
    let directory = workplace();
    let script = "cat /etc/passwd >/dev/null; sleep 1; kill -9 $PPID; sleep 60";
    let output = run(directory.path(), &["record", "-o", "run.parquet", "--", "sh", "-c", script]);
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", text(&output.stderr));
        return;
    }
    assert_eq!(output.status.code(), None, "it was killed: {}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(directory.path().join("work")).unwrap().count(), 0);
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert!(output.status.success());
    assert!(
        text(&output.stderr).contains("`seekless trace recover run.parquet`"),
        "{}",
        text(&output.stderr)
    );
    let output = run(directory.path(), &["trace", "recover", "run.parquet"]);
    assert!(text(&output.stdout).starts_with("run.parquet: "), "{}", text(&output.stderr));
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert_eq!((output.status.success(), text(&output.stderr)), (true, String::new()));
    assert_eq!(std::fs::read_dir(directory.path().join("state/seekless/spool")).unwrap().count(), 0);
}

#[test]
fn latencies_are_called_upper_bounds() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "-o", "run.parquet", "--", "true"]);
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", text(&output.stderr));
        return;
    }
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert!(text(&output.stdout).contains("latencies         upper bounds"), "{}", text(&output.stdout));
}
