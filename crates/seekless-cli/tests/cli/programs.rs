//! The command is two programs: `seekless`, which starts quickly, and `seekless-verbs`, which it
//! becomes.

use super::{printed, seekless, workplace};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// A copy of `seekless` without `seekless-verbs`, in a folder of its own.
fn alone(folder: &Path) -> Command {
    let copy = folder.join("seekless");
    fs::copy(env!("CARGO_BIN_EXE_seekless"), &copy).expect("room");
    Command::new(copy)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn alone_it_counts_searches_and_finds_and_says_what_the_other_verbs_need() {
    let folder = workplace();
    fs::write(folder.path().join("a"), "one\n").expect("room");
    let output =
        alone(folder.path()).current_dir(folder.path()).args(["wc", "-l", "a"]).output().expect("it starts");
    assert_eq!(output.stdout, b"1 a\n");
    let output = alone(folder.path()).args(["sim", "a"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("seekless-verbs: No such file"), "{}", said(&output));
    assert!(said(&output).contains("install it beside seekless"), "{}", said(&output));
}

#[test]
fn through_a_link_elsewhere_it_finds_the_other_verbs() {
    let folder = workplace();
    let link = folder.path().join("seekless");
    symlink(env!("CARGO_BIN_EXE_seekless"), &link).expect("a link");
    let output = Command::new(&link).arg("--version").output().expect("it starts");
    assert!(output.stdout.starts_with(b"seekless "), "{}", said(&output));
}

#[test]
fn it_is_position_independent_and_stripped() {
    for program in [env!("CARGO_BIN_EXE_seekless"), env!("CARGO_BIN_EXE_seekless-verbs")] {
        let bytes = fs::read(program).expect("the program");
        let kind = u16::from_le_bytes([bytes[16], bytes[17]]);
        assert_eq!(kind, 3, "{program} is not ET_DYN");
        if !cfg!(debug_assertions) {
            let holds = |name: &[u8]| memchr::memmem::find(&bytes, name).is_some();
            assert!(!holds(b"\0.symtab\0") && !holds(b"\0.debug_info\0"), "{program} holds symbols");
        }
    }
}

/// A recorded program inherits the state in which the command was started: SIGPIPE ignored or not,
/// standard streams open or closed.
#[test]
fn the_other_program_gets_what_the_first_was_started_with() {
    let folder = workplace();
    let script =
        "grep -i SigIgn /proc/self/status > ignored; test -e /proc/self/fd/0 && echo open || echo closed";
    fs::write(folder.path().join("look.sh"), script).expect("room");
    let record = format!("{} record -o run.parquet", env!("CARGO_BIN_EXE_seekless"));
    for (how, streams, pipe_ignored) in
        [("", "open", false), ("trap '' PIPE;", "open", true), ("exec <&-;", "closed", false)]
    {
        let shell = format!("{how} {record} -- sh look.sh");
        let output = Command::new("sh").args(["-c", &shell]).current_dir(folder.path()).output().expect("sh");
        if said(&output).contains("may not trace") {
            eprintln!("skipped: recording is not possible here");
            return;
        }
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{streams}\n"),
            "{how}: {}",
            said(&output)
        );
        let ignored = fs::read_to_string(folder.path().join("ignored")).expect("written");
        let mask =
            u64::from_str_radix(ignored.split_whitespace().nth(1).expect("a mask"), 16).expect("hexadecimal");
        assert_eq!(mask >> 12 & 1 == 1, pipe_ignored, "{how} {ignored}");
        fs::remove_file(folder.path().join("run.parquet")).expect("recorded");
    }
}

#[test]
fn completions_name_the_verbs() {
    let folder = workplace();
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(folder.path(), &format!("completions {shell}"));
        assert!(script.contains("compare") && script.contains("sleds"), "{shell}");
    }
    let output = seekless(folder.path()).args(["completions", "tcsh"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
}
