//! `sim --html`: the figures as a page.

mod packed;
mod timed;

pub(super) use packed::packed;
pub(super) use timed::timed;

use super::{Args, Row, picture, table};
use crate::output::Html;
use seekless::device::units::format_count;
use seekless::report::chart::{LineChart, LinePoint, Series};
use seekless::report::page::{Bar, Bars, Cell, Column, Content, Curve, Page, Table};
use seekless::sim::{Figures, Totals, curve};

/// Writes the page of plain runs.
pub(super) fn rows(html: Html, args: &Args, totals: &Totals, rows: &[Row]) -> anyhow::Result<()> {
    let chart = picture::by_size(args, totals, rows);
    let mut page = page(args).sentence(&answer(totals, &chart)).sentence(&unavoidable(totals));
    let sizes = sizes(&chart);
    if sizes.len() == 1 {
        page = page.bars(bars(totals, rows));
    } else {
        page = page.curve(Curve::of(chart));
    }
    if args.every.is_some() {
        let chart = picture::over_time(args, totals, rows);
        page = page.curve(Curve::of(chart));
    }
    let figures: Vec<&Figures> = rows.iter().map(|row| &row.figures).collect();
    page = page.table(caches(totals, &figures));
    if totals.writes > 0 {
        page = page.table(writes(totals, &figures));
    }
    html.write(page, found(args, totals))
}

/// Writes the page of `--curve`.
pub(super) fn curves(
    html: Html,
    args: &Args,
    totals: &Totals,
    curves: &[curve::Curve],
) -> anyhow::Result<()> {
    let chart = picture::curves(args, totals, curves);
    let page = page(args)
        .sentence(&answer(totals, &chart))
        .sentence(&unavoidable(totals))
        .curve(Curve::of(chart))
        .table(points(totals, curves));
    let mut found = found(args, totals);
    if let Some(curve) = curves.iter().find(|curve| curve.confidence < 1.0) {
        let bands = format!(
            "from {} of the ids; the bands hold the full run's value {:.0} times in 100",
            table::percent(curve.rate),
            100.0 * curve.confidence
        );
        found.push(("curves", bands));
    }
    html.write(page, found)
}

/// The page without its sections.
fn page(args: &Args) -> Page {
    let names: Vec<String> =
        args.traces.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    Page::new(&format!("seekless sim {}", names.join(" ")))
}

/// What was simulated.
fn found(args: &Args, totals: &Totals) -> Vec<(&'static str, String)> {
    let traces = args.traces.iter().map(|path| path.to_string_lossy().into_owned());
    vec![
        ("traces", traces.collect::<Vec<_>>().join(", ")),
        ("requests", table::heading(totals).trim_end().to_owned()),
        (
            "how",
            "each cache was simulated over the same requests, one after another; all runs go \
             through the same cache"
                .to_owned(),
        ),
    ]
}

/// The sizes that the lines pass, rising.
fn sizes(chart: &LineChart) -> Vec<u64> {
    let points = chart.series.iter().flat_map(|series| &series.points);
    let mut sizes: Vec<u64> = points.map(|point| point.x as u64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Which policy misses least, on average over the sizes, and what LRU misses.
fn answer(totals: &Totals, chart: &LineChart) -> String {
    let mean = |series: &Series| {
        let sum: f64 = series.points.iter().map(|point| point.y).sum();
        sum / series.points.len().max(1) as f64
    };
    let mut found: Vec<(f64, &Series)> =
        chart.series.iter().map(|series| (mean(series), series)).collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    let sizes = sizes(chart);
    let (Some(&(least, best)), Some(&first), Some(&last)) =
        (found.first(), sizes.first(), sizes.last())
    else {
        return "There are no requests.".to_owned();
    };
    let size = |bytes| table::size(totals, bytes);
    let reaches = |point: Option<&LinePoint>| table::percent(point.map_or(0.0, |point| point.y));
    let rival = found.iter().find(|(_, series)| series.name == "lru").or(found.last());
    let rival = rival.filter(|(_, series)| series.name != best.name);
    match (rival, sizes.len()) {
        (None, 1) => format!(
            "{} misses {} of the requests with {}.",
            best.name,
            table::percent(least),
            size(first)
        ),
        (None, _) => format!(
            "{} misses {} of the requests with {}, and {} with {}.",
            best.name,
            reaches(best.points.first()),
            size(first),
            reaches(best.points.last()),
            size(last),
        ),
        (Some((misses, other)), 1) => format!(
            "With {}, {} misses least: {} of the requests. {} misses {}.",
            size(first),
            best.name,
            table::percent(least),
            other.name,
            table::percent(*misses),
        ),
        (Some((misses, other)), count) => format!(
            "{} misses least: {} of the requests, on average over {count} sizes from {} to {}. {} misses {}.",
            best.name,
            table::percent(least),
            size(first),
            size(last),
            other.name,
            table::percent(*misses),
        ),
    }
}

fn unavoidable(totals: &Totals) -> String {
    let share = f64::from(totals.distinct) / totals.requests.max(1) as f64;
    format!(
        "Of {} requests {} are the first for their place, which no cache avoids.",
        format_count(totals.requests),
        table::percent(share)
    )
}

fn bars(totals: &Totals, rows: &[Row]) -> Bars {
    let row = |row: &Row| Bar {
        label: row.figures.name(),
        values: vec![row.figures.miss_ratio],
        figure: table::percent(row.figures.miss_ratio),
    };
    let size = rows.first().map_or(0, |row| row.figures.capacity);
    Bars {
        heading: format!("Misses with {}", table::size(totals, size)),
        note: "Of all requests.".to_owned(),
        parts: vec!["misses".to_owned()],
        rows: rows.iter().map(row).collect(),
    }
}

/// The column of capacities.
fn capacity(totals: &Totals) -> Column {
    let content = if table::counts_ids(totals) { Content::Count } else { Content::Bytes };
    Column::new("capacity", content)
}

fn caches(totals: &Totals, figures: &[&Figures]) -> Table {
    let row = |row: &&Figures| -> Vec<Cell> {
        vec![
            row.name().as_str().into(),
            row.capacity.into(),
            row.hit_ratio.into(),
            row.misses.into(),
            row.compulsory_misses.into(),
            row.non_compulsory_miss_ratio.into(),
            row.bypassed.into(),
            row.byte_miss_ratio.into(),
        ]
    };
    Table {
        heading: "Caches".to_owned(),
        note: String::new(),
        columns: vec![
            Column::new("policy", Content::Text),
            capacity(totals),
            Column::new("hits", Content::Share),
            Column::new("misses", Content::Count),
            Column::new("compulsory", Content::Count),
            Column::new("other misses", Content::Share),
            Column::new("bypassed", Content::Count),
            Column::new("missed bytes", Content::Share),
        ],
        rows: figures.iter().map(row).collect(),
    }
}

fn writes(totals: &Totals, figures: &[&Figures]) -> Table {
    let row = |row: &&Figures| -> Vec<Cell> {
        vec![
            row.name().as_str().into(),
            row.capacity.into(),
            row.device_reads.into(),
            row.write_backs.into(),
            row.write_back_runs.map_or(Cell::Empty, Cell::from),
            row.flushed.into(),
            row.dirty_at_end.into(),
            row.cost.into(),
        ]
    };
    let counts = ["read", "written back", "in runs", "while kept", "dirty at the end", "cost"];
    let counts = counts.map(|name| Column::new(name, Content::Count));
    Table {
        heading: "Writes".to_owned(),
        note: "The cost counts reads, write-backs, and what is still dirty at the end.".to_owned(),
        columns: [Column::new("policy", Content::Text), capacity(totals)]
            .into_iter()
            .chain(counts)
            .collect(),
        rows: figures.iter().map(row).collect(),
    }
}

fn points(totals: &Totals, curves: &[curve::Curve]) -> Table {
    let is_sampled = curves.iter().any(|curve| curve.confidence < 1.0);
    let row = |curve: &curve::Curve, point: &curve::Point| {
        let mut cells: Vec<Cell> = vec![
            curve.policy.as_str().into(),
            point.capacity.into(),
            point.miss_ratio.into(),
            point.byte_miss_ratio.into(),
        ];
        if is_sampled {
            cells.extend([point.low.into(), point.high.into()]);
        }
        cells
    };
    let rows = curves.iter().flat_map(|curve| curve.points.iter().map(move |it| row(curve, it)));
    let shares = ["misses", "missed bytes", "misses at least", "misses at most"];
    let shares = shares.into_iter().take(if is_sampled { 4 } else { 2 });
    Table {
        heading: "Points of the curves".to_owned(),
        note: String::new(),
        columns: [Column::new("policy", Content::Text), capacity(totals)]
            .into_iter()
            .chain(shares.map(|name| Column::new(name, Content::Share)))
            .collect(),
        rows: rows.collect(),
    }
}
