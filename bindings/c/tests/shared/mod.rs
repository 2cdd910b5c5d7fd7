//! What the tests of all our libraries for C need.

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
