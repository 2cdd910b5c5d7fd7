//! `seekless wc`: GNU wc, cheapest bytes first.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "prints as GNU wc does, which quotes names in its own way"
)]

mod flags;
mod names;

use crate::{getopt, output};
use clap::{Arg, ArgAction, Command};
use flags::FLAGS;
use rustix::io::Errno;
use seekless::device::units::{parse_bytes, parse_duration};
use seekless::gnu::wc::{Charset, Counts, Input, Job, Report, Total, Wanted, run};
use seekless::read::{Plan, Reach};
use seekless::sys::inherited::is_closed;
use seekless::sys::output::StandardOutput;
use seekless::sys::reason;
use serde_json::{Map, json};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// GNU wc's code for anything wrong.
const FAILURE: u8 = 1;

const ABOUT: &str = "Count lines, words and bytes, the cheapest bytes first";
const LONG_ABOUT: &str = "\
Count lines, words and bytes, the cheapest bytes first

Prints what GNU wc prints. The cached part of a file is counted before the rest is read, and reading
the rest does not push it out. So a second count of a file larger than memory reads only the part
that does not fit.";
const AFTER: &str = "\
Without FILE, or where FILE is -, standard input is counted. Counts are printed in the order lines,
words, characters, bytes, longest line. A word is a run of characters without white space, at least
one of them printable; with POSIXLY_CORRECT set, spaces that do not break a line count as printable.
Locales in encodings of several bytes other than UTF-8 count as the C locale.

Exit code: 0, or 1 when something could not be counted or was skipped.

Examples:
  seekless wc -l big.log                 again and again: reads only what memory cannot hold
  seekless wc -l --cached-only *.log     without waiting for a device
  seekless wc -l --max-latency 1s /hsm/* without what must be recalled from an archive
  seekless wc -l --max-wait 1min *.log   what can be there within a minute, file by file
  find . -print0 | seekless wc --files0-from=- --total=only";

/// What the help, the man page and the completions are made of.
#[must_use]
pub fn command() -> Command {
    let command = Command::new("wc").about(ABOUT).long_about(LONG_ABOUT).after_help(AFTER);
    let files =
        Arg::new("files").value_name("FILE").help("The files to count").action(ArgAction::Append);
    getopt::described(command, &FLAGS).arg(files)
}

/// What the options have asked for so far.
struct Draft {
    wanted: Wanted,
    total: Total,
    plan: Plan,
    list: Option<OsString>,
    reach: Reach,
    hold_bytes: u64,
    json: bool,
    stats: bool,
}

/// What is done instead of counting.
enum Wrong {
    /// The message after the program's name.
    Message(Vec<u8>),
    /// The help was asked for.
    Help,
    /// The version was asked for.
    Version,
}

impl From<Vec<u8>> for Wrong {
    fn from(message: Vec<u8>) -> Self {
        Wrong::Message(message)
    }
}

/// What was asked for.
struct Asked {
    job: Job,
    /// Inputs that become known while others are counted.
    later: Option<names::List>,
    json: bool,
    stats: bool,
}

/// Counts as `words` (the command line after the verb) say.
#[must_use]
pub fn main(words: Vec<OsString>) -> ExitCode {
    let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let parsed = getopt::parse(words, &FLAGS, posix);
    let mut charset = Charset::from_environment();
    match asked(&parsed, &mut charset) {
        Ok(mut asked) => count(&mut asked, &mut charset),
        Err(Wrong::Help) => finished(output::text(&getopt::help(command(), "seekless wc"))),
        Err(Wrong::Version) => {
            finished(output::text(concat!("seekless-wc ", env!("CARGO_PKG_VERSION"), "\n")))
        }
        Err(Wrong::Message(message)) => {
            // As bytes: a quoted name need not be text.
            let _ = io::stderr().write_all(&[b"wc: ", &message[..], b"\n"].concat());
            ExitCode::from(FAILURE)
        }
    }
}

/// Reads a command line and does nothing: whether its options make sense. For the fuzz targets.
#[doc(hidden)]
#[must_use]
pub fn makes_sense(words: Vec<OsString>) -> bool {
    draft(&getopt::parse(words, &FLAGS, false)).is_ok()
}

/// What the options ask for.
fn draft(parsed: &getopt::Parsed<flags::Sets>) -> Result<Draft, Wrong> {
    let mut draft = Draft {
        wanted: Wanted::default(),
        total: Total::Auto,
        plan: Plan::Best,
        list: None,
        reach: Reach::default(),
        hold_bytes: 0,
        json: false,
        stats: false,
    };
    for (sets, given) in &parsed.options {
        sets(&mut draft, given.text())?;
    }
    match &parsed.error {
        Some(error) => Err(usage(error.as_bytes()).into()),
        None => Ok(draft),
    }
}

fn asked(parsed: &getopt::Parsed<flags::Sets>, charset: &mut Charset) -> Result<Asked, Wrong> {
    let Draft { mut wanted, total, plan, list, reach, hold_bytes, json, stats } = draft(parsed)?;
    if wanted == Wanted::default() {
        wanted = Wanted { lines: true, words: true, bytes: true, ..wanted };
    }
    let (inputs, later) = match list {
        Some(list) => names::listed(&list, &parsed.operands, charset)?,
        None if parsed.operands.is_empty() => (vec![Input::Standard { named: false }], None),
        None => (parsed.operands.iter().map(|name| names::input(name)).collect(), None),
    };
    let (statistics, aligned) = (json || stats, later.is_none());
    let job =
        Job { inputs, wanted, total, aligned, plan, reach, hold_bytes, statistics, quiet: json };
    Ok(Asked { job, later, json, stats })
}

fn total(word: &OsStr) -> Result<Total, Vec<u8>> {
    const WHEN: [(&str, Total); 4] = [
        ("auto", Total::Auto),
        ("always", Total::Always),
        ("only", Total::Only),
        ("never", Total::Never),
    ];
    let word = word.to_string_lossy();
    let exact = WHEN.iter().find(|(name, _)| *name == word);
    let fitting: Vec<_> = WHEN.iter().filter(|(name, _)| name.starts_with(&*word)).collect();
    match (exact, &fitting[..]) {
        (Some((_, total)), _) | (None, [(_, total)]) => Ok(*total),
        _ => {
            let what = if fitting.is_empty() { "invalid" } else { "ambiguous" };
            let names: String = WHEN.iter().map(|(name, _)| format!("\n  - '{name}'")).collect();
            Err(usage(
                format!("{what} argument '{word}' for '--total'\nValid arguments are:{names}")
                    .as_bytes(),
            ))
        }
    }
}

fn held(word: &OsStr) -> Result<u64, Vec<u8>> {
    let word = word.to_string_lossy();
    parse_bytes(&word).map_err(|error| {
        usage(format!("invalid argument '{word}' for '--hold': {error}").as_bytes())
    })
}

fn duration(word: &OsStr, option: &str) -> Result<Duration, Vec<u8>> {
    let word = word.to_string_lossy();
    parse_duration(&word).map(Duration::from_nanos).map_err(|error| {
        usage(format!("invalid argument '{word}' for '{option}': {error}").as_bytes())
    })
}

/// A message about the command line, and where to look.
fn usage(message: &[u8]) -> Vec<u8> {
    [message, b"\nTry 'wc --help' for more information."].concat()
}

fn count(asked: &mut Asked, charset: &mut Charset) -> ExitCode {
    let before = asked.stats.then(device_bytes).flatten();
    let mut lines = Lines { out: StandardOutput, refused: None };
    // A line is one write, as GNU wc's: lines of several that write to one pipe stay whole.
    let mut out = io::LineWriter::new(&mut lines);
    let mut progress = output::progress("Counting");
    let mut later = asked.later.iter_mut().flatten();
    let result = run(&asked.job, &mut later, charset, &mut out, &mut io::stderr(), &mut progress);
    drop((progress, out));
    let read_closed = asked.job.inputs.iter().any(|input| matches!(input, Input::Standard { .. }))
        && is_closed(rustix::stdio::raw_stdin());
    let code = match (result, lines.refused) {
        (Ok(_), Some(error)) => unwritten(&error),
        (Ok(report), None) => {
            let code = ExitCode::from(if report.complete { 0 } else { FAILURE });
            if asked.stats {
                print_statistics(&report, before);
            }
            let printed =
                if asked.json { output::json(&figures(&report, asked.job.wanted)) } else { Ok(()) };
            match printed {
                Ok(()) => code,
                failed => finished(failed),
            }
        }
        // Messages cannot be written.
        (Err(_), _) => ExitCode::from(FAILURE),
    };
    if read_closed {
        // GNU wc says it again when it closes what it has read.
        eprintln!("wc: -: {}", reason(&Errno::BADF.into()));
    }
    code
}

/// Standard output as GNU wc has it: what cannot be written is said once, at the end, and the
/// counting goes on, since there may be messages.
struct Lines<W> {
    out: W,
    refused: Option<io::Error>,
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.refused.is_some() {
            return Ok(bytes.len());
        }
        match self.out.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.refused = Some(error);
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.refused.is_none() {
            self.refused = self.out.flush().err();
        }
        Ok(())
    }
}

/// As GNU wc, which has forgotten the reason by then, except that closing its output fails by
/// itself if it was never open.
fn unwritten(error: &io::Error) -> ExitCode {
    match Errno::from_io_error(error) {
        Some(Errno::BADF) => eprintln!("wc: write error: {}", reason(error)),
        _ => eprintln!("wc: write error"),
    }
    ExitCode::from(FAILURE)
}

fn finished(printed: anyhow::Result<()>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => unwritten(error.downcast_ref().unwrap_or(&io::ErrorKind::Other.into())),
    }
}

fn figures(report: &Report, wanted: Wanted) -> serde_json::Value {
    let files: Vec<_> = report
        .files
        .iter()
        .map(|file| {
            let mut object = counts(&file.counts, wanted);
            object.insert(
                "name".to_owned(),
                json!(file.name.as_ref().map(|name| name.to_string_lossy())),
            );
            object.insert("skipped_bytes".to_owned(), json!(file.skipped));
            object
        })
        .collect();
    json!({
        "files": files,
        "total": counts(&report.total, wanted),
        "complete": report.complete,
        "read_bytes": report.statistics.bytes,
        "resident_bytes": report.statistics.resident_bytes,
        "held_bytes": report.statistics.held_bytes,
    })
}

fn counts(counts: &Counts, wanted: Wanted) -> Map<String, serde_json::Value> {
    let figures = [
        ("lines", counts.lines, wanted.lines),
        ("words", counts.words, wanted.words),
        ("chars", counts.characters, wanted.characters),
        ("bytes", counts.bytes, wanted.bytes),
        ("max_line_length", counts.columns, wanted.columns),
    ];
    figures
        .into_iter()
        .filter(|figure| figure.2)
        .map(|(name, figure, _)| (name.to_owned(), json!(figure)))
        .collect()
}

fn print_statistics(report: &Report, before: Option<u64>) {
    let read = report.statistics;
    let device = match (before, device_bytes()) {
        (Some(before), Some(after)) => {
            format!("{} B read from devices", after.saturating_sub(before))
        }
        _ => "what came from devices is unknown (/proc/self/io cannot be read)".to_owned(),
    };
    let held = if read.held_bytes > 0 {
        format!(", {} B of them held", read.held_bytes)
    } else {
        String::new()
    };
    eprintln!(
        "wc: {} B counted; {} B resident at the start{held}; {device}",
        read.bytes, read.resident_bytes
    );
}

/// What this process has had devices read for it.
fn device_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}
