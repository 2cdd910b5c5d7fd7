//! `seekless sim --device`: caches and readaheads in time.

use super::{Args, Outputs, page};
use crate::command::foreign::say_left_out;
use crate::output;
use crate::output::table;
use crate::price::{self, Prices};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::device::{Charged, DeviceModel, DeviceSpec, Queue};
use seekless::policy::readahead::{About, Options, READAHEADS};
use seekless::sim::timed::{self, Pacing, Rules, TimedCase, TimedFigures, Workload};
use std::process::ExitCode;

const PAGE_BYTES: u64 = 4096;

/// Each readahead, what it does and its source.
pub(super) fn readaheads() -> String {
    let width = READAHEADS.iter().map(|about| about.name.len()).max().unwrap_or(0);
    let line = |about: &About| {
        let About { name, what, source, .. } = about;
        format!("  {name:width$}  {what}\n  {:width$}  {source}\n", "")
    };
    READAHEADS.iter().map(line).collect()
}

/// Checks a readahead's name.
pub(super) fn name(word: &str) -> Result<String, String> {
    match seekless::policy::readahead::check_name(word) {
        Ok(()) => Ok(word.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads the traces once, simulates every case on all cores, and prints.
pub(super) fn run(
    args: &Args,
    device: &DeviceSpec,
    prices: Option<&Prices>,
    outputs: Outputs,
) -> anyhow::Result<ExitCode> {
    let pacing = if args.arrivals { Pacing::Arrivals } else { Pacing::Closed };
    let rules =
        Rules { pacing, think_ns: args.think, write_back: args.write_back, ..Rules::default() };
    rules.check()?;
    let memory = args.memory.or_else(|| seekless::sys::memory::free_bytes().map(|free| free / 2));
    let mut progress = output::counting("Reading", "rows");
    let import = args.selected.of(args.foreign.options()?);
    let workload = Workload::read(&args.traces, &import, memory, &mut progress)?;
    drop(progress);
    say_left_out(&import);
    let cases = cases(args, &workload)?;
    timed::check(&cases)?;
    let mut progress = output::progress("Simulating");
    let model =
        || -> Box<dyn DeviceModel> { Box::new(Queue::new(device.model(), timed::HOST_QUEUE)) };
    let rows = timed::each(&workload, &cases, &rules, &model, &mut progress)?;
    drop(progress);
    if let Some(html) = outputs.html {
        page::timed(html, args, &device.to_string(), &workload, &rows)?;
    }
    if args.json {
        let charged = rows.iter().map(|row| Some(charged(row)));
        price::json(outputs.words, &rows, "", prices, charged)?;
    } else {
        let device = device.to_string();
        let mut text = report(&workload, &output::line(&device), args.think, &rows);
        if let Some(prices) = prices {
            let rows = rows.iter().map(|row| (case(row), charged(row)));
            text += &prices.report(&["policy", "capacity", "readahead"], rows.collect());
        }
        outputs.words.text(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a provider charges for.
fn charged(row: &TimedFigures) -> Charged {
    // Pages that were written are not read.
    let bytes = match row.device_writes {
        0 => row.device_bytes,
        _ => row.device_bytes.min(PAGE_BYTES * (row.pages_fetched + row.pages_prefetched)),
    };
    Charged { reads: row.device_reads, writes: row.device_writes, bytes, lists: 0 }
}

fn cases(args: &Args, workload: &Workload) -> anyhow::Result<Vec<TimedCase>> {
    let working_set = workload.distinct_pages();
    let resolved = args.capacity.iter().map(|capacities| capacities.resolve_pages(working_set));
    let capacities = resolved.collect::<Result<Vec<_>, _>>()?.concat();
    let options =
        Options { lead: args.readahead_lead, ..Options::with_max_bytes(args.readahead_max) };
    let mut cases = Vec::new();
    for capacity in capacities {
        for policy in args.names() {
            cases.extend(args.readahead.iter().map(|readahead| TimedCase {
                policy: policy.to_owned(),
                capacity: Some(capacity),
                readahead: readahead.clone(),
                options,
            }));
        }
    }
    Ok(cases)
}

fn report(workload: &Workload, device: &str, think_ns: u64, rows: &[TimedFigures]) -> String {
    let thinks = match think_ns {
        0 => "which computes nothing between reads (--think)".to_owned(),
        think_ns => format!("which computes {} with each page", format_duration(think_ns)),
    };
    let heading = format!(
        "{} of {} on {device}, by a program {thinks}\n\n",
        counted(workload.accesses(), "access"),
        counted(workload.files.len() as u64, "file"),
    );
    let mut text = heading + &time_table(rows) + "\n" + &page_table(rows);
    if rows.iter().any(|row| row.device_writes + row.pages_dirty_at_end > 0) {
        text += &format!("\n{}", write_table(rows));
    }
    text
}

fn case(row: &TimedFigures) -> Vec<String> {
    let capacity = row.capacity.map_or("all".to_owned(), format_bytes);
    vec![row.policy.clone(), capacity, row.readahead.clone()]
}

fn seconds(seconds: f64) -> String {
    format_duration((seconds * 1e9).round() as u64)
}

/// What the program gets, and what the device does for it.
fn time_table(rows: &[TimedFigures]) -> String {
    let header = [
        "policy",
        "capacity",
        "readahead",
        "delivered",
        "time",
        "waited",
        "device busy",
        "queueing",
        "requests",
        "read and written",
        "of delivered",
    ];
    let row = |row: &TimedFigures| {
        let mut cells = case(row);
        cells.extend([
            format_bytes(row.bytes_per_second.round() as u64) + "/s",
            seconds(row.seconds),
            seconds(row.wait_seconds),
            seconds(row.device_busy_seconds),
            seconds(row.queueing_seconds),
            format_count(row.device_reads + row.device_writes),
            format_bytes(row.device_bytes),
            format!("{:.2}", row.amplification),
        ]);
        cells
    };
    table(&header, rows.iter().map(row).collect())
}

/// What became of the pages.
fn page_table(rows: &[TimedFigures]) -> String {
    let header = [
        "policy",
        "capacity",
        "readahead",
        "asked for",
        "there",
        "fetched",
        "prefetched",
        "used",
        "late",
        "wasted",
        "evicted unused",
    ];
    let row = |row: &TimedFigures| {
        let mut cells = case(row);
        let counts = [
            row.pages_demanded,
            row.pages_ready,
            row.pages_fetched,
            row.pages_prefetched,
            row.pages_used,
            row.pages_late,
            row.pages_wasted,
            row.pages_evicted_unused,
        ];
        cells.extend(counts.map(format_count));
        cells
    };
    table(&header, rows.iter().map(row).collect())
}

/// What became of the pages that were written to.
fn write_table(rows: &[TimedFigures]) -> String {
    let header =
        ["policy", "capacity", "readahead", "device writes", "dirty at the end", "writes held up"];
    let row = |row: &TimedFigures| {
        let mut cells = case(row);
        cells.extend([row.device_writes, row.pages_dirty_at_end, row.held_up].map(format_count));
        cells
    };
    table(&header, rows.iter().map(row).collect())
}
