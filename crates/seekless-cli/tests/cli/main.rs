//! The command as a user meets it: one binary for all verbs, a file each.

mod changing;
mod compare;
mod curve;
mod documents;
mod find;
mod fits;
mod gnu;
mod gnu_find;
mod gnu_grep;
mod gnu_wc;
mod grep;
mod holes;
mod memory;
mod outputs;
mod pack;
mod pipes;
mod programs;
mod record;
mod scripts;
mod sim;
mod sleds;
mod tour;
mod trace;
mod wc;

use std::path::Path;
use std::process::{Command, Output};

/// The command under test, in `directory`.
fn seekless(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seekless"));
    command.current_dir(directory);
    command
}

/// Runs it with `words` as typed, apart at blanks.
fn run(directory: &Path, words: &str) -> Output {
    seekless(directory).args(words.split_whitespace()).output().expect("the command starts")
}

/// What it printed, after it succeeded.
fn printed(directory: &Path, words: &str) -> String {
    let output = run(directory, words);
    assert!(output.status.success(), "seekless {words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A folder to work in, on the disk that the crate lies on.
fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}
