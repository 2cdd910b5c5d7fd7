//! `seekless record`: what it prints, and what is left after it was killed.

use crate::{copy_program, seekless, workplace};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Output, Stdio};

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
    let output = run(
        directory.path(),
        &["record", "--method", "ptrace", "-o", "run.parquet", "--", "sh", "-c", script],
    );
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
    assert_eq!(
        std::fs::read_dir(directory.path().join("state/seekless/spool")).unwrap().count(),
        0
    );
}

#[test]
fn a_full_spool_says_what_to_do_and_keeps_what_it_took() {
    let directory = workplace();
    let work = directory.path().join("work");
    std::fs::create_dir(&work).unwrap();
    // With a limit on the size of files, later writes fail as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\"";
    let opens = "i=0; while [ $i -lt 5000 ]; do : </etc/passwd; i=$((i + 1)); done";
    let output = std::process::Command::new("sh")
        .current_dir(&work)
        .env("XDG_STATE_HOME", directory.path().join("state"))
        .args(["-c", script, env!("CARGO_BIN_EXE_seekless")])
        .args(["record", "--method", "ptrace", "-o", "run.parquet", "--", "sh", "-c", opens])
        .output()
        .unwrap();
    let said = text(&output.stderr);
    if output.status.code() == Some(125) {
        eprintln!("skipped: {said}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "the program's own status: {said}");
    assert!(said.contains("the last rows for run.parquet are lost"), "{said}");
    assert!(said.contains("state/seekless/spool/run.parquet-"), "{said}");
    assert!(said.contains("set XDG_STATE_HOME to a folder with more"), "{said}");
    let output = run(directory.path(), &["trace", "recover", "run.parquet"]);
    let said = text(&output.stdout);
    assert!(said.contains(" rows recovered") && !said.contains(": 0 rows"), "{said}");
}

#[test]
fn latencies_are_called_upper_bounds() {
    let directory = workplace();
    let output =
        run(directory.path(), &["record", "--method", "ptrace", "-o", "run.parquet", "--", "true"]);
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", text(&output.stderr));
        return;
    }
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert!(
        text(&output.stdout).contains("latencies         upper bounds"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_bad_glob_is_said_before_the_program_runs() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "--only", "[a", "--", "touch", "ran"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("\"[a\" is not a glob"), "{}", text(&output.stderr));
    assert!(!directory.path().join("work/ran").exists());
}

#[test]
fn standard_output_is_the_programs_and_cannot_hold_the_trace() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "-o", "-", "--", "touch", "ran"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(125), String::new()));
    let said = text(&output.stderr);
    assert!(said.contains("name a file, such as -o run.parquet"), "{said}");
    assert_eq!(std::fs::read_dir(directory.path().join("work")).unwrap().count(), 0, "nothing ran");
}

/// Two copies of `true`: one that would run as another user, and one with a capability.
fn privileged(folder: &Path) -> std::io::Result<[std::path::PathBuf; 2]> {
    let paths = ["setuid", "capable"].map(|name| folder.join(name));
    for path in &paths {
        copy_program(Path::new("/bin/true"), path);
    }
    std::fs::set_permissions(&paths[0], std::fs::Permissions::from_mode(0o4755))?;
    let mut net_raw = [0_u8; 20];
    net_raw[..8].copy_from_slice(&[1, 0, 0, 2, 0, 32, 0, 0]); // effective, version 2; bit 13
    rustix::fs::setxattr(
        &paths[1],
        "security.capability",
        &net_raw,
        rustix::fs::XattrFlags::empty(),
    )?;
    Ok(paths)
}

#[test]
fn programs_that_lose_their_privileges_are_named() {
    const NOBODY: u32 = 65534;
    let directory = workplace();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let Ok(programs) = privileged(directory.path()) else {
        eprintln!("skipped: only root makes files with capabilities");
        return;
    };
    let mut command = seekless(directory.path());
    command.env("XDG_STATE_HOME", directory.path().join("state")).uid(NOBODY).gid(NOBODY);
    command.args([
        "record",
        "-o",
        "run.parquet",
        "--",
        "sh",
        "-c",
        "\"$@\"; \"$2\"; \"$1\"; true",
        "sh",
    ]);
    match command.args(&programs).output() {
        Ok(output) if output.status.success() => {
            let said = text(&output.stderr);
            for (program, times) in programs.iter().zip([" (2 times)\n", "\n"]) {
                let line = format!(
                    "without its privileges, since you are not root: {}{times}",
                    program.display()
                );
                assert!(said.contains(&line), "{said}");
            }
        }
        other => eprintln!("skipped: nobody may not record here: {other:?}"),
    }
}

/// Reads a file again and again: 50 bytes at 100, through a descriptor that it had before it said
/// "ready", and a whole other file by name, from two threads.
const BUSY: &str = "
import os, sys, threading, time
held = os.open(sys.argv[1], os.O_RDONLY)
os.lseek(held, 100, 0)
def read():
    while not os.path.exists(sys.argv[2]):
        os.lseek(held, 100, 0)
        os.read(held, 50)
        with open(sys.argv[3], 'rb') as file: file.read()
        time.sleep(0.002)
threads = [threading.Thread(target=read) for _ in range(2)]
print('ready', flush=True)
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print('ended well', flush=True)
";

/// The program, and a line reader of its output.
fn busy(work: &Path) -> Option<(std::process::Child, impl std::io::BufRead + use<>)> {
    std::fs::write(work.join("held"), [b'h'; 1000]).unwrap();
    std::fs::write(work.join("named"), [b'n'; 3000]).unwrap();
    let mut program = std::process::Command::new("python3");
    program.args(["-c", BUSY, "held", "stop", "named"]).current_dir(work);
    let mut program = program.stdout(Stdio::piped()).spawn().ok()?;
    let mut said = std::io::BufReader::new(program.stdout.take()?);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut said, &mut line).unwrap();
    assert_eq!(line, "ready\n");
    Some((program, said))
}

/// Ends the program by its own rule, and checks that it ran to its end.
fn end(work: &Path, mut program: std::process::Child, mut said: impl std::io::BufRead) {
    std::fs::write(work.join("stop"), "").unwrap();
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(program.wait().unwrap().success());
    assert_eq!(rest, "ended well\n");
}

#[test]
fn a_program_that_runs_is_recorded_and_runs_on() {
    let directory = workplace();
    let work = directory.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let Some((program, said)) = busy(&work) else {
        return eprintln!("skipped: there is no python3");
    };
    let pid = program.id().to_string();
    for method in ["ebpf", "ptrace"] {
        record_busy(directory.path(), &pid, method);
    }
    end(&work, program, said);
}

/// Records the busy program by one method, and checks the rows.
fn record_busy(directory: &Path, pid: &str, method: &str) {
    let words = ["record", "--pid", pid, "--method", method, "--rows", "400", "-f", "-o"];
    let output = run(directory, &[&words[..], &["run.parquet"]].concat());
    if text(&output.stderr).contains("eBPF does not work here") {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    if text(&output.stderr).contains("may not trace") {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = run(directory, &["trace", "export", "--format", "csv", "run.parquet"]);
    let rows = text(&output.stdout);
    assert_eq!(rows.lines().count(), 401, "{}{}", rows, text(&output.stderr));
    let row = |op: &str, name: &str, rest: &str| {
        let is_it = |line: &&str| line.contains(op) && line.contains(name) && line.contains(rest);
        assert!(rows.lines().any(|line| is_it(&line)), "no {op} of {name} {rest}: {rows}");
    };
    row("read", "/held", ",100,50");
    row("load", "/named", ",3000");
}

#[test]
fn an_interrupt_ends_a_recording_and_not_its_program() {
    let directory = workplace();
    let work = directory.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let Some((program, said)) = busy(&work) else {
        return eprintln!("skipped: there is no python3");
    };
    let pid = program.id().to_string();
    let mut recorder = seekless(&work);
    recorder.env("XDG_STATE_HOME", directory.path().join("state"));
    recorder.args(["record", "--pid", &pid, "-o", "run.parquet"]);
    let recorder = recorder.stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(800));
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(recorder.id() as i32).unwrap(),
        rustix::process::Signal::INT,
    )
    .unwrap();
    let output = recorder.wait_with_output().unwrap();
    end(&work, program, said);
    if text(&output.stderr).contains("may not trace") {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(work.join("run.parquet").exists(), "{}", text(&output.stderr));
}

#[test]
fn a_process_that_is_not_there_is_named() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "--pid", "2147483647", "-o", "run.parquet"]);
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("there is no process 2147483647"));
    assert!(!directory.path().join("work/run.parquet").exists());
    let output = run(directory.path(), &["record", "--for", "soon", "--", "true"]);
    assert_eq!(output.status.code(), Some(125));
}

#[test]
fn a_limit_ends_the_rows_and_not_the_program() {
    let directory = workplace();
    let script = "for i in 1 2 3 4 5 6 7 8 9; do cat /etc/passwd >/dev/null; done; exit 7";
    let words = ["record", "--rows", "20", "-o", "run.parquet", "--", "sh", "-c", script];
    let output = run(directory.path(), &words);
    if output.status.code() == Some(125) {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    assert_eq!(output.status.code(), Some(7));
    assert!(text(&output.stderr).contains("ended by --for or --rows"), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("20 accesses"), "{}", text(&output.stderr));
}

#[test]
fn the_whole_machine_is_recorded_but_for_the_recorder() {
    let directory = workplace();
    let work = directory.path().join("work");
    std::fs::create_dir_all(work.join("in")).unwrap();
    for (name, bytes) in [("in/one.db", 3000), ("in/two.txt", 500), ("out.db", 700)] {
        std::fs::write(work.join(name), vec![b'.'; bytes]).unwrap();
    }
    let folder = work.canonicalize().unwrap().join("in");
    let mut recorder = seekless(&work);
    recorder.env("XDG_STATE_HOME", directory.path().join("state"));
    recorder.args(["record", "--system", "--exclude", "*.txt", "-o", "run.parquet", "--path"]);
    let recorder = recorder.arg(&folder).stderr(Stdio::piped()).spawn().unwrap();
    let is_there = || work.join("run.parquet").exists();
    // The recorder says when it is ready only to people, so the files are read until it has ended.
    let pid = rustix::process::Pid::from_raw(recorder.id() as i32).unwrap();
    let reader =
        "for i in $(seq 60); do cat in/one.db in/two.txt out.db; sleep 0.05; done; exec true";
    let read = std::process::Command::new("sh")
        .args(["-c", reader])
        .current_dir(&work)
        .stdout(Stdio::null())
        .status();
    assert!(read.unwrap().success() && !is_there());
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    let output = recorder.wait_with_output().unwrap();
    if text(&output.stderr).contains("eBPF does not work here") {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = seekless::trace::Trace::open(&work.join("run.parquet")).unwrap();
    assert_eq!(trace.file_names().unwrap(), [folder.join("one.db").display().to_string()]);
    let output = run(directory.path(), &["trace", "export", "--format", "csv", "run.parquet"]);
    let rows = text(&output.stdout);
    assert!(rows.lines().any(|row| row.contains(",load,") && row.contains(",3000")), "{rows}");
    let own = format!(",{},", pid.as_raw_nonzero());
    assert!(!rows.lines().any(|row| row.contains(&own)), "{rows}");
}

#[test]
fn what_programs_of_the_machine_have_open_is_named_at_the_start() {
    let directory = workplace();
    let work = directory.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("held"), vec![b'.'; 3000]).unwrap();
    let folder = work.canonicalize().unwrap();
    let mut holder = std::process::Command::new("sleep")
        .arg("60")
        .stdin(std::fs::File::open(folder.join("held")).unwrap())
        .spawn()
        .unwrap();
    let words =
        ["record", "--system", "--for", "2s", "--post", "post.parquet", "-o", "run.parquet"];
    let mut recorder = seekless(&work);
    recorder.env("XDG_STATE_HOME", directory.path().join("state"));
    let output = recorder.args(words).arg("--path").arg(folder.join("held")).output().unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    let said = text(&output.stderr);
    if said.contains("eBPF does not work here") {
        return eprintln!("skipped: {said}");
    }
    assert!(output.status.success() && said.contains("behind the page cache"), "{said}");
    let output = run(directory.path(), &["trace", "export", "--format", "csv", "run.parquet"]);
    let rows = text(&output.stdout);
    let is_open = |row: &str| row.contains(&format!(",{},", holder.id())) && row.contains(",open,");
    assert_eq!(rows.lines().filter(|row| is_open(row)).count(), 1, "{rows}");
}

#[test]
fn the_machine_is_for_the_method_that_does_not_stop_programs() {
    let directory = workplace();
    for method in ["ptrace", "notify"] {
        let words = ["record", "--system", "--method", method, "-o", "run.parquet"];
        let output = run(directory.path(), &words);
        assert_eq!(output.status.code(), Some(125));
        assert!(text(&output.stderr).contains("follow one program"), "{}", text(&output.stderr));
    }
    let words = ["record", "--pid", "1", "--method", "notify", "-o", "run.parquet"];
    let output = run(directory.path(), &words);
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("from its start"), "{}", text(&output.stderr));
    let output = run(directory.path(), &["record", "--system", "--", "true"]);
    assert_eq!(output.status.code(), Some(125), "a command and the machine");
}

#[test]
fn the_busiest_files_are_printed_where_there_is_no_terminal() {
    let directory = workplace();
    let work = directory.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(work.join("busy"), vec![b'.'; 50_000]).unwrap();
    // Until the recorder, its parent's output, has printed a table.
    let script = "for i in $(seq 110); do cat busy > /dev/null; sleep 0.1; done; echo done";
    let words = ["record", "--top", "-o", "run.parquet", "--", "sh", "-c", script];
    let output = run(directory.path(), &words);
    if output.status.code() == Some(125) {
        return eprintln!("skipped: {}", text(&output.stderr));
    }
    assert_eq!(text(&output.stdout), "done\n", "the view is not among the program's output");
    let said = text(&output.stderr);
    assert!(said.contains("all reads  all writes  all bytes  file\n"), "{said}");
    assert!(said.lines().any(|line| line.ends_with("/work/busy")), "{said}");
}
