//! Builds the helper, runs the recorder as a process of its own, and reads its traces.

use seekless_trace::{Access, Op, Trace};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// The size of the file that most tests read.
pub(crate) const FILE_BYTES: u64 = 10_000;

/// Skips a test with one line.
macro_rules! skip {
    ($($reason:tt)*) => {{
        eprintln!("skipped: {}", format!($($reason)*));
        return;
    }};
}
pub(crate) use skip;

/// The helper, linked dynamically or statically; `None` without a C compiler or a static libc.
pub(crate) fn helper(linked: &'static str) -> Option<&'static Path> {
    program("helper", if linked == "static" { &["-lpthread", "-static"] } else { &["-lpthread"] })
}

/// The program of a C source beside this file; `None` if it cannot be built.
pub(crate) fn program(name: &'static str, flags: &'static [&'static str]) -> Option<&'static Path> {
    type Built = BTreeMap<(&'static str, &'static [&'static str]), Option<&'static Path>>;
    static BUILT: Mutex<Built> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    *built.entry((name, flags)).or_insert_with(|| {
        compile(name, flags).map(|path| &*Box::leak(path.into_boxed_path())) // once a program
    })
}

fn compile(name: &str, flags: &[&str]) -> Option<PathBuf> {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recording").join(format!("{name}.c"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Build under a name of this process's own, then move: another test run may be using the
    // program.
    let output = folder.join(format!("{name}{}", flags.concat()));
    let building = folder.join(format!("{name}{}-{}", flags.concat(), std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-w", "-o"]).arg(&building).arg(source).args(flags);
    let built = compiler.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    (built && std::fs::rename(&building, &output).is_ok()).then_some(output)
}

/// Whether a program exists and runs.
pub(crate) fn has(program: &str, argument: &str) -> bool {
    let quiet =
        Command::new(program).arg(argument).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// A folder with a file to read and the recorder's output, and another for the recorder's state.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) state: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let [root, state] =
            ["root", "state"].map(|name| folder.path().canonicalize().unwrap().join(name));
        [&root, &state].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        std::fs::write(root.join("file"), vec![b'.'; FILE_BYTES as usize]).unwrap();
        Self { folder, root, state }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.root.join("file")
    }

    pub(crate) fn output(&self) -> PathBuf {
        self.root.join("run.parquet")
    }

    /// The spools that recordings have left.
    pub(crate) fn spools(&self) -> Vec<PathBuf> {
        let left = std::fs::read_dir(self.state.join("seekless/spool")).into_iter().flatten();
        left.map(|entry| entry.unwrap().path()).collect()
    }

    /// A program that runs in this folder, with its spools in the other.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("XDG_STATE_HOME", &self.state);
        command
    }

    /// The recorder with `words` as its arguments, not started yet.
    pub(crate) fn recorder<I: AsRef<OsStr>>(&self, words: &[I]) -> Command {
        let mut command = self.command(recorder());
        command.arg(self.output()).args(["--method", method()]).args(words);
        command
    }

    /// Records a mode of the helper, which must succeed, and reads the trace.
    pub(crate) fn record_mode(&self, words: &[&str]) -> Option<Recording> {
        let helper = helper("dynamic")?.to_str().unwrap();
        let output = self.recorder(&[&[helper], words].concat()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        let recording = self.recording();
        assert_eq!(recording.trace.metadata().lost, 0);
        Some(recording)
    }

    pub(crate) fn recording(&self) -> Recording {
        Recording::open(&self.output())
    }

    /// Removes everything now, and fails if that is not possible.
    pub(crate) fn close(self) {
        self.folder.close().unwrap();
    }
}

/// The method that the tests are to use: ptrace, unless this variable names another.
pub(crate) const METHOD: &str = "SEEKLESS_TEST_METHOD";

pub(crate) fn method() -> &'static str {
    let named = std::env::var(METHOD).unwrap_or_default();
    ["ebpf", "notify"].into_iter().find(|method| *method == named).unwrap_or("ptrace")
}

/// Whether calls are reported before they happen: opens have no latencies then.
pub(crate) fn foresees() -> bool {
    method() == "notify"
}

/// Runs all tests again by another method, but those whose names contain one of these words.
pub(crate) fn run_all_by(method: &str, skipped: &[&str]) {
    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.env(METHOD, method);
    for words in ["reported::", "notified::", "touches::"].iter().chain(skipped) {
        tests.args(["--skip", words]);
    }
    let output = tests.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The example that records.
pub(crate) fn recorder() -> PathBuf {
    let profile = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned();
    let recorder = profile.join("examples/record");
    assert!(
        recorder.exists(),
        "{} is not built: cargo build -p seekless-record --examples",
        recorder.display()
    );
    recorder
}

/// A trace, read whole.
pub(crate) struct Recording {
    pub(crate) trace: Trace,
    pub(crate) names: Vec<String>,
    pub(crate) accesses: Vec<Access>,
}

impl Recording {
    pub(crate) fn open(path: &Path) -> Self {
        let trace = Trace::open(path).unwrap();
        let names = trace.file_names().unwrap();
        let accesses = trace.accesses().unwrap().map(Result::unwrap).collect();
        Self { trace, names, accesses }
    }

    pub(crate) fn of(&self, path: &Path) -> Vec<Access> {
        let name = path.to_str().unwrap();
        self.accesses
            .iter()
            .copied()
            .filter(|access| self.names[access.file as usize] == name)
            .collect()
    }

    /// Offset and bytes of one kind of access to a file.
    pub(crate) fn ranges(&self, path: &Path, op: Op) -> Vec<(i64, u64)> {
        self.of(path)
            .iter()
            .filter(|access| access.op == op)
            .map(|access| (access.offset, access.bytes))
            .collect()
    }

    pub(crate) fn count(&self, path: &Path, op: Op) -> usize {
        self.ranges(path, op).len()
    }

    /// Opened regular files, and the bytes that were read from each.
    pub(crate) fn regular(&self) -> BTreeMap<String, u64> {
        let mut regular = BTreeMap::new();
        for access in &self.accesses {
            let name = &self.names[access.file as usize];
            let opened = access.op == Op::Open && access.error.is_none();
            let is_seen = access.latency_ns.is_some() || foresees();
            if opened && is_seen && access.file_bytes.is_some() {
                regular.entry(name.clone()).or_insert(0);
            }
        }
        for access in self.accesses.iter().filter(|access| access.op == Op::Read) {
            if let Some(bytes) = regular.get_mut(&self.names[access.file as usize]) {
                *bytes += access.bytes;
            }
        }
        regular
    }
}

/// A running recorder whose program has printed a line.
pub(crate) struct Working {
    pub(crate) recorder: Child,
    pub(crate) said: String,
    rest: BufReader<std::process::ChildStdout>,
}

impl Working {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut recorder = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut rest = BufReader::new(recorder.stdout.take().unwrap());
        let mut said = String::new();
        rest.read_line(&mut said).unwrap();
        Self { recorder, said: said.trim().to_owned(), rest }
    }

    /// The process id that the program printed.
    pub(crate) fn program(&self) -> i32 {
        self.said.parse().unwrap_or_else(|_| panic!("the program said {:?}", self.said))
    }

    pub(crate) fn recorder_id(&self) -> i32 {
        i32::try_from(self.recorder.id()).unwrap()
    }

    pub(crate) fn signal_recorder(&self, signal: i32) {
        seekless_sys::signals::send(self.recorder_id(), signal).unwrap();
    }

    /// Closes the program's standard input. Waits for the recorder, and for all processes that hold
    /// its output.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.recorder.stdin.take());
        let mut rest = Vec::new();
        self.rest.read_to_end(&mut rest).unwrap();
        self.recorder.wait().unwrap()
    }
}

/// A command's output, which must be a success.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}
