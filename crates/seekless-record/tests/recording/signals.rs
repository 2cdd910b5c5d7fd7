//! The program's signals, terminal stops and exit status are its own.

use crate::support::{Place, Recording, Working, has, helper, recorder, skip, succeed};
use seekless_trace::Op;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn mode(place: &Place, words: &[&str]) -> Option<Command> {
    let helper = helper("dynamic")?.to_str().unwrap();
    Some(place.recorder(&[&[helper], words].concat()))
}

#[test]
fn exit_codes_pass_through() {
    let place = Place::new();
    for code in ["0", "1", "125", "255"] {
        let Some(mut command) = mode(&place, &["exits", code]) else { skip!("no C compiler") };
        assert_eq!(command.status().unwrap().code(), Some(code.parse().unwrap()));
        assert_eq!(
            place.recording().trace.metadata().runs[0].exit_status,
            Some(code.parse().unwrap())
        );
        std::fs::remove_file(place.output()).unwrap();
    }
}

#[test]
fn a_death_by_signal_is_died_again_after_the_trace_is_complete() {
    for signal in [libc::SIGTERM, libc::SIGSEGV, libc::SIGKILL, libc::SIGPIPE, libc::SIGRTMIN() + 2]
    {
        let place = Place::new();
        let Some(mut command) = mode(&place, &["dies", &signal.to_string()]) else {
            skip!("no C compiler")
        };
        assert_eq!(command.status().unwrap().signal(), Some(signal));
        assert!(!place.recording().accesses.is_empty());
        assert!(place.spools().is_empty());
        place.close();
    }
}

/// A second Ctrl-C while the trace was being written once lost the trace.
/// Why a test with SIGINT cannot be made.
const IGNORED: &str =
    "SIGINT is ignored here, as in a background job, and so by all that is started";

#[test]
fn signals_after_the_programs_end_do_not_lose_the_trace() {
    use std::io::Read;
    if is_ignored(libc::SIGINT) {
        skip!("{IGNORED}");
    }
    let place = Place::new();
    for _ in 0..5 {
        let mut command = place.recorder(&["sh", "-c", "echo up; exec sleep 30"]);
        let mut recorder = command.stdout(Stdio::piped()).spawn().unwrap();
        recorder.stdout.as_mut().unwrap().read_exact(&mut [0; 3]).unwrap();
        let pid = i32::try_from(recorder.id()).unwrap();
        let status = loop {
            if let Some(status) = recorder.try_wait().unwrap() {
                break status;
            }
            seekless_sys::signals::send(pid, libc::SIGINT).unwrap();
            std::thread::sleep(Duration::from_micros(500));
        };
        // The shell may see the signal, too, and exit by itself.
        assert!(
            [status.signal(), status.code().map(|code| code - 128)].contains(&Some(libc::SIGINT)),
            "{status:?}"
        );
        assert!(!place.recording().accesses.is_empty());
        assert!(place.spools().is_empty());
        std::fs::remove_file(place.output()).unwrap();
    }
}

#[test]
fn a_program_that_cannot_run_leaves_nothing() {
    let place = Place::new();
    std::fs::write(place.root.join("plain"), "no program").unwrap();
    for (program, code) in
        [("./plain", 126), ("/nonexistent/program", 127), ("no-such-program-anywhere", 127)]
    {
        let output = place.recorder(&[program]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(program));
        assert!(!place.output().exists() && place.spools().is_empty());
    }
}

/// The recorder's message when it refuses before the program runs.
fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_there_is_not_overwritten_unasked() {
    let place = Place::new();
    let make = place.root.join("ran");
    std::fs::write(place.output(), "precious").unwrap();
    let said = refused(place.recorder(&["mkdir"]).arg(&make));
    assert!(said.contains("run.parquet") && said.contains("--force"), "{said}");
    assert_eq!(std::fs::read(place.output()).unwrap(), b"precious");
    assert!(!make.exists());
    succeed(place.recorder(&["--force", "mkdir"]).arg(&make));
    assert!(!place.recording().accesses.is_empty());
}

#[test]
fn what_a_killed_recording_left_is_not_overwritten_unasked() {
    let place = Place::new();
    let Some(command) = mode(&place, &["waits", "file"]) else { skip!("no C compiler") };
    let working = Working::start(command);
    let said = refused(&mut place.recorder(&["--force", "true"]));
    assert!(
        said.contains("is being written by another recording"),
        "one that runs is not overwritten at all: {said}"
    );
    working.signal_recorder(libc::SIGKILL);
    working.end();
    let said = refused(&mut place.recorder(&["true"]));
    assert!(said.contains("trace recover") && said.contains("--force"), "{said}");
    assert_eq!(place.spools().len(), 1);
    succeed(&mut place.recorder(&["--force", "true"]));
    assert!(place.spools().is_empty() && place.output().exists());
}

#[test]
fn an_output_that_cannot_be_written_is_said_before_the_program_runs() {
    let place = Place::new();
    let make = place.root.join("ran");
    for output in [place.root.join("missing/run.parquet"), place.root.clone(), "/dev/null".into()] {
        let mut command = place.command(recorder());
        let said = refused(command.arg(&output).args(["--force", "mkdir"]).arg(&make));
        assert!(said.contains(output.to_str().unwrap()), "{said}");
        assert!(!make.exists() && place.spools().is_empty());
    }
}

/// A shell that changes a limit or setting and then executes the recorder.
fn shell(place: &Place, first: &str, script: &str) -> std::process::Output {
    let become_recorder = format!("{first}; exec \"$@\"");
    let mut shell = place.command("sh");
    shell.args(["-c", &become_recorder, "sh"]).arg(recorder()).arg(place.output());
    shell.args(["sh", "-c", script]).output().unwrap()
}

#[test]
fn what_was_ignored_or_closed_stays_so() {
    let states = "kill -PIPE $$; for fd in 0 1 2; do test -e /proc/self/fd/$fd && echo $fd > has$fd; done; :";
    let place = Place::new();
    let output = shell(&place, "trap '' PIPE; exec <&-", states);
    assert!(output.status.success(), "{output:?}");
    assert!(!place.root.join("has0").exists() && place.root.join("has1").exists());

    let place = Place::new();
    assert_eq!(shell(&place, ":", "kill -PIPE $$").status.signal(), Some(libc::SIGPIPE));
}

/// Whether a message says that the spool is full: at the start, or that rows are lost for it. The
/// recorder's example prints no causes.
fn is_reported_full(said: &str) -> bool {
    said.contains("the spool has no room left: free some in its folder")
        || said.contains("the last rows for")
}

#[test]
fn a_limit_of_file_sizes_ends_the_trace_but_not_the_program() {
    for blocks in [0, 1, 8] {
        let place = Place::new();
        let output = shell(&place, &format!("ulimit -f {blocks}"), "mkdir ran; echo done; exit 5");
        let said = String::from_utf8_lossy(&output.stderr);
        let ran = place.root.join("ran").exists();
        assert_eq!(output.status.code(), Some(if ran { 5 } else { 125 }), "{output:?}");
        assert_eq!((output.stdout == b"done\n", place.spools().len()), (ran, usize::from(ran)));
        assert!(said.contains("cannot be written") || is_reported_full(&said), "{said}");
        assert_eq!(said.contains("`seekless trace recover"), ran);
    }
}

/// The program reads a thousand times and exits with 7. `full` is a file system of 16 KiB.
fn on_a_full_disk(place: &Place, full: &Path) -> Option<std::process::Output> {
    let helper = helper("dynamic")?;
    let within =
        "mount -t tmpfs -o size=16k none \"$1\" || exit 77; full=$1; shift; \"$@\"; code=$?
        mkdir -p kept; cp -r \"$full\"/. kept; exit $code";
    let mut command = place.command("unshare");
    command
        .args(["--mount", "--propagation", "private", "sh", "-c", within, "sh"])
        .arg(full)
        .arg(recorder());
    command
        .arg(place.root.join("out/run.parquet"))
        .args(["sh", "-c", "\"$@\"; exit 7", "sh"])
        .arg(helper);
    let output = command.args(["preads", "file", "5000", "10000"]).output().ok()?;
    Some(output).filter(|output| output.status.code() != Some(77))
}

#[test]
fn a_full_disk_ends_the_trace_but_not_the_program() {
    for full in ["out", "state"] {
        let place = Place::new();
        std::fs::create_dir(place.root.join("out")).unwrap();
        let disk = if full == "out" { place.root.join("out") } else { place.state.clone() };
        let Some(output) = on_a_full_disk(&place, &disk) else {
            skip!("no C compiler, or no tmpfs may be mounted")
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(7), "{said}");
        // The output cannot be written where it lies on the full disk; else the spool cannot.
        let is_reported = if full == "out" {
            said.contains("cannot be written")
        } else {
            is_reported_full(&said)
        };
        assert!(is_reported && said.contains("`seekless trace recover"), "{full}: {said}");
        let kept = place.root.join("kept/seekless/spool");
        let mut left = place.spools();
        left.extend(
            std::fs::read_dir(kept).into_iter().flatten().map(|entry| entry.unwrap().path()),
        );
        assert_eq!(left.len(), 1, "{full}");
        let rows = Recording::open(&left[0]).accesses.len();
        assert_eq!(rows >= 5000, full == "out", "{rows} rows are kept");
    }
}

#[test]
fn signals_that_the_recorder_has_no_use_for_are_the_programs() {
    for signal in [libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM] {
        let place = Place::new();
        let Some(command) = mode(&place, &["waits", "file"]) else { skip!("no C compiler") };
        let working = Working::start(command);
        let program = format!("/proc/{}", working.program());
        working.signal_recorder(signal);
        while Path::new(&program).exists() {
            std::thread::sleep(Duration::from_millis(1)); // else its input could end before it
        }
        assert_eq!(working.end().signal(), Some(signal));
        assert!(place.spools().is_empty());
    }
}

#[test]
fn signals_interrupt_the_calls_that_they_would_interrupt_without_a_recorder() {
    let place = Place::new();
    let Some(recording) = place.record_mode(&["alarms", "file"]) else { skip!("no C compiler") };
    // A call that a signal put off is reported again.
    assert!(recording.count(&place.file(), Op::Open) >= 4000);
    assert_eq!(recording.count(&place.file(), Op::Close), 4000);
}

#[test]
fn real_time_signals_arrive() {
    let place = Place::new();
    let Some(mut command) = mode(&place, &["realtime"]) else { skip!("no C compiler") };
    assert_eq!(command.status().unwrap().code(), Some(10));
}

/// Ctrl-C on a terminal reaches the whole process group; `kill` may reach the recorder alone. The
/// program gets the signal once in either case.
#[test]
fn an_interrupt_reaches_the_program_exactly_once() {
    for (to_group, signal) in [(true, libc::SIGINT), (false, libc::SIGINT), (false, libc::SIGTERM)]
    {
        if signal == libc::SIGINT && is_ignored(signal) {
            eprintln!("skipped: {IGNORED}");
            continue;
        }
        let place = Place::new();
        let Some(mut command) = mode(&place, &["interrupted"]) else { skip!("no C compiler") };
        command.process_group(0);
        let working = Working::start(command);
        assert_eq!(working.said, "ready");
        let id = working.recorder_id();
        seekless_sys::signals::send(if to_group { -id } else { id }, signal).unwrap();
        assert_eq!(working.end().code(), Some(1), "to the group: {to_group}");
        assert!(!place.recording().accesses.is_empty());
    }
}

fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (signal - 1) & 1 == 1
}

#[test]
fn a_stopped_program_stays_stopped_until_it_is_continued() {
    for signal in [libc::SIGSTOP, libc::SIGTSTP] {
        let place = Place::new();
        let Some(mut command) = mode(&place, &["waits", "file"]) else { skip!("no C compiler") };
        command.stdin(Stdio::piped()).process_group(0);
        let working = Working::start(command);
        let program = working.program();
        seekless_sys::signals::send(program, signal).unwrap();
        await_state(program, |state| matches!(state, 'T' | 't'));
        seekless_sys::signals::send(program, libc::SIGCONT).unwrap();
        await_state(program, |state| !matches!(state, 'T' | 't'));
        assert_eq!(working.end().code(), Some(0));
        assert_eq!(place.recording().ranges(&place.file(), Op::Read), [(0, 5)]);
    }
}

fn await_state(pid: i32, wanted: impl Fn(char) -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap();
        if wanted(state) {
            return;
        }
        assert!(Instant::now() < patience, "still in state {state}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_shell_stops_and_continues_the_job() {
    let Some(helper) = helper("dynamic") else { skip!("no C compiler") };
    if !has("python3", "--version") || !has("bash", "--version") {
        skip!("no python3 or bash to play the user");
    }
    let place = Place::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recording/terminal.py");
    let mut user = place.command("python3");
    let output = succeed(user.arg(script).arg(recorder()).arg(helper).arg(place.output()));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1", "one interrupt");
    assert!(!place.recording().accesses.is_empty());
}
