//! `seekless trace info`: prints the figures of a trace.

mod page;

use crate::command::foreign::kinds;
use crate::next::{self, Found};
use crate::output::table;
use crate::output::{self, Html, Words, line, shown};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::tools::seen::see;
use seekless::trace::summary::files::FileCount;
use seekless::trace::summary::{CallKind, RunSummary, Sizes, TraceSummary, Waits, summarise};
use seekless::trace::{Kind, Origin, RunInfo, Trace, View, open_any};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the figures of a trace.
///
/// Bytes read are those that calls returned. A load of a whole file counts only if the trace has no
/// calls for the file. Unique bytes count each byte of a file once.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace info run.parquet
  seekless trace info arcadia.csv.gz
  seekless trace info run.parquet --html run.html
  seekless trace info run.parquet --json")]
pub struct Args {
    /// The trace
    trace: PathBuf,
    #[command(flatten)]
    html: output::HtmlFile,
    #[command(flatten)]
    force: output::Force,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Sums up and prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let html = args.html.begin(args.force)?;
    let words = Words::beside(html.as_ref().map(Html::destination));
    let trace = open_any(&args.trace)?;
    note_origin(&args.trace, &trace);
    let mut progress = output::progress("Counting");
    let summary = summarise(&trace, &mut progress)?;
    drop(progress);
    let path = shown(&args.trace).to_string();
    if html.is_none() && args.json {
        words.json(&summary)?;
        return Ok(ExitCode::SUCCESS);
    }
    let verdict = verdict(&trace)?;
    let report = Report { path: &path, verdict: &verdict.text, all: &summary };
    if let Some(html) = html {
        page::write(html, &report, &summary, &mut pictures(&trace)?)?;
    }
    if args.json {
        words.json(&summary)?;
        return Ok(ExitCode::SUCCESS);
    }
    words.text(&report.text())?;
    let traces = [args.trace];
    next::say(words, &follows(&verdict, &summary, &traces))?;
    Ok(ExitCode::SUCCESS)
}

/// What to do next with a trace: see to a program's waits, or else to a cache.
fn follows<'a>(verdict: &Verdict, all: &'a TraceSummary, traces: &'a [PathBuf; 1]) -> Found<'a> {
    let newest = all.metadata.runs.last();
    let command = newest.map_or(&[][..], |run| &run.command);
    match all.metadata.kind {
        Kind::Files => verdict.found(&traces[0], command),
        Kind::Blocks | Kind::Ids => Found::Requests(traces),
    }
}

/// What the page shows and the report does not.
fn pictures(trace: &Trace) -> anyhow::Result<page::Pictures> {
    let mut count = FileCount::default();
    count.add(trace, &mut output::progress("Counting files"))?;
    let waits = if is_of_files(trace) { Waits::of(trace)? } else { Waits::default() };
    let seen = see(trace, None, &mut output::progress("Drawing"))?;
    Ok(page::Pictures { waits, seen, files: count.finish() })
}

/// Says so if a trace is the spool of a recording that was cut off. `asked` is the name that the
/// user gave.
pub(super) fn note_origin(asked: &Path, trace: &Trace) {
    if let Origin::Spool { torn_bytes } = trace.origin() {
        let (asked, spool, torn) =
            (shown(asked), shown(trace.path()), counted(*torn_bytes, "byte"));
        output::say(format_args!(
            "this recording was cut off; reading its spool {spool} (torn at its end: {torn})"
        ));
        output::note(&format!("  `seekless trace recover {asked}` makes a trace of it\n"));
    }
}

/// The report on a trace, for a terminal and for a page.
struct Report<'a> {
    path: &'a str,
    /// How much of the time the program waited; empty if the trace does not show it.
    verdict: &'a str,
    all: &'a TraceSummary,
}

impl Report<'_> {
    fn what(&self) -> String {
        let metadata = &self.all.metadata;
        let what = match (metadata.kind, metadata.view) {
            (Kind::Files, _) => "accesses to files",
            (Kind::Blocks, None) => "block trace",
            (Kind::Blocks, Some(View::PreCache)) => "block trace, pre-cache",
            (Kind::Blocks, Some(View::PostCache)) => "block trace, post-cache",
            (Kind::Ids, _) => "ids of weight 1",
        };
        format!("{what}, {}", counted(self.all.runs.len() as u64, "run"))
    }

    /// The answer in a sentence, and what belongs to it.
    fn answer(&self) -> (String, String) {
        let Some((answer, rest)) = self.verdict.trim_end().split_once(". ") else {
            let all = self.all;
            let accesses = counted(all.accesses, "access");
            let files = counted(all.files, "file");
            return (format!("{accesses} to {files}: {}.", bytes(all)), String::new());
        };
        (format!("{answer}."), rest.to_owned())
    }

    /// Every figure with its name. An empty one is not shown.
    fn figures(&self) -> Vec<(&'static str, String)> {
        let (all, count) = (self.all, format_count);
        let accesses = joined(
            count(all.accesses),
            all.ops.iter().map(|(op, n)| format!("{op} {}", count(*n))),
        );
        vec![
            ("trace", self.what()),
            ("accesses", accesses),
            ("failed opens", failed_opens(all)),
            ("files used", format!("{} of {}", count(all.files), counted(all.names, "name"))),
            ("bytes", bytes(all)),
            ("file sizes", sizes(&all.sizes)),
            ("loads", loads(all)),
            ("in how many runs", spread(all)),
            ("latencies", latencies(all)),
            ("left out", left_out(all)),
            ("not imported", kinds(&all.metadata.not_imported())),
            ("lost events", count(all.metadata.lost)),
            ("blind spots", blind_spots(all)),
        ]
    }

    fn text(&self) -> String {
        let mut text = format!("{}: {}\n{}\n", self.path, self.what(), self.verdict);
        let shown = self.figures().into_iter().skip(1).filter(|(_, value)| !value.is_empty());
        for (name, value) in shown {
            let _ = writeln!(text, "{name:<17} {}", line(&value));
        }
        let _ = write!(text, "\n{}", runs_table(self.all));
        text
    }
}

fn is_of_files(trace: &Trace) -> bool {
    trace.metadata().kind == Kind::Files
}

/// What calls of a kind do.
fn kind_words(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Names => "look-ups of names that are there",
        CallKind::MissingNames => "look-ups of names that are not there",
        CallKind::SmallFiles => "reads of files up to 128 KiB",
        CallKind::LargeFiles => "reads of larger files",
        CallKind::ReadAgain => "reads of what was read before",
        CallKind::Written => "writes and syncs",
        CallKind::Maps => "maps",
    }
}

/// How much of the time the program waited for its files, as far as the trace shows it.
#[derive(Clone, Debug, Default)]
pub(in crate::command) struct Verdict {
    /// In words; empty if the trace does not show it.
    pub(in crate::command) text: String,
    took_ns: u64,
    in_calls_ns: u64,
}

impl Verdict {
    /// What it leads to.
    pub(in crate::command) fn found<'a>(
        &self,
        trace: &'a Path,
        command: &'a [String],
    ) -> Found<'a> {
        Found::Waits { trace, command, took_ns: self.took_ns, in_calls_ns: self.in_calls_ns }
    }
}

/// Adds up the time in calls of a trace of files.
pub(in crate::command) fn verdict(trace: &Trace) -> anyhow::Result<Verdict> {
    let runs = &trace.metadata().runs;
    let took_ns: Option<u64> = runs.iter().map(|run| run.duration_ns).sum();
    let Some(took_ns) = took_ns.filter(|ns| *ns > 0 && is_of_files(trace)) else {
        return Ok(Verdict::default());
    };
    let waits = Waits::of(trace)?;
    let in_calls_ns = (waits.in_calls_s * 1e9) as u64;
    Ok(Verdict { text: in_calls(&waits, took_ns), took_ns, in_calls_ns })
}

fn in_calls(waits: &Waits, took_ns: u64) -> String {
    let kinds = waits.by_kind();
    let calls_ns = (waits.in_calls_s * 1e9) as u64;
    if calls_ns == 0 {
        return String::new();
    }
    let sum = |kinds_of: &[CallKind]| {
        let seconds: f64 =
            kinds_of.iter().filter_map(|kind| kinds.get(kind)).map(|it| it.seconds).sum();
        format_duration((seconds * 1e9) as u64)
    };
    let reads = sum(&[CallKind::SmallFiles, CallKind::LargeFiles, CallKind::ReadAgain]);
    let names = sum(&[CallKind::Names, CallKind::MissingNames]);
    let slowest = waits
        .files
        .iter()
        .map(|(file, at)| (at.kinds.values().map(|spent| spent.seconds).sum::<f64>(), *file));
    let slowest = slowest.max_by(|one, other| one.0.total_cmp(&other.0));
    let slowest = slowest.and_then(|(seconds, file)| {
        let path = waits.names.get(file as usize)?;
        Some(format!(" Slowest: {} ({}).", line(path), format_duration((seconds * 1e9) as u64)))
    });
    format!(
        "In calls on files {} of {} ({}): {reads} in reads, {names} in look-ups; touches of \
         mapped files are not timed.{}\n\n",
        format_duration(calls_ns),
        format_duration(took_ns),
        percent(calls_ns, took_ns),
        slowest.unwrap_or_default(),
    )
}

fn joined(total: String, parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { total } else { format!("{total}: {}", parts.join(", ")) }
}

/// `1,203: 1,150 No such file or directory, ...`, the most frequent first.
fn failed_opens(all: &TraceSummary) -> String {
    let mut errors: Vec<_> = all.failed_opens.iter().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let total = errors.iter().map(|(_, count)| **count).sum();
    let words = |error: i32| seekless::sys::reason(&std::io::Error::from_raw_os_error(error));
    joined(
        format_count(total),
        errors.iter().map(|(error, n)| format!("{} {}", format_count(**n), words(**error))),
    )
}

fn bytes(all: &TraceSummary) -> String {
    let again = percent(all.read_bytes.saturating_sub(all.unique_bytes), all.read_bytes);
    format!(
        "{} read, {} of them unique ({again} read again), {} written",
        format_bytes(all.read_bytes),
        format_bytes(all.unique_bytes),
        format_bytes(all.written_bytes)
    )
}

fn sizes(sizes: &Sizes) -> String {
    if sizes.files == 0 || sizes.max == 1 {
        return String::new(); // ids have no sizes
    }
    let [p25, median, p75, p99, max] =
        [sizes.p25, sizes.median, sizes.p75, sizes.p99, sizes.max].map(format_bytes);
    let (small, middling) =
        (percent(sizes.under_4_kib, sizes.files), percent(sizes.under_32_kib, sizes.files));
    format!(
        "p25 {p25}, median {median}, p75 {p75}, p99 {p99}, largest {max}; {small} under 4 KiB, {middling} under 32 KiB"
    )
}

fn loads(all: &TraceSummary) -> String {
    let reuse = &all.reuse;
    if reuse.loads == 0 {
        return String::new();
    }
    let (run, any) =
        (percent(reuse.repeated_in_run, reuse.loads), percent(reuse.repeated, reuse.loads));
    let mut text =
        format!("{} of whole files, {run} repeat one of the same run", format_count(reuse.loads));
    if all.runs.len() > 1 {
        let _ = write!(text, ", {any} one of the same or an earlier run");
    }
    text
}

fn spread(all: &TraceSummary) -> String {
    if all.runs.len() < 2 {
        return String::new();
    }
    let every = counted(all.reuse.files_in_every_run, "file");
    format!("{every} in every run, {} in one only", format_count(all.reuse.files_in_one_run))
}

/// A warning for latencies that were recorded by stops; nothing for others.
fn latencies(all: &TraceSummary) -> String {
    let recorded = all
        .metadata
        .runs
        .iter()
        .any(|run| run.source.starts_with("seekless record") && run.source.contains("ptrace"));
    if recorded {
        "upper bounds: the recorder's stops are in them".to_owned()
    } else {
        String::new()
    }
}

/// Calls on files that were left out; nothing if all files were recorded.
fn left_out(all: &TraceSummary) -> String {
    let runs = &all.metadata.runs;
    let globs = |flag: &str, of: fn(&RunInfo) -> &Vec<String>| {
        let globs: BTreeSet<&String> = runs.iter().flat_map(of).collect();
        globs.into_iter().map(|glob| format!(" {flag} {glob}")).collect::<String>()
    };
    let chosen = globs("--only", |run| &run.only) + &globs("--exclude", |run| &run.exclude);
    if chosen.is_empty() {
        return chosen;
    }
    let calls = runs.iter().map(|run| run.left_out).sum();
    format!("{}, by{chosen}", counted(calls, "call"))
}

fn blind_spots(all: &TraceSummary) -> String {
    let spots = all.metadata.blind_spots();
    let spots: Vec<String> =
        spots.iter().map(|(what, count)| format!("{what} {}", format_count(*count))).collect();
    spots.join(", ")
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        "0 %".to_owned()
    } else {
        format!("{:.1} %", 100.0 * part as f64 / whole as f64)
    }
}

fn runs_table(all: &TraceSummary) -> String {
    let header = [
        "run",
        "what",
        "accesses",
        "loads",
        "failed opens",
        "files",
        "only here",
        "read",
        "unique",
        "span",
    ];
    let nobody = RunInfo::default();
    let infos = all.metadata.runs.iter().chain(std::iter::repeat(&nobody));
    let rows = all
        .runs
        .iter()
        .zip(infos)
        .enumerate()
        .map(|(number, (run, info))| run_row(number, run, info));
    table(&header, rows.collect())
}

fn run_row(number: usize, run: &RunSummary, info: &RunInfo) -> Vec<String> {
    let what =
        if info.command.is_empty() { file_name(&info.source) } else { info.command.join(" ") };
    vec![
        number.to_string(),
        shortened(&what),
        format_count(run.accesses),
        format_count(run.loads),
        format_count(run.failed_opens),
        format_count(run.files),
        format_count(run.files_only_here),
        format_bytes(run.read_bytes),
        format_bytes(run.unique_bytes),
        format_duration(run.span_ns),
    ]
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// At most 32 characters, so that the table keeps its shape.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(31) {
        Some((end, _)) if text.chars().count() > 32 => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}
