//! `seekless run` and `seekless profiles`: programs do the same under it, and what they need is
//! learned and brought in.

use crate::odd_programs::{PYTHON, SHELL};
use crate::{copy_program, seekless, workplace};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// After this a run that hangs is killed.
const PATIENCE_S: &str = "120";
const PATIENCE: Duration = Duration::from_secs(20);
const MIB: usize = 1 << 20;

/// A folder for programs to run in, and one for what is learned.
struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
    state: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = workplace();
        let [root, state] =
            ["root", "state"].map(|name| folder.path().canonicalize().unwrap().join(name));
        fs::create_dir(&root).unwrap();
        Self { _folder: folder, root, state }
    }

    /// `seekless run` with these options and a program.
    fn run(&self, options: &[&str], program: &[&str]) -> Output {
        let mut command = Command::new("timeout");
        command.args(["--foreground", "-s", "KILL", PATIENCE_S, env!("CARGO_BIN_EXE_seekless")]);
        command.arg("run").args(options).arg("--").args(program);
        self.output(command)
    }

    fn output(&self, mut command: Command) -> Output {
        command.current_dir(&self.root).env("XDG_STATE_HOME", &self.state);
        command.stdin(Stdio::null()).output().unwrap()
    }

    fn profiles(&self, words: &[&str]) -> serde_json::Value {
        let output = seekless(&self.root)
            .env("XDG_STATE_HOME", &self.state)
            .arg("profiles")
            .args(words)
            .arg("--json")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The profile that was learned first.
    fn profile(&self) -> PathBuf {
        let entries = fs::read_dir(self.state.join("seekless/profiles")).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|it| it == "parquet")).unwrap()
    }

    /// Waits until the profiles have this many runs in all: helpers outlive their programs a
    /// little.
    fn await_runs(&self, runs: u64) {
        let started = Instant::now();
        let known = || {
            let listed = self.profiles(&[]);
            let each = listed.as_array().unwrap().iter();
            each.map(|kept| kept["runs"].as_u64().unwrap()).sum::<u64>()
        };
        while known() != runs {
            assert!(started.elapsed() < PATIENCE, "{} of {runs} runs", known());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How a program ended, and what it printed.
fn shown(output: Output) -> (String, String, String) {
    (output.status.to_string(), text(&output.stdout), text(&output.stderr))
}

/// Runs each program alone, under its first `run`, which records it, and under its second, beside
/// a helper.
fn assert_alike(cases: &[(&str, Vec<&str>)]) {
    let mut different = Vec::new();
    for (name, words) in cases {
        let plain = {
            let place = Place::new();
            let mut command = Command::new("timeout");
            command.args(["--foreground", "-s", "KILL", PATIENCE_S]).args(words);
            shown(place.output(command))
        };
        let place = Place::new();
        for turn in ["first", "second"] {
            fs::remove_dir_all(&place.root).unwrap();
            fs::create_dir(&place.root).unwrap();
            let run = shown(place.run(&[], words));
            if run != plain {
                different.push(format!("{name}, {turn} run: {plain:#?} and {run:#?}"));
            }
        }
    }
    let of = cases.len();
    assert!(different.is_empty(), "{} of {of} differ: {}", different.len(), different.join("\n"));
}

/// The program of odd modes, which the tests of the recorder have; `None` without a C compiler.
fn odd() -> Option<PathBuf> {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../seekless-record/tests/recording/odd.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = folder.join(format!("odd-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-w", "-o"]).arg(&built).arg(source).arg("-lpthread");
    compiler.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(built)
}

#[test]
fn odd_programs_do_the_same_under_run() {
    let Some(odd) = odd() else {
        eprintln!("skipped: no C compiler");
        return;
    };
    let word = odd.to_str().unwrap();
    let modes = text(&Command::new(&odd).output().unwrap().stdout);
    let cases: Vec<(&str, Vec<&str>)> =
        modes.lines().map(|mode| (mode, vec![word, mode])).collect();
    assert!(cases.len() >= 33, "{}", cases.len());
    assert_alike(&cases);
    fs::remove_file(&odd).unwrap();
}

#[test]
fn scripts_do_the_same_under_run() {
    let shell = SHELL.iter().map(|(name, script)| (*name, vec!["sh", "-c", script]));
    let python = PYTHON.iter().map(|(name, script)| (*name, vec!["python3", "-c", script]));
    assert_alike(&shell.chain(python).collect::<Vec<_>>());
}

/// Maps the file `data` and touches a byte in every fourth MiB; with another word it only waits for
/// the file `go`.
const SPARSE: &str = "import mmap, os, sys, time
if len(sys.argv) > 1:
    while not os.path.exists('go'): time.sleep(0.01)
    sys.exit(0)
f = open('data', 'rb')
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
print(sum(m[at] for at in range(0, len(m), 4 << 20)))
";

/// A device on which the kernel's readahead costs much, and only the files in this folder: these
/// tests must not depend on whether Python's own are cached.
const SLOW: [&str; 4] = ["--device", "iops=100,bandwidth=10MB", "--within", "."];

/// A place with a file of 64 MiB that is not cached, and a script that needs 16 parts of it.
fn sparse() -> (Place, PathBuf) {
    let place = Place::new();
    let data = place.root.join("data");
    fs::write(&data, vec![1_u8; 64 * MIB]).unwrap();
    fs::write(place.root.join("sparse.py"), SPARSE).unwrap();
    drop_cached(&data);
    std::thread::sleep(Duration::from_millis(20)); // else it changed within the run's first tick
    (place, data)
}

fn drop_cached(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    seekless::sys::residency::drop_cached(file.as_fd()).unwrap();
}

fn cached_bytes(path: &Path) -> u64 {
    let file = File::open(path).unwrap();
    seekless::sys::residency::resident_bytes(file.as_fd()).unwrap().unwrap_or(0)
}

/// Whether this machine has what these tests need, learned by a first start.
fn learned(place: &Place) -> bool {
    let output = place.run(&SLOW, &["python3", "sparse.py"]);
    let works = output.status.success() && text(&output.stdout) == "16\n";
    if !works {
        eprintln!("skipped: no python3, or no recording: {output:?}");
        return false;
    }
    let listed = place.profiles(&[]);
    let shown = place.profiles(&["show", listed[0]["name"].as_str().unwrap()]);
    let files = shown["files"].as_array().unwrap();
    let data = files.iter().find(|file| file["path"].as_str().unwrap().ends_with("/data"));
    match data {
        Some(data) => {
            assert_eq!(data["needed_bytes"].as_u64(), Some(16 * 65_536), "{data}");
            true
        }
        None => {
            eprintln!("skipped: page faults are not told here");
            false
        }
    }
}

#[test]
fn the_needed_parts_alone_are_brought_in_beside_the_program() {
    let _kept = crate::caches::kept();
    let (place, data) = sparse();
    if !learned(&place) {
        return;
    }
    // Another argument of the same shape: the program does not touch the file this time.
    let profile = place.profile();
    let words =
        [&SLOW[..], &["--explain", "--json", "--profile", profile.to_str().unwrap()]].concat();
    drop_cached(&data);
    let needed = 16 * 65_536;
    let most = std::thread::scope(|scope| {
        let run = scope.spawn(|| place.run(&words, &["python3", "sparse.py", "wait"]));
        let most = most_cached(&data, needed);
        fs::write(place.root.join("go"), "").unwrap();
        let output = run.join().unwrap();
        assert!(output.status.success(), "{output:?}");
        let decision: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(decision["warms"], true, "{decision}");
        most
    });
    assert_eq!(most, needed, "each part, and nothing around it");
}

/// What the profile's flat form says all about needs no other program of ours.
#[test]
fn the_small_program_alone_brings_them_in_too() {
    let _kept = crate::caches::kept();
    let (place, data) = sparse();
    if !learned(&place) {
        return;
    }
    let profile = place.profile();
    let words = [&SLOW[..2], &["--profile", profile.to_str().unwrap()]].concat();
    // The whole command keeps the flat form.
    assert!(place.run(&words, &["python3", "sparse.py"]).status.success());
    let alone = place.root.join("seekless");
    copy_program(Path::new(env!("CARGO_BIN_EXE_seekless")), &alone);
    drop_cached(&data);
    let needed = 16 * 65_536;
    let most = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let mut command = Command::new(&alone);
            command.arg("run").args(&words).args(["--", "python3", "sparse.py", "wait"]);
            place.output(command)
        });
        let most = most_cached(&data, needed);
        fs::write(place.root.join("go"), "").unwrap();
        let output = run.join().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        most
    });
    assert_eq!(most, needed, "each part, and nothing around it");
}

/// The most bytes of the file that are seen to be cached until a little after `needed` of them are:
/// some kernels take idle pages back within moments.
fn most_cached(data: &Path, needed: u64) -> u64 {
    let (started, mut most) = (Instant::now(), 0);
    let mut end = started + PATIENCE;
    while Instant::now() < end {
        let before = most;
        most = most.max(cached_bytes(data));
        if before < needed && most >= needed {
            end = Instant::now() + Duration::from_millis(300);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    most
}

#[test]
fn a_dry_run_starts_nothing_and_a_cached_start_is_left_alone() {
    let _kept = crate::caches::kept();
    let (place, data) = sparse();
    if !learned(&place) {
        return;
    }
    let dry = [&SLOW[..], &["--dry-run", "--json"]].concat();
    let decided = |place: &Place| -> serde_json::Value {
        let output = place.run(&dry, &["python3", "sparse.py"]);
        serde_json::from_slice(&output.stdout).expect("the decision alone")
    };
    let cached = decided(&place);
    assert_eq!((cached["warms"].as_bool(), cached["runs"].as_u64()), (Some(false), Some(1)));
    drop_cached(&data);
    let cold = decided(&place);
    assert_eq!(cold["warms"], true, "{cold}");
    let figure = |of: &str, name: &str| cold[of][name].as_f64().unwrap();
    assert!(figure("warmed", "seconds") < figure("plain", "seconds"), "{cold}");
    assert_eq!(cached_bytes(&data), 0);
}

#[test]
fn a_file_that_changed_is_left_out() {
    let _kept = crate::caches::kept();
    let (place, data) = sparse();
    if !learned(&place) {
        return;
    }
    fs::write(&data, vec![2_u8; 64 * MIB]).unwrap();
    drop_cached(&data);
    let dry = [&SLOW[..], &["--dry-run", "--json"]].concat();
    let output = place.run(&dry, &["python3", "sparse.py"]);
    let decision: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(decision["warms"], false, "{decision}");
    assert_eq!(decision["left_out"]["changed since it was recorded"], 1, "{decision}");
    assert!(decision["changed_share"].as_f64().unwrap() > 0.1, "{decision}");
}

#[test]
fn later_starts_add_what_they_touched() {
    let (place, _) = sparse();
    if !learned(&place) {
        return;
    }
    place.await_runs(1);
    for runs in [2, 3] {
        assert_eq!(text(&place.run(&[], &["python3", "sparse.py"]).stdout), "16\n");
        place.await_runs(runs);
    }
    // Now the profile is fresh, and nothing more is recorded.
    let output = place.run(&["--explain"], &["python3", "sparse.py"]);
    assert!(text(&output.stderr).contains("recording: none, since the profile is fresh"));
}

#[test]
fn without_recording_nothing_is_written() {
    let place = Place::new();
    let output = place.run(&["--no-record"], &["sh", "-c", "echo out; exit 7"]);
    assert_eq!(shown(output), ("exit status: 7".into(), "out\n".into(), String::new()));
    assert!(!place.state.exists());
}

#[test]
fn its_own_failures_have_the_exit_codes_of_env() {
    let place = Place::new();
    for options in [&[][..], &["--no-record"]] {
        let code = |program: &str| place.run(options, &[program]).status.code();
        assert_eq!(code("./no-such-program"), Some(127));
        assert_eq!(code("/"), Some(126));
    }
    let dry = place.run(&["--profile", "/dev/null", "--dry-run"], &["true"]);
    assert_eq!(dry.status.code(), Some(125), "{dry:?}");
    assert_eq!(place.run(&[], &[]).status.code(), Some(125), "no program");
}

#[test]
fn without_the_named_profile_a_program_starts_plainly_and_nothing_is_written() {
    let place = Place::new();
    let write = |name: &str, text: &str| fs::write(place.root.join(name), text).unwrap();
    write("notes.txt", "precious");
    write("lock", "precious");
    std::os::unix::fs::symlink("nowhere", place.root.join("link")).unwrap();
    let program = ["sh", "-c", "echo out; exit 7"];
    for name in ["absent.parquet", "notes.txt", "link", "/dev/null"] {
        let (status, out, said) = shown(place.run(&["--profile", name], &program));
        assert_eq!((status.as_str(), out.as_str()), ("exit status: 7", "out\n"), "{said}");
        assert!(said.contains(name) && said.contains("starts without help"), "{said}");
    }
    let kept = place.run(&["--record", "--profile", "notes.txt"], &program);
    assert_eq!((kept.status.code(), text(&kept.stdout)), (Some(7), "out\n".into()), "{kept:?}");
    let read = |name: &str| fs::read_to_string(place.root.join(name)).unwrap();
    assert_eq!([read("notes.txt"), read("lock")], ["precious", "precious"]);
    let mut names: Vec<_> =
        fs::read_dir(&place.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["link", "lock", "notes.txt"]);
    let recorded = place.run(&["--record", "--profile", "new.parquet"], &program);
    assert_eq!(recorded.status.code(), Some(7), "{recorded:?}");
    assert_eq!(read("lock"), "precious");
}

#[test]
fn a_profile_that_is_garbage_is_recorded_anew() {
    let _kept = crate::caches::kept();
    let (place, data) = sparse();
    if !learned(&place) {
        return;
    }
    let folder = place.state.join("seekless/profiles");
    let name = place.profiles(&[])[0]["name"].as_str().unwrap().to_owned();
    fs::write(folder.join(format!("{name}.parquet")), "PAR1 garbage").unwrap();
    let listed = place.profiles(&[]);
    assert!(listed[0]["unreadable"].is_string(), "{listed}");
    drop_cached(&data);
    assert!(learned(&place), "the same start makes it anew");
}

#[test]
fn what_a_profile_names_outside_the_given_folders_is_not_touched() {
    let _kept = crate::caches::kept();
    let (place, data) = sparse();
    if !learned(&place) {
        return;
    }
    drop_cached(&data);
    let dry = [&SLOW[..2], &["--within", "/nowhere", "--dry-run", "--json"]].concat();
    let output = place.run(&dry, &["python3", "sparse.py"]);
    let decision: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((decision["files"].as_u64(), decision["warms"].as_bool()), (Some(0), Some(false)));
}

#[test]
fn profiles_are_merged_shown_and_pruned() {
    let (place, _) = sparse();
    if !learned(&place) {
        return;
    }
    let name = place.profiles(&[])[0]["name"].as_str().unwrap().to_owned();
    let ran = |words: &[&str]| {
        let mut command = seekless(&place.root);
        command.env("XDG_STATE_HOME", &place.state).arg("profiles").args(words);
        command.output().unwrap()
    };
    let merged = ran(&["merge", &name, &name, "-o", "both.parquet"]);
    assert!(merged.status.success(), "{merged:?}");
    let figures = place.profiles(&["merge", &name, &name, "-o", "figures.parquet"]);
    let files = place.profiles(&["show", &name])["files"].as_array().unwrap().len();
    assert_eq!((&figures["runs"], &figures["files"]), (&2.into(), &files.into()));
    let shown = place.profiles(&["show", "both.parquet"]);
    assert_eq!(shown["runs"], 2);
    assert!(!ran(&["merge", &name, "-o", "both.parquet"]).status.success(), "it is there");
    assert_eq!(ran(&["prune"]).status.code(), Some(2));
    let would = ran(&["prune", "--max-size", "0", "--dry-run"]);
    assert!(text(&would.stdout).contains("would remove 1 profile"), "{would:?}");
    assert_eq!(place.profiles(&["prune", "--older-than", "1h"]), serde_json::json!([]));
    assert_eq!(place.profiles(&["prune", "--max-size", "0"])[0]["name"], name.as_str());
    assert_eq!(place.profiles(&[]), serde_json::json!([]));
}

#[test]
fn a_start_that_failed_is_kept_and_recorded_again() {
    let place = Place::new();
    fs::write(place.root.join("a"), vec![b'.'; MIB]).unwrap();
    let failing = ["sh", "-c", "cat a > /dev/null; exit 3"];
    let next = || {
        let output = place.run(&["--dry-run", "--json"], &failing);
        let decision: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        decision["recording"].as_str().unwrap().to_owned()
    };
    for starts in 1..=3 {
        let output = place.run(&[], &failing);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(3), String::new()));
        place.await_runs(starts);
        let again = "whole, since the start that was recorded has failed";
        assert_eq!(next() == again, starts < 3, "{starts}: {}", next());
    }
    // A start that fails at once has needed its program and libraries.
    assert_eq!(place.run(&[], &["false"]).status.code(), Some(1));
    place.await_runs(4);
}
