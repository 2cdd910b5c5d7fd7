//! `seekless wc`: GNU wc, cheapest bytes first.

mod names;

use crate::getopt::{self, Known, Parsed, Value};
use crate::output;
use clap::ArgAction;
use seekless::device::units::parse_bytes;
use seekless::gnu::wc::{Charset, Counts, Input, Job, Report, Total, Wanted, run};
use seekless::sled::Plan;
use serde_json::{Map, json};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// GNU wc's code for anything wrong.
const FAILURE: u8 = 1;

/// Count lines, words and bytes, the cheapest bytes first
///
/// Prints what GNU wc prints. What the page cache holds is counted before the rest is read, and reading the rest does not
/// push it out, so a second count of a file larger than memory reads only what does not fit.
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "\
Without FILE, or where FILE is -, standard input is counted. Counts are printed in the order lines, words, characters,
bytes, longest line. A word is what white space parts and holds something printable; POSIXLY_CORRECT set takes the spaces
that do not break a line for printable ones. Locales in encodings of several bytes other than UTF-8 count as the C locale.

Exit code: 0, or 1 when something could not be counted or was skipped.

Examples:
  seekless wc -l big.log                 again and again: only what memory cannot hold is read
  seekless wc -l --cached-only *.log     what can be said without waiting for a device
  find . -print0 | seekless wc --files0-from=- --total=only"
)]
pub struct Args {
    /// The files to count
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the bytes
    #[arg(short = 'c', long)]
    bytes: bool,
    /// Print the characters
    #[arg(short = 'm', long)]
    chars: bool,
    /// Print the newlines
    #[arg(short = 'l', long)]
    lines: bool,
    /// Print the columns of the longest line
    #[arg(short = 'L', long)]
    max_line_length: bool,
    /// Print the words
    #[arg(short = 'w', long)]
    words: bool,
    /// Count the files whose names stand in F, each ended by a NUL; - is standard input
    #[arg(long, value_name = "F")]
    files0_from: Option<PathBuf>,
    /// When to print a line for all: auto, always, only, never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    total: String,
    /// Read file by file from the first byte to the last
    #[arg(long)]
    linear: bool,
    /// Count only what is cached, and say what was skipped
    #[arg(long)]
    cached_only: bool,
    /// Hold so much of what is cached (64MiB, say) in memory until it is counted
    #[arg(long, value_name = "BYTES")]
    hold: Option<String>,
    /// Print the counts and figures as JSON
    #[arg(long)]
    json: bool,
    /// Say on standard error what was read from where
    #[arg(long)]
    stats: bool,
    /// Print help
    #[arg(long, action = ArgAction::HelpLong)]
    help: Option<bool>,
    /// Print version
    #[arg(long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// The options as getopt meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    Bytes,
    Chars,
    Lines,
    Columns,
    Words,
    Files0From,
    Total,
    Linear,
    CachedOnly,
    Hold,
    Json,
    Stats,
    Help,
    Version,
}

const fn known(
    short: Option<u8>,
    long: &'static str,
    value: Value,
    what: Flag,
    abbreviates: bool,
) -> Known<Flag> {
    Known { short, long, value, what, abbreviates }
}

const KNOWN: [Known<Flag>; 14] = [
    known(Some(b'c'), "bytes", Value::No, Flag::Bytes, true),
    known(Some(b'm'), "chars", Value::No, Flag::Chars, true),
    known(Some(b'l'), "lines", Value::No, Flag::Lines, true),
    known(Some(b'L'), "max-line-length", Value::No, Flag::Columns, true),
    known(Some(b'w'), "words", Value::No, Flag::Words, true),
    known(None, "files0-from", Value::Required, Flag::Files0From, true),
    known(None, "total", Value::Required, Flag::Total, true),
    known(None, "linear", Value::No, Flag::Linear, false),
    known(None, "cached-only", Value::No, Flag::CachedOnly, false),
    known(None, "hold", Value::Required, Flag::Hold, false),
    known(None, "json", Value::No, Flag::Json, false),
    known(None, "stats", Value::No, Flag::Stats, false),
    known(None, "help", Value::No, Flag::Help, true),
    known(None, "version", Value::No, Flag::Version, true),
];

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
    let parsed = getopt::parse(words, &KNOWN, posix);
    for (flag, _) in &parsed.options {
        match flag {
            Flag::Help => return print_help(),
            Flag::Version => {
                return finished(output::text(concat!("seekless-wc ", env!("CARGO_PKG_VERSION"), "\n")));
            }
            _ => {}
        }
    }
    let mut charset = Charset::from_environment();
    match asked(parsed, &mut charset) {
        Ok(mut asked) => count(&mut asked, &mut charset),
        Err(message) => {
            // As bytes: a quoted name need not be text.
            let _ = io::stderr().write_all(&[b"wc: ", &message[..], b"\n"].concat());
            ExitCode::from(FAILURE)
        }
    }
}

fn asked(parsed: Parsed<Flag>, charset: &mut Charset) -> Result<Asked, Vec<u8>> {
    if let Some(error) = parsed.error {
        return Err(usage(error.as_bytes()));
    }
    let mut wanted = Wanted::default();
    let (mut total, mut plan, mut list) = (Total::Auto, Plan::Best, None);
    let (mut cached_only, mut json, mut stats, mut hold_bytes) = (false, false, false, 0);
    for (flag, value) in parsed.options {
        match flag {
            Flag::Bytes => wanted.bytes = true,
            Flag::Chars => wanted.characters = true,
            Flag::Lines => wanted.lines = true,
            Flag::Columns => wanted.columns = true,
            Flag::Words => wanted.words = true,
            Flag::Files0From => list = value,
            Flag::Total => total = self::total(&value.unwrap_or_default())?,
            Flag::Linear => plan = Plan::Linear,
            Flag::CachedOnly => cached_only = true,
            Flag::Hold => hold_bytes = held(&value.unwrap_or_default())?,
            Flag::Json => json = true,
            Flag::Stats => stats = true,
            Flag::Help | Flag::Version => {}
        }
    }
    if wanted == Wanted::default() {
        wanted = Wanted { lines: true, words: true, bytes: true, ..wanted };
    }
    let (inputs, later) = match list {
        Some(list) => names::listed(&list, &parsed.operands, charset)?,
        None if parsed.operands.is_empty() => (vec![Input::Standard { named: false }], None),
        None => (parsed.operands.iter().map(|name| names::input(name)).collect(), None),
    };
    let (statistics, aligned) = (json || stats, later.is_none());
    let job = Job { inputs, wanted, total, aligned, plan, cached_only, hold_bytes, statistics, quiet: json };
    Ok(Asked { job, later, json, stats })
}

fn total(word: &std::ffi::OsStr) -> Result<Total, Vec<u8>> {
    const WHEN: [(&str, Total); 4] =
        [("auto", Total::Auto), ("always", Total::Always), ("only", Total::Only), ("never", Total::Never)];
    let word = word.to_string_lossy();
    let exact = WHEN.iter().find(|(name, _)| *name == word);
    let fitting: Vec<_> = WHEN.iter().filter(|(name, _)| name.starts_with(&*word)).collect();
    match (exact, &fitting[..]) {
        (Some((_, total)), _) | (None, [(_, total)]) => Ok(*total),
        _ => {
            let what = if fitting.is_empty() { "invalid" } else { "ambiguous" };
            let names: String = WHEN.iter().map(|(name, _)| format!("\n  - '{name}'")).collect();
            Err(usage(
                format!("{what} argument '{word}' for '--total'\nValid arguments are:{names}").as_bytes(),
            ))
        }
    }
}

fn held(word: &std::ffi::OsStr) -> Result<u64, Vec<u8>> {
    let word = word.to_string_lossy();
    parse_bytes(&word)
        .map_err(|error| usage(format!("invalid argument '{word}' for '--hold': {error}").as_bytes()))
}

/// A message about the command line, and where to look.
fn usage(message: &[u8]) -> Vec<u8> {
    [message, b"\nTry 'wc --help' for more information."].concat()
}

fn count(asked: &mut Asked, charset: &mut Charset) -> ExitCode {
    let before = asked.stats.then(device_bytes).flatten();
    let mut lines = Lines { out: io::stdout().lock(), refused: false };
    let mut out = io::BufWriter::new(&mut lines);
    let mut progress = output::progress("Counting");
    let mut later = asked.later.iter_mut().flatten();
    let result = run(&asked.job, &mut later, charset, &mut out, &mut io::stderr(), &mut progress);
    drop((progress, out));
    match result {
        Ok(_) if lines.refused => unwritten(),
        Ok(report) => {
            let code = ExitCode::from(if report.complete { 0 } else { FAILURE });
            if asked.stats {
                print_statistics(&report, before);
            }
            let printed = if asked.json { output::json(&figures(&report, asked.job.wanted)) } else { Ok(()) };
            match printed {
                Ok(()) => code,
                failed => finished(failed),
            }
        }
        // Messages cannot be written.
        Err(_) => ExitCode::from(FAILURE),
    }
}

/// Standard output as GNU wc has it: what cannot be written is said once, at the end, and the counting goes on, since there may be
/// messages.
struct Lines<W> {
    out: W,
    refused: bool,
}

impl<W: Write> Write for Lines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.refused {
            return Ok(bytes.len());
        }
        match self.out.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.refused = true;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.refused {
            self.refused = self.out.flush().is_err();
        }
        Ok(())
    }
}

/// As GNU wc, which has forgotten why by then.
fn unwritten() -> ExitCode {
    eprintln!("wc: write error");
    ExitCode::from(FAILURE)
}

fn finished(printed: anyhow::Result<()>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => unwritten(),
    }
}

fn print_help() -> ExitCode {
    use clap::Args as _;
    let mut command = Args::augment_args(
        clap::Command::new("wc").bin_name("seekless wc").version(env!("CARGO_PKG_VERSION")),
    );
    finished(output::text(&command.render_long_help().to_string()))
}

fn figures(report: &Report, wanted: Wanted) -> serde_json::Value {
    let files: Vec<_> = report
        .files
        .iter()
        .map(|file| {
            let mut object = counts(&file.counts, wanted);
            object.insert("name".to_owned(), json!(file.name.as_ref().map(|name| name.to_string_lossy())));
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
        (Some(before), Some(after)) => format!("{} B read from devices", after.saturating_sub(before)),
        _ => "what came from devices is unknown (/proc/self/io cannot be read)".to_owned(),
    };
    let held =
        if read.held_bytes > 0 { format!(", {} B of them held", read.held_bytes) } else { String::new() };
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
