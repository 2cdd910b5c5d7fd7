//! The figures, on the terminal and as tables to save.

use super::Args;
use super::way::Way;
use crate::rounds::load_average;
use seekless::device::units::{format_bytes, format_count};
use seekless::measure::ReadsServed;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;

/// The figures of one program, by way.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) program: String,
    pub(super) way: Way,
    pub(super) seconds: f64,
    pub(super) of_plain: f64,
    /// The share of a plain start's wait that is gone; a wait is what a start takes longer than
    /// one with all cached.
    pub(super) wait_removed: f64,
    pub(super) requests: u64,
    pub(super) bytes: u64,
    /// What `run` expected that the device serves.
    pub(super) expected_requests: Option<u64>,
    pub(super) expected_bytes: Option<u64>,
}

impl Row {
    pub(super) fn expects(&mut self, expected: ReadsServed) {
        self.expected_requests = Some(expected.requests);
        self.expected_bytes = Some(expected.bytes);
    }
}

/// Prints the figures.
pub(super) fn show(args: &Args, rows: &[Row], before: f64) -> anyhow::Result<()> {
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(rows)?);
        return Ok(());
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.program.clone(),
            row.way.name(),
            format!("{:.2}", row.seconds),
            format!("{:.2}", row.of_plain),
            format!("{:.2}", row.wait_removed),
            format_count(row.requests),
            row.expected_requests.map_or_else(String::new, format_count),
            format_bytes(row.bytes),
            row.expected_bytes.map_or_else(String::new, format_bytes),
        ]
    });
    let header = [
        "program",
        "start",
        "seconds",
        "of plain",
        "wait removed",
        "requests",
        "expected",
        "bytes",
        "expected",
    ];
    println!("{}", table(&header, cells.collect()));
    println!(
        "\nCold, from exec to exit; medians of {} rounds that alternate, after one discarded; on \
         {}, readahead {} KiB; {}; profile and pack are from another start of the kind. Expected: \
         by run --dry-run. Load average {before} before and {} after.",
        args.rounds,
        args.measured_on(),
        args.readahead,
        cold(args),
        load_average()
    );
    Ok(())
}

/// What is cold, in words.
fn cold(args: &Args) -> &'static str {
    match args.whole {
        true => {
            "the programs, their libraries and our own command lie there too, so all but the \
             libraries of C and of gcc is cold"
        }
        false => "only the packages lie there; Python and our own command are cached",
    }
}

/// What the names of tables end with, by device.
fn device(args: &Args) -> &'static str {
    match (args.delay_ms.is_some(), args.device.as_str(), args.below) {
        (true, ..) => "-fuse",
        (_, "none", _) => "-disk",
        (.., false) if args.whole => "-blkio",
        _ => "",
    }
}

/// Seconds, requests and bytes, by program and way, the wait that is gone, and what was expected.
pub(super) fn all(args: &Args, rows: &[Row]) -> Vec<Table> {
    let under = format!(
        "From exec to exit; {}; on {}, kernel readahead {} KiB; profile and pack are of another \
         start of the kind.",
        cold(args),
        args.measured_on(),
        args.readahead
    );
    let of = |id: &str| {
        let whole = if args.whole { "whole-" } else { "" };
        format!("{whole}{id}{}", device(args))
    };
    let ours = [Way::Run, Way::RunMount, Way::Mount, Way::Wrong, Way::Auto, Way::LaidRun];
    let table = |id, title, unit, better| {
        Table::new(&of(id), title, "program", unit, better)
            .contenders(ours.map(|way| Contender::ours(way.contender())))
            .under(&under)
    };
    let cached = rows.iter().filter(|row| row.way == Way::Cached);
    let cached: Vec<String> =
        cached.map(|row| format!("{} {:.2} s", row.program, row.seconds)).collect();
    let mut seconds = table("seconds", "Starts from cold", "s", Better::Lower);
    if !cached.is_empty() {
        seconds = seconds.under(&format!("{under} With all cached: {}.", cached.join(", ")));
    }
    let mut removed = table("wait", "The same: share of the wait that is gone", "", Better::Higher);
    let mut requests = table("requests", "The same: requests of the device", "", Better::Lower);
    let mut megabytes = table("megabytes", "The same: bytes read", "MB", Better::Lower);
    let mut expected = expected(&of("expected"), &under);
    let median = |value| Figure::median(value, args.rounds);
    for row in rows {
        let (program, way) = (row.program.replace('+', ", "), row.way.contender());
        if row.way == Way::Cached {
            continue; // no rival: nothing takes less
        }
        seconds.set(&program, way, median(row.seconds));
        if ours.contains(&row.way) {
            removed.set(&program, way, median(row.wait_removed));
        }
        requests.set(&program, way, median(row.requests as f64));
        megabytes.set(&program, way, median(row.bytes as f64 / 1e6));
        let case = format!("{program}: {way}");
        if let Some((of_requests, of_bytes)) = row.expected_requests.zip(row.expected_bytes) {
            expected.set(&case, EXPECTED[0], Figure::exact(share(of_requests, row.requests)));
            expected.set(&case, EXPECTED[1], Figure::exact(share(of_bytes, row.bytes)));
        }
    }
    vec![seconds, removed, requests, megabytes, expected]
}

const EXPECTED: [&str; 2] = ["requests", "bytes"];

fn expected(id: &str, under: &str) -> Table {
    let title = "What run expects, of what the device served";
    Table::new(id, title, "program: start", "", Better::Neither)
        .contenders(EXPECTED.map(Contender::ours))
        .under(under)
}

/// One figure of another.
fn share(expected: u64, counted: u64) -> f64 {
    expected as f64 / counted.max(1) as f64
}
