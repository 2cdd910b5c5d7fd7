//! What the tests of all our libraries for C need.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command, which must succeed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// The folder with the library of a package, built as this test is. `./test` has built it already,
/// with the packages that share its parts, and names the folder.
pub(crate) fn built_library(package: &str) -> PathBuf {
    if let Some(folder) = env::var_os("SEEKLESS_TEST_LIBRARIES") {
        return folder.into();
    }
    // The test's own libraries are named otherwise and may lie elsewhere.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let (profile, folder) =
        if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };
    run(Command::new(env!("CARGO"))
        .args(["build", "--locked", "--profile", profile, "--package", package, "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR")));
    target.join(folder)
}

pub(crate) fn has(command: &str) -> bool {
    let found =
        Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: no {command} here");
    }
    found
}

/// The functions of the header: names and declarations, each of which is one line.
pub(crate) fn declared(header: &str) -> Vec<(&str, &str)> {
    let starts = |line: &&str| !line.starts_with([' ', '/', '#', '}']);
    let named = |line| Some((str::split_once(line, '(')?.0.split([' ', '*']).next_back()?, line));
    header.lines().filter(starts).filter_map(named).collect()
}
