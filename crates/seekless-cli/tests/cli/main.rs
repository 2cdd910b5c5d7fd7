//! Tests of the command as users run it: one binary, with a module for each verb.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a test is no verb")]

mod advise;
mod advise_planted;
mod advise_recorded;
mod advise_traces;
mod blocks;
mod caches;
mod changing;
mod closed;
mod compare;
mod curve;
mod devices;
mod doctor;
mod documents;
mod export;
mod find;
mod fits;
mod fuzzed;
mod gnu;
mod gnu_find;
mod gnu_grep;
mod gnu_wc;
mod grep;
mod holes;
mod launcher;
mod layout;
mod levels;
mod memory;
mod mount;
mod names;
#[path = "../../../seekless-record/tests/recording/odd_programs.rs"]
mod odd_programs;
mod options;
mod outputs;
mod pack;
mod packed;
mod pages;
mod pipes;
mod prices;
mod private;
mod probe;
mod programs;
mod random;
mod readahead;
mod record;
mod remote;
#[cfg(feature = "remote")]
mod remote_names;
#[cfg(feature = "remote")]
mod remote_share;
mod replay;
mod scripts;
#[path = "../../../../tests/shared_data.rs"]
mod shared_data;
mod sim;
mod sim_rows;
mod sleds;
mod start;
mod timed;
mod tour;
mod trace;
mod used_devices;
mod warm;
mod wc;

use std::path::Path;
use std::process::{Command, Output};

/// The command under test, in `directory`.
fn seekless(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    command.current_dir(directory);
    command
}

/// Runs it with `words`, split at blanks.
fn run(directory: &Path, words: &str) -> Output {
    seekless(directory).args(words.split_whitespace()).output().expect("the command starts")
}

/// The standard output of a run that must succeed.
fn printed(directory: &Path, words: &str) -> String {
    let output = run(directory, words);
    assert!(
        output.status.success(),
        "seekless {words}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// A temporary folder on the same disk as the crate.
fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Copies a program that is to be run. Not with `fs::copy`: a child that another test starts
/// meanwhile would inherit the descriptor, and the kernel runs no file that is open for writing.
fn copy_program(from: &Path, to: &Path) {
    let status = Command::new("cp").args([from, to]).status().expect("cp starts");
    assert!(status.success(), "cp {} {}", from.display(), to.display());
}

/// Writes a script that is to be run, in the same way.
fn write_script(path: &Path, text: &str) {
    let written = path.with_extension("text");
    std::fs::write(&written, text).expect("room");
    copy_program(&written, path);
    std::fs::remove_file(written).expect("ours");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
}
