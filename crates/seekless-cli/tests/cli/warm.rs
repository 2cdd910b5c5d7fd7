//! `seekless warm`: lists through pipes, traces that claim too much, and an end on SIGTERM.

use super::{run, seekless, workplace};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The status and both outputs of a line of bash in `folder`, where `$seekless` is the command.
fn shell(folder: &Path, line: &str) -> (Option<i32>, String) {
    let program = seekless(folder).get_program().to_owned();
    let mut command = Command::new("bash");
    command.current_dir(folder).args(["-c", line]).env("seekless", program);
    let output = command.stdin(Stdio::null()).output().expect("bash starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn prepared() -> tempfile::TempDir {
    let folder = workplace();
    fs::create_dir(folder.path().join("tree")).unwrap();
    for name in ["a", "tree/b"] {
        fs::write(folder.path().join(name), [7; 5000]).unwrap();
    }
    folder
}

#[test]
fn a_list_may_come_through_a_pipe() {
    let folder = prepared();
    for line in [
        "echo a | $seekless warm -n -",
        "echo ./a | $seekless warm -n /dev/stdin",
        "$seekless warm -n <(echo gone; echo a)",
        "printf '../a\\0a\\0' | $seekless warm -n -",
        "find tree -print0 | $seekless warm -n -",
        "printf 'path,op,offset,bytes\\na,read,0,5000\\n' | $seekless warm -n -",
    ] {
        let (status, said) = shell(folder.path(), line);
        assert_eq!(status, Some(0), "{line}: {said}");
        assert!(said.starts_with("1 file: 5.0 KB needed"), "{line}: {said}");
    }
}

/// `-` was once read otherwise than by the verbs that import: a trace could not come so.
#[test]
fn a_trace_may_be_standard_input_if_that_is_a_file() {
    let folder = prepared();
    fs::write(folder.path().join("run.csv"), "path,op,offset,bytes\na,read,0,5000\n").unwrap();
    let made = run(folder.path(), "trace import run.csv -o run.parquet");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (status, said) = shell(folder.path(), "$seekless warm -n - <run.parquet");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.starts_with("1 file: 5.0 KB needed"), "{said}");
}

#[test]
fn what_is_no_list_is_an_error_that_says_what_a_list_needs() {
    let folder = prepared();
    fs::write(folder.path().join("words"), "no such\nfiles\n").unwrap();
    let output = run(folder.path(), "warm -n words");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    let why = "if this is a list: its first line names no file that is here";
    assert!(said.contains(why), "{said}");
}

/// Such a row once took all memory: under this limit the command then ended by a signal.
#[test]
fn a_row_that_claims_too_much_takes_no_memory() {
    let folder = prepared();
    let row = "path,op,offset,bytes\na,read,0,9223372036854775807\n";
    fs::write(folder.path().join("huge.csv"), row).unwrap();
    for words in [
        "warm -n huge.csv",
        "warm huge.csv",
        "trace diff huge.csv huge.csv",
        "export huge.csv --format vmtouch --unchecked",
        "export huge.csv --format nydus --unchecked",
    ] {
        let line = format!("ulimit -v 2000000; $seekless {words}");
        let (status, said) = shell(folder.path(), &line);
        assert_eq!(status, Some(0), "{words}: {said}");
    }
}

#[test]
fn sigterm_ends_it_while_it_waits_for_a_source() {
    let folder = prepared();
    for words in ["warm -n -", "export /dev/stdin --format dwarfs"] {
        let mut child = seekless(folder.path())
            .args(words.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let _open = child.stdin.take(); // to wait for the child would close it
        // The signal ends a process that has not yet prepared for it, too, but with no status.
        let status = format!("/proc/{}/status", child.id());
        let blocked = || {
            let text = fs::read_to_string(&status).unwrap();
            let mask = text.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap().trim();
            u64::from_str_radix(mask, 16).unwrap()
        };
        let started = Instant::now();
        while blocked() & 1 << 14 == 0 && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + 15), "{words}");
    }
}
