//! The page of `sim --device`: what a program waits for its reads.

use super::super::Args;
use super::page;
use crate::output::Html;
use seekless::device::units::{counted, format_bytes, format_duration};
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::report::page::{Bar, Bars, Cell, Column, Content, Curve, Table};
use seekless::sim::timed::{TimedFigures, Workload};

/// Cases whose waits are drawn: more lines are no picture.
const DRAWN_MAX: usize = 8;

/// Writes it.
pub(in super::super) fn timed(
    html: Html,
    args: &Args,
    device: &str,
    workload: &Workload,
    rows: &[TimedFigures],
) -> anyhow::Result<()> {
    let mut page = page(args).sentence(&answer(rows)).bars(bars(rows));
    if rows.iter().any(|row| row.capacity != rows[0].capacity) {
        page = page.curve(by_size(rows));
    }
    page = page.curve(waits(rows)).table(times(rows)).table(pages(rows));
    let think = match args.think {
        0 => "nothing between reads (--think)".to_owned(),
        think => format!("{} with each page", format_duration(think)),
    };
    let accesses = counted(workload.accesses(), "access");
    let files = counted(workload.files.len() as u64, "file");
    let found = vec![
        ("accesses", format!("{accesses} of {files}")),
        ("device", device.to_owned()),
        ("the program computes", think),
        ("how", "simulated in time; each thread reads in its order".to_owned()),
    ];
    html.write(page, found)
}

fn name(row: &TimedFigures) -> String {
    let size = row.capacity.map_or("all".to_owned(), format_bytes);
    format!("{} of {size}, readahead {}", row.policy, row.readahead)
}

fn seconds(value: f64) -> String {
    format_duration((1e9 * value).round() as u64)
}

/// The fastest case beside the slowest.
fn answer(rows: &[TimedFigures]) -> String {
    let by_time =
        |one: &&TimedFigures, other: &&TimedFigures| one.seconds.total_cmp(&other.seconds);
    let (Some(best), Some(worst)) = (rows.iter().min_by(by_time), rows.iter().max_by(by_time))
    else {
        return "Nothing was simulated.".to_owned();
    };
    let took = |row: &TimedFigures| {
        format!("{}, {} of them waiting", seconds(row.seconds), seconds(row.wait_seconds))
    };
    match best.seconds < worst.seconds {
        true => format!(
            "With {} the program is fastest: it takes {}. With {} it takes {}.",
            name(best),
            took(best),
            name(worst),
            seconds(worst.seconds)
        ),
        false => format!("The program takes {}.", took(best)),
    }
}

fn bars(rows: &[TimedFigures]) -> Bars {
    let row = |row: &TimedFigures| Bar {
        label: name(row),
        values: vec![row.seconds],
        figure: format!("{}, waited {}", seconds(row.seconds), seconds(row.wait_seconds)),
    };
    Bars {
        heading: "How long the program takes".to_owned(),
        note: "By policy, capacity and readahead. Waits of several readers add up.".to_owned(),
        parts: vec!["time".to_owned()],
        rows: rows.iter().map(row).collect(),
    }
}

/// A line for each policy and readahead.
fn by_size(rows: &[TimedFigures]) -> Curve {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let name = format!("{}, {}", row.policy, row.readahead);
        let point = LinePoint::exact(row.capacity.unwrap_or(0) as f64, 1e9 * row.seconds);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series { name, points: vec![point] }),
        }
    }
    series.iter_mut().for_each(|it| it.points.sort_by(|one, other| one.x.total_cmp(&other.x)));
    let chart = LineChart {
        title: "Time by cache size".to_owned(),
        x: Axis::log("cache size", Unit::Bytes),
        y: Axis::linear("time", Unit::Duration),
        series,
        caption: String::new(),
    };
    Curve::of(chart)
}

fn waits(rows: &[TimedFigures]) -> Curve {
    let line = |row: &TimedFigures| {
        (name(row), row.waits.iter().map(|it| (it.at_most_ns, it.count)).collect())
    };
    let caption = match rows.len() > DRAWN_MAX {
        true => format!("The first {DRAWN_MAX} caches; accesses at the left did not wait."),
        false => "Accesses at the left did not wait.".to_owned(),
    };
    let lines = rows.iter().take(DRAWN_MAX).map(line);
    Curve::of_times("How long accesses wait", "accesses", lines, &caption)
}

fn cases(row: &TimedFigures) -> Vec<Cell> {
    let capacity = row.capacity.map_or(Cell::Text("all".to_owned()), Cell::from);
    vec![row.policy.as_str().into(), capacity, row.readahead.as_str().into()]
}

fn case_columns() -> Vec<Column> {
    vec![
        Column::new("policy", Content::Text),
        Column::new("capacity", Content::Bytes),
        Column::new("readahead", Content::Text),
    ]
}

fn times(rows: &[TimedFigures]) -> Table {
    let row = |row: &TimedFigures| -> Vec<Cell> {
        let mut cells = cases(row);
        cells.extend([
            row.seconds.into(),
            row.wait_seconds.into(),
            row.device_busy_seconds.into(),
            row.queueing_seconds.into(),
            (row.device_reads + row.device_writes).into(),
            row.device_bytes.into(),
        ]);
        cells
    };
    let mut columns = case_columns();
    columns.extend([
        Column::new("time", Content::Seconds),
        Column::new("waited", Content::Seconds),
        Column::new("device busy", Content::Seconds),
        Column::new("queueing", Content::Seconds),
        Column::new("requests", Content::Count),
        Column::new("bytes", Content::Bytes),
    ]);
    let rows = rows.iter().map(row).collect();
    Table { heading: "Times".to_owned(), note: String::new(), columns, rows }
}

fn pages(rows: &[TimedFigures]) -> Table {
    let row = |row: &TimedFigures| -> Vec<Cell> {
        let mut cells = cases(row);
        let counts = [
            row.pages_demanded,
            row.pages_ready,
            row.pages_fetched,
            row.pages_prefetched,
            row.pages_used,
            row.pages_late,
            row.pages_wasted,
        ];
        cells.extend(counts.map(Cell::from));
        cells
    };
    let counts = ["asked for", "there", "fetched", "prefetched", "used", "late", "wasted"];
    let mut columns = case_columns();
    columns.extend(counts.map(|name| Column::new(name, Content::Count)));
    let note = "Late: prefetched, and still waited for. Wasted: prefetched, and never read.";
    let rows = rows.iter().map(row).collect();
    Table { heading: "Pages".to_owned(), note: note.to_owned(), columns, rows }
}
