//! Programs that do what a recorder could disturb. Each prints and exits the same with and without
//! the recorder. These tests leave out the differences that `record --help` lists, but such a
//! program must still run.

use crate::odd_programs::{PYTHON, SHELL};
use crate::support::{Place, has, program, recorder, skip};
use std::process::{Command, Output, Stdio};

/// After this a run that hangs is killed.
const PATIENCE_S: &str = "120";

/// The result of a run in a fresh folder.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    status: String,
    out: String,
    err: String,
}

fn run(mut command: Command) -> Run {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run { status: status.to_string(), out: text(stdout), err: text(stderr) }
}

/// Runs a command in a folder of its own, with or without the recorder.
fn run_in_place(words: &[&str], recorded: bool) -> Run {
    let place = Place::new();
    let mut command = place.command("timeout");
    command.args(["--foreground", "-s", "KILL", PATIENCE_S]);
    if recorded {
        command.arg(recorder()).arg(place.output()); // among the program's own files
    }
    command.args(words);
    let run = run(command);
    if recorded {
        assert!(place.spools().is_empty(), "{words:?}: {run:?}");
    }
    run
}

/// Runs each case with and without the recorder, and fails with all that differ.
fn assert_alike(cases: &[(&str, Vec<&str>)]) {
    let mut different = Vec::new();
    for (name, words) in cases {
        let [plain, recorded] = [false, true].map(|recorded| run_in_place(words, recorded));
        if plain != recorded {
            different.push(format!("{name}: {plain:#?} and recorded {recorded:#?}"));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {} differ: {}",
        different.len(),
        cases.len(),
        different.join("\n")
    );
}

#[test]
fn odd_programs_do_the_same() {
    let Some(odd) = program("odd", &["-lpthread"]) else { skip!("no C compiler") };
    let odd = odd.to_str().unwrap();
    let modes = Command::new(odd).output().unwrap().stdout;
    let modes = String::from_utf8(modes).unwrap();
    let cases: Vec<(&str, Vec<&str>)> = modes.lines().map(|mode| (mode, vec![odd, mode])).collect();
    assert!(cases.len() >= 33, "{}", cases.len());
    assert_alike(&cases);
}

#[test]
fn shell_scripts_do_the_same() {
    let cases: Vec<(&str, Vec<&str>)> =
        SHELL.iter().map(|(name, script)| (*name, vec!["sh", "-c", script])).collect();
    assert_alike(&cases);
}

#[test]
fn python_programs_do_the_same() {
    if !has("python3", "--version") {
        skip!("no python3");
    }
    let cases: Vec<(&str, Vec<&str>)> =
        PYTHON.iter().map(|(name, script)| (*name, vec!["python3", "-c", script])).collect();
    assert_alike(&cases);
}
