//! `seekless run` is never the reason that a program does not start, or behaves differently: where
//! there is no room, no folder, no descriptor; as the first process of a container; and whichever
//! call fails before the program is executed.

use crate::{seekless, workplace};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

const COMMAND: &str = env!("CARGO_BIN_EXE_seekless");
/// After this a start that hangs is killed.
const PATIENCE_S: &str = "30";

fn finished(mut command: Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `seekless run -- echo hello` below `before`, with these variables.
fn start(place: &Path, before: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", PATIENCE_S]).args(before);
    command.args([COMMAND, "run", "--", "/bin/echo", "hello"]).current_dir(place);
    command.env("XDG_STATE_HOME", place.join("state")).envs(variables.iter().copied());
    finished(command)
}

fn assert_started(name: &str, output: &Output) {
    let found = (output.status.code(), text(&output.stdout));
    assert_eq!(found, (Some(0), "hello\n".to_owned()), "{name}: {}", text(&output.stderr));
}

#[test]
fn a_program_starts_where_nothing_can_be_recorded() {
    let place = workplace();
    let place = place.path();
    fs::write(place.join("file"), "").unwrap();
    let file = place.join("file");
    let limited = |limit: &'static str| ["bash", "-c", limit, "bash"];
    let sizes = limited("ulimit -f 0; exec \"$@\"");
    let descriptors = limited("ulimit -n 8; exec \"$@\"");
    let processes = limited("ulimit -u 1; exec \"$@\"");
    let of_file = [("XDG_STATE_HOME", file.to_str().unwrap())];
    let cases = [
        ("no state folder", &[][..], &[("XDG_STATE_HOME", "/proc/nowhere")][..]),
        ("a file for a state folder", &[], &of_file),
        ("no temporary folder", &[], &[("TMPDIR", "/nowhere")]),
        ("a device for a temporary folder", &[], &[("TMPDIR", "/dev/full")]),
        ("files of no bytes", &sizes, &[]),
        ("few descriptors", &descriptors, &[]),
        ("no more processes", &processes, &[]),
        ("an empty environment", &["env", "-i"], &[]),
    ];
    for (name, before, variables) in cases {
        for turn in ["first", "second"] {
            assert_started(&format!("{name}, {turn}"), &start(place, before, variables));
        }
    }
}

#[test]
fn a_program_starts_without_a_pack_that_cannot_be_mounted() {
    let place = workplace();
    fs::create_dir(place.path().join("data")).unwrap();
    fs::write(place.path().join("no.zip"), "no archive").unwrap();
    for pack in ["absent.zip=data", "no.zip=data", "no.zip=nowhere", "no.zip"] {
        let mut command = seekless(place.path());
        command.env("XDG_STATE_HOME", place.path().join("state"));
        command.args(["run", "--mount", pack, "--", "/bin/echo", "hello"]);
        let output = finished(command);
        assert_started(pack, &output);
        assert!(text(&output.stderr).contains("starts without the packs"), "{output:?}");
    }
}

/// Waits for a child that it does not have, then for a while, and prints its children.
const FIRST_PROCESS: &str = "
import os, time
try: print('a child:', os.wait())
except ChildProcessError: print('no child')
time.sleep(1)
for number in filter(str.isdigit, os.listdir('/proc')):
    state = open(f'/proc/{number}/stat').read().rsplit(')', 1)[1].split()[0]
    if state == 'Z': print('a zombie')
";

#[test]
fn the_first_process_of_a_container_gets_no_child_and_no_zombie() {
    let place = workplace();
    fs::write(place.path().join("first.py"), FIRST_PROCESS).unwrap();
    for turn in ["first", "second", "third"] {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", PATIENCE_S, "unshare", "--pid", "--fork", "--mount-proc"]);
        command.args([COMMAND, "run", "--", "python3", "first.py"]);
        command.current_dir(place.path()).env("XDG_STATE_HOME", place.path().join("state"));
        let output = finished(command);
        let said = text(&output.stderr);
        if said.contains("unshare") || output.status.code() == Some(127) {
            println!("skipped: no namespaces of processes here, or no python3: {said}");
            return;
        }
        let printed = text(&output.stdout);
        assert_eq!((output.status.code(), printed.as_str()), (Some(0), "no child\n"), "{turn}");
    }
}

/// Calls that a kernel does not fail, or whose failure ends any program before its first line.
const UNFAILING: [&str; 22] = [
    "arch_prctl",
    "brk",
    "close",
    "exit",
    "exit_group",
    "futex",
    "getrandom",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "poll",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_getaffinity",
    "set_robust_list",
    "set_tid_address",
    "sigaltstack",
    "wait4",
];
/// Of calls of one name, this many fail in turn, evenly spread.
const OF_EACH: usize = 12;

fn error_of(call: &str) -> &'static str {
    match call {
        "write" | "pwrite64" | "mkdir" | "fsync" | "ftruncate" => "ENOSPC",
        "open" | "openat" | "pipe2" => "EMFILE",
        "clone" | "clone3" | "fork" => "EAGAIN",
        "execve" => "ENOENT",
        "bpf" | "ptrace" | "perf_event_open" => "EPERM",
        _ => "EIO",
    }
}

/// A folder for each start, whose states are all alike.
struct Starts {
    folder: tempfile::TempDir,
    /// A state folder that starts begin with.
    learned: Option<PathBuf>,
}

impl Starts {
    /// A start under strace, with one call failing; what strace noted.
    fn start(&self, failing: Option<(&str, usize)>) -> (Output, String) {
        let place = tempfile::tempdir_in(self.folder.path()).unwrap();
        let place = place.path();
        if let Some(learned) = &self.learned {
            let mut copy = Command::new("cp");
            copy.arg("-a").arg(learned).arg(place.join("state"));
            assert!(finished(copy).status.success());
        }
        let notes = place.join("notes");
        let mut words = vec!["strace".to_owned(), "-o".to_owned(), notes.display().to_string()];
        if let Some((call, number)) = failing {
            let error = error_of(call);
            let call = by_number(call);
            words.extend(["-e".to_owned(), format!("inject={call}:error={error}:when={number}")]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = start(place, &words, &[("TMPDIR", place.to_str().unwrap())]);
        (output, fs::read_to_string(&notes).unwrap_or_default())
    }
}

/// A call that this strace has no name for, as it takes it: by its number.
fn by_number(call: &str) -> String {
    let number = call.strip_prefix("syscall_0x").map(|hex| u32::from_str_radix(hex, 16).unwrap());
    number.map_or_else(|| call.to_owned(), |number| number.to_string())
}

/// The calls of the first thread before the program is executed, by name and number among those of
/// its name, without what Rust and the C library do before `main`.
fn calls(noted: &str) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut calls = Vec::new();
    let mut is_in_main = false;
    let names = noted.lines().filter_map(|line| Some((line, line.split_once('(')?.0)));
    // strace itself makes the first.
    for (line, name) in names.skip(1) {
        let releases_the_recorded_program = name == "write" && line.contains(", \"\\1\", 1)");
        if releases_the_recorded_program || executes_the_program(line) {
            break;
        }
        let number = counts.entry(name).or_default();
        *number += 1;
        is_in_main |= line.contains("rt_sigaction(SIGPIPE, {sa_handler=SIG_IGN");
        if is_in_main && !UNFAILING.contains(&name) {
            calls.push((name, *number));
        }
        is_in_main &= name != "execve";
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let kept = calls.iter().filter(|(name, _)| {
        let all = calls.iter().filter(|call| call.0 == *name).count();
        let at = seen.entry(name).or_default();
        *at += 1;
        (*at - 1).is_multiple_of(all.div_ceil(OF_EACH))
    });
    kept.copied().collect()
}

fn executes_the_program(line: &str) -> bool {
    line.starts_with("execve(") && line.contains("\"/bin/echo\"") && !line.contains("seekless")
}

/// Whether a call of the program itself failed. Where a file of /proc is shorter than it was when
/// calls were counted, a start makes fewer of them.
fn failed_in_the_program(noted: &str) -> bool {
    let mut lines = noted.lines().skip_while(|line| !executes_the_program(line));
    lines.any(|line| line.contains("(INJECTED)"))
}

/// Lets each call fail in turn.
fn sweep(starts: &Starts, turn: &str) {
    let (output, noted) = starts.start(None);
    if noted.is_empty() {
        println!("skipped: no strace that works: {}", text(&output.stderr));
        return;
    }
    assert_started(turn, &output);
    let calls = calls(&noted);
    assert!(calls.len() > 50, "{turn}: {calls:?}");
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&(call, number)) = calls.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (output, noted) = starts.start(Some((call, number)));
            if !failed_in_the_program(&noted) {
                assert_started(&format!("{turn}, {call} {number}"), &output);
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
}

#[test]
fn a_program_starts_whichever_call_before_it_fails() {
    let folder = workplace();
    let learned = folder.path().join("learned");
    let mut starts = Starts { folder, learned: None };
    sweep(&starts, "a first start");
    let mut first = Command::new(COMMAND);
    first.args(["run", "--", "/bin/echo", "hello"]).env("XDG_STATE_HOME", &learned);
    assert_started("a start without strace", &finished(first));
    starts.learned = Some(learned);
    sweep(&starts, "a later start");
}
