//! `trace info --html`: what a trace holds, as a page.

use super::{Report, kind_words};
use crate::output::Html;
use seekless::device::units::{counted, format_count, format_duration};
use seekless::report::page::{
    Bar, Bars, Cell, Column, Content, Curve, Hue, Kind, Leaf, Page, Span, Table, Timeline, Treemap,
};
use seekless::tools::seen::{Done, Moment, Seen, WAIT_NS};
use seekless::trace::Kind as TraceKind;
use seekless::trace::summary::files::{FileUse, SortBy};
use seekless::trace::summary::{CallKind, TraceSummary, Waits};
use std::collections::BTreeSet;

/// What a page shows besides the report.
pub(super) struct Pictures {
    pub(super) waits: Waits,
    pub(super) seen: Seen,
    pub(super) files: Vec<FileUse>,
}

/// Writes the page.
pub(super) fn write(
    html: Html,
    report: &Report<'_>,
    all: &TraceSummary,
    pictures: &mut Pictures,
) -> anyhow::Result<()> {
    let (answer, rest) = report.answer();
    let mut page = Page::new(&format!("seekless trace info {}", report.path));
    for sentence in [answer, rest].iter().filter(|text| !text.is_empty()) {
        page = page.sentence(sentence);
    }
    if let Some(bars) = calls(&pictures.waits) {
        page = page.bars(bars);
    }
    if !pictures.seen.moments.is_empty() {
        page = page.timeline(timeline(&pictures.seen, all));
    }
    if all.metadata.kind == TraceKind::Files {
        page = page.treemap(treemap(&pictures.files));
    }
    page = page.table(files(&mut pictures.files));
    if !pictures.seen.took.is_empty() {
        page = page.curve(latencies(&pictures.seen));
    }
    html.write(page, report.figures())
}

/// The time in calls by what they did.
fn calls(waits: &Waits) -> Option<Bars> {
    let mut kinds: Vec<_> =
        waits.by_kind().into_iter().filter(|(_, spent)| spent.seconds > 0.0).collect();
    kinds.sort_by(|one, other| other.1.seconds.total_cmp(&one.1.seconds));
    let row = |(kind, spent): (CallKind, seekless::trace::summary::Spent)| Bar {
        label: kind_words(kind).to_owned(),
        values: vec![spent.seconds],
        figure: format!("{} in {}", seconds(spent.seconds), counted(spent.calls, "call")),
    };
    (!kinds.is_empty()).then(|| Bars {
        heading: "Where the time in calls goes".to_owned(),
        note: "Of all runs; where threads are in calls at once, they share the time.".to_owned(),
        parts: vec!["time in calls".to_owned()],
        rows: kinds.into_iter().map(row).collect(),
    })
}

fn seconds(value: f64) -> String {
    format_duration((1e9 * value) as u64)
}

/// What is drawn of a moment: its place in the legend.
fn kind(moment: &Moment) -> u32 {
    match (moment.done, moment.took_ns >= WAIT_NS) {
        (Done::Read, true) => 0,
        (Done::Name, true) => 1,
        (Done::Touch, _) => 2,
        (Done::Write, _) => 3,
        (Done::Read, false) => 4,
        (Done::Name, false) => 5,
    }
}

fn kinds(seen: &Seen) -> Vec<Kind> {
    let wait = format_duration(WAIT_NS).replace(".0 ", " ");
    let (read, name) = match seen.took.is_empty() {
        true => ("read".to_owned(), "look-up".to_owned()),
        false => ("shorter read".to_owned(), "shorter look-up".to_owned()),
    };
    let all = [
        (format!("read of {wait} or more"), Hue::Orange),
        (format!("look-up of {wait} or more"), Hue::Pink),
        ("first touch of a mapped page".to_owned(), Hue::Blue),
        ("write or sync".to_owned(), Hue::Yellow),
        (read, Hue::Green),
        (name, Hue::Grey),
    ];
    all.map(|(name, hue)| Kind { name, hue }).into()
}

fn timeline(seen: &Seen, all: &TraceSummary) -> Timeline {
    let all_kinds = kinds(seen);
    // The legend has what occurs.
    let occur: BTreeSet<u32> = seen.moments.iter().map(kind).collect();
    let span = |moment: &Moment| Span {
        row: moment.file,
        thread: moment.thread,
        kind: occur.range(..kind(moment)).count() as u32,
        start_s: moment.time_ns as f64 / 1e9,
        seconds: moment.took_ns as f64 / 1e9,
        bytes: moment.bytes,
    };
    let run = match all.runs.len() {
        0 | 1 => "Files in the order of their first use.".to_owned(),
        runs => format!(
            "Run {} of 0 to {}, the newest; files in the order of their first use.",
            seen.run,
            runs - 1
        ),
    };
    let thinned = match seen.left_out {
        0 => String::new(),
        count => format!(
            " The longest calls are drawn; {} more, of {} together, are left out.",
            format_count(count),
            format_duration(seen.left_out_ns),
        ),
    };
    Timeline {
        heading: "What it did when".to_owned(),
        note: run + &thinned,
        rows: seen.files.clone(),
        threads: (1..=seen.threads).map(|number| format!("thread {number}")).collect(),
        kinds: occur.iter().map(|&kind| all_kinds[kind as usize].clone()).collect(),
        spans: seen.moments.iter().map(span).collect(),
    }
}

fn treemap(files: &[FileUse]) -> Treemap {
    let leaf = |file: &FileUse| Leaf {
        path: file.path.clone(),
        wait_s: file.latency_ns as f64 / 1e9,
        bytes: file.read_bytes,
        requests: file.accesses,
    };
    Treemap {
        heading: "Folders".to_owned(),
        note: "By time in calls, bytes read, or calls, of all runs.".to_owned(),
        leaves: files.iter().map(leaf).collect(),
    }
}

fn files(files: &mut [FileUse]) -> Table {
    let timed = files.iter().any(|file| file.latency_ns > 0);
    let by = if timed { SortBy::Latency } else { SortBy::Read };
    by.sort(files);
    let row = |file: &FileUse| -> Vec<Cell> {
        vec![
            file.path.as_str().into(),
            (file.latency_ns as f64 / 1e9).into(),
            file.accesses.into(),
            file.missing.into(),
            file.read_bytes.into(),
            file.unique_bytes.into(),
            file.file_bytes.map_or(Cell::Empty, Cell::from),
            (file.first.time_ns as f64 / 1e9).into(),
        ]
    };
    Table {
        heading: "Files".to_owned(),
        note: match timed {
            true => "Of all runs, the longest time in calls first.".to_owned(),
            false => {
                "Of all runs, the most bytes read first; the trace has no latencies.".to_owned()
            }
        },
        columns: vec![
            Column::new("file", Content::Path),
            Column::new("in calls", Content::Seconds),
            Column::new("calls", Content::Count),
            Column::new("not found", Content::Count),
            Column::new("read", Content::Bytes),
            Column::new("unique", Content::Bytes),
            Column::new("size", Content::Bytes),
            Column::new("first used after", Content::Seconds),
        ],
        rows: files.iter().map(row).collect(),
    }
}

fn latencies(seen: &Seen) -> Curve {
    let name = |done: Done| match done {
        Done::Read => "reads",
        Done::Name => "look-ups",
        Done::Write => "writes and syncs",
        Done::Touch => "touches",
    };
    let lines = seen.took.iter().map(|(done, times)| {
        (format!("{} {}", format_count(times.count), name(*done)), times.steps().collect())
    });
    let caption = format!("Run {}; each time is known to a sixteenth.", seen.run);
    Curve::of_times("How long calls took", "calls", lines, &caption)
}
