//! The common part of the comparisons with GNU's tools: makes cases from a seed, runs both programs
//! on each, and reports the differences.
//!
//! `SEEKLESS_GNU_CASES=5000 SEEKLESS_GNU_SEED=7 cargo test -p seekless-cli --test cli gnu_` makes
//! other and more cases than a normal run. Each case has a seed of its own, the first seed plus its
//! number, so that a single case can be repeated. With `SEEKLESS_GNU_KEEP` set its files are kept.

use super::random::Random;
use super::seekless;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The number of cases of a normal run.
const CASES: u64 = 300;
/// A case that takes longer hangs, and is killed.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many differences are shown in full.
const SHOWN_MAX: usize = 25;

/// A command line and its surroundings.
pub(crate) struct Case {
    pub words: Vec<OsString>,
    /// Environment variables besides PATH.
    pub variables: Vec<(&'static str, OsString)>,
    /// The file for standard input.
    pub input: PathBuf,
}

/// How the cases of one tool are made.
pub(crate) trait Cases {
    /// The tool's name.
    const TOOL: &'static str;
    /// The start of the output of `--version`, if it is the version to compare with.
    const VERSION: &'static str;
    /// Makes the files of a case in the folder.
    fn lay_out(random: &mut Random, folder: &Path);
    /// Makes a case that runs in the folder.
    fn case(random: &mut Random, folder: &Path) -> Case;
    /// Whether the messages agree, as far as they must.
    fn same_message(_: &Case, ours: &str, theirs: &str) -> bool {
        ours == theirs
    }
}

/// Runs the cases. Fails with a list of the differences.
pub(crate) fn compare<C: Cases>() {
    let theirs = PathBuf::from(format!("/usr/bin/{}", C::TOOL));
    let version = Command::new(&theirs).arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(C::VERSION.as_bytes())) {
        return eprintln!("skipped: no {} at {}", C::VERSION, theirs.display());
    }
    let (first, cases) = (number("SEEKLESS_GNU_SEED").unwrap_or(1), number("SEEKLESS_GNU_CASES"));
    let mut differences = Vec::new();
    for seed in first..first + cases.unwrap_or(CASES) {
        let place = super::workplace();
        let folder = place.path().join("here");
        std::fs::create_dir(&folder).expect("made");
        let mut random = Random::new(0, seed);
        C::lay_out(&mut random, &folder);
        let case = C::case(&mut random, &folder);
        if let Some(difference) = difference::<C>(&case, &theirs, &folder) {
            differences.push(format!("seed {seed}: {difference}"));
            if std::env::var_os("SEEKLESS_GNU_KEEP").is_some() {
                differences.push(format!("  kept in {}\n", place.keep().display()));
            }
        }
    }
    let shown = differences.iter().take(SHOWN_MAX).map(String::as_str).collect::<String>();
    assert!(differences.is_empty(), "{} differences\n{shown}", differences.len());
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn difference<C: Cases>(case: &Case, theirs: &Path, folder: &Path) -> Option<String> {
    let mut gnu = Command::new(theirs);
    // Otherwise its messages show its whole path.
    gnu.arg0(C::TOOL);
    let mut ours = seekless(folder);
    ours.arg(C::TOOL);
    let [theirs, ours] = [gnu, ours].map(|command| run(command, case, folder));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let messages = [&ours.stderr, &theirs.stderr].map(|bytes| text(bytes));
    let same = ours.stdout == theirs.stdout
        && ours.status == theirs.status
        && C::same_message(case, &messages[0], &messages[1]);
    if same {
        return None;
    }
    let mut told = String::new();
    for (name, value) in &case.variables {
        let _ = write!(told, "{name}={} ", quoted(value));
    }
    told.push_str(C::TOOL);
    case.words.iter().for_each(|word| _ = write!(told, " {}", quoted(word)));
    let _ = writeln!(told, " < {}", case.input.display());
    for (who, output) in [("ours", &ours), ("GNU", &theirs)] {
        let shown = |bytes: &[u8]| bytes[..bytes.len().min(600)].escape_ascii().to_string();
        let _ = writeln!(
            told,
            "  {who:4} {}: {}\n       {}",
            output.status,
            shown(&output.stdout),
            shown(&output.stderr)
        );
    }
    Some(told)
}

/// A word, quoted for bash.
fn quoted(word: &OsStr) -> String {
    format!("$'{}'", word.as_bytes().escape_ascii())
}

fn run(mut command: Command, case: &Case, folder: &Path) -> Output {
    command.args(&case.words).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin");
    command.envs(case.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(File::open(folder.join(&case.input)).expect("the input"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let (ended, watch) = mpsc::channel::<()>();
    let pid = rustix::process::Pid::from_child(&child);
    let watching = std::thread::spawn(move || {
        if watch.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    });
    let output = child.wait_with_output().expect("it ends");
    drop(ended);
    watching.join().expect("it watches");
    output
}

/// A word from bytes.
pub(crate) fn word(bytes: impl Into<Vec<u8>>) -> OsString {
    OsString::from_vec(bytes.into())
}
