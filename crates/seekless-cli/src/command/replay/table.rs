//! The report of a replay in words.

use crate::output::{self, shown, table};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::measure::replay::{DeviceServed, Rounds};
use seekless::tools::replay::{Percentiles, Report};
use std::fmt::Write;

pub(super) fn of(report: &Report) -> String {
    let mut text = head(report);
    let mut header = vec![""];
    if report.real.is_some() {
        header.push("device");
    }
    let name = report.model_name.as_deref().map(shown);
    if let Some(name) = &name {
        header.push(name);
    }
    if report.model_error.is_some() {
        header.push("off by");
    }
    text.push('\n');
    text += &table(&header, rows(report));
    if let Some(served) = report.real.as_ref().and_then(|real| real.device) {
        text += &format!("\nThe device counted, of all programs: {}\n", counters(&served));
    }
    if report.real.as_ref().and_then(|real| real.stable) == Some(false) {
        text += "The rounds did not become stable: something else uses the device or processors.\n";
    }
    text
}

fn head(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<9} {}", output::line(value));
    };
    let ios = counted(report.ios, "I/O");
    line("played", &format!("{ios} of {}", report.trace));
    if let Some(place) = &report.target {
        let made = if place.made { ", made for this" } else { "" };
        let on = place.device.as_ref().map_or(String::new(), |name| format!(" on {name}"));
        let past = if place.direct { "past" } else { "through" };
        let (size, engine) = (format_bytes(place.bytes), &place.engine);
        let where_ =
            format!("{} ({size}{made}){on}, {past} the page cache, by {engine}", place.name);
        line("on", &where_);
    }
    let passes = report.real.as_ref().or(report.model.as_ref()).map_or(1, |rounds| rounds.passes);
    let passes = if passes > 1 { format!(", {passes} passes a round") } else { String::new() };
    line("pace", &format!("{}, at most {} in flight{passes}", report.pace, report.depth));
    for (name, value) in left_out(report) {
        line(name, &value);
    }
    text
}

/// What was not played as the trace has it.
fn left_out(report: &Report) -> Vec<(&'static str, String)> {
    let (changes, skipped) = (&report.changes, &report.skipped);
    let mut lines = Vec::new();
    let mut some = |count: u64, name, what: &str| {
        if count > 0 {
            lines.push((name, format!("{} {what}", format_count(count))));
        }
    };
    some(changes.writes_left_out, "left out", "writes (see --writes-as-reads and --write)");
    some(skipped.without_place, "left out", "accesses without a place (offset -1)");
    let first = skipped.first_missing.as_deref().unwrap_or_default();
    some(skipped.files_missing, "left out", &format!("files that are not there, such as {first}"));
    some(skipped.files_unreadable, "left out", "files that may not be read");
    some(skipped.files_not_direct, "left out", "files that cannot be read past the page cache");
    some(skipped.on_skipped_files, "left out", "I/Os on these files");
    some(changes.writes_as_reads, "changed", "writes are played as reads");
    some(changes.widened, "changed", "I/Os are widened to whole sectors");
    some(changes.cut, "changed", "I/Os over 1 MiB are cut");
    some(changes.remapped, "changed", "I/Os outside the target are folded into it");
    lines
}

type Cell = fn(&Rounds) -> Option<String>;

/// Every figure, if the device or the model has it.
const FIGURES: [(&str, Cell); 16] = [
    ("time", |it| Some(format_duration(it.time.median_ns))),
    ("  shortest", |it| several(it, format_duration(it.time.min_ns))),
    ("  longest", |it| several(it, format_duration(it.time.max_ns))),
    ("  spread", |it| several(it, format!("{:.1} %", 100.0 * it.time.spread))),
    ("  rounds", |it| several(it, it.rounds_ns.len().to_string())),
    ("I/Os a second", |it| Some(format_count(it.iops.round() as u64))),
    ("bandwidth", |it| Some(format!("{}/s", format_bytes(it.bytes_per_second.round() as u64)))),
    ("read p50", |it| latency(it.read_latency, |it| it.p50_ns)),
    ("read p99", |it| latency(it.read_latency, |it| it.p99_ns)),
    ("read p99.9", |it| latency(it.read_latency, |it| it.p999_ns)),
    ("read longest", |it| latency(it.read_latency, |it| it.max_ns)),
    ("write p50", |it| latency(it.write_latency, |it| it.p50_ns)),
    ("write p99", |it| latency(it.write_latency, |it| it.p99_ns)),
    ("issue lag", |it| it.lag.map(lag)),
    ("in flight", |it| Some(format!("{:.1}, at most {}", it.depth_mean, it.depth_max))),
    ("CPU for an I/O", |it| Some(format_duration(it.cpu_ns_per_io?.round() as u64))),
];

fn several(rounds: &Rounds, words: String) -> Option<String> {
    (rounds.rounds_ns.len() > 1).then_some(words)
}

fn latency(latency: Option<Percentiles>, of: fn(&Percentiles) -> u64) -> Option<String> {
    latency.as_ref().map(of).map(format_duration)
}

fn lag(lag: Percentiles) -> String {
    let [p50, p99, most] = [lag.p50_ns, lag.p99_ns, lag.max_ns].map(format_duration);
    format!("p50 {p50}, p99 {p99}, at most {most}")
}

fn rows(report: &Report) -> Vec<Vec<String>> {
    let columns: Vec<&Rounds> = report.real.iter().chain(&report.model).collect();
    let mut rows = Vec::new();
    for (name, cell) in FIGURES {
        let cells: Vec<Option<String>> = columns.iter().map(|rounds| cell(rounds)).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let mut row = vec![name.to_owned()];
        row.extend(cells.into_iter().map(Option::unwrap_or_default));
        if let Some(error) = &report.model_error {
            let off = match name {
                "time" => Some(error.time),
                "read p50" => error.read_p50,
                "read p99" => error.read_p99,
                _ => None,
            };
            row.push(off.map_or(String::new(), |off| format!("{:+.1} %", 100.0 * off)));
        }
        rows.push(row);
    }
    rows
}

fn counters(served: &DeviceServed) -> String {
    let kind = |count, merged, bytes, what: &str| {
        let (count, merged) = (format_count(count), format_count(merged));
        format!("{count} {what} ({merged} merged), {}", format_bytes(bytes))
    };
    let mut text = kind(served.reads, served.reads_merged, served.read_bytes, "reads");
    if served.writes > 0 {
        text += "; ";
        text += &kind(served.writes, served.writes_merged, served.write_bytes, "writes");
    }
    format!("{text}; busy {}", format_duration(served.busy_ns))
}
