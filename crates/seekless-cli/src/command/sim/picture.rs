//! `--picture`: bars for each policy and capacity, or lines for curves and for misses over time.

use super::{Args, Row, table};
use seekless::device::units::format_count;
use seekless::report::Drawing;
use seekless::report::chart::{Axis, BarChart, LineChart, LinePoint, Series, Unit};
use seekless::sim::Totals;
use seekless::sim::curve::{Curve, Point};

/// Miss ratios over cache sizes, with their error bands.
pub(super) fn curves(args: &Args, totals: &Totals, curves: &[Curve]) -> LineChart {
    let point = |point: &Point| LinePoint {
        x: point.capacity as f64,
        y: point.miss_ratio,
        low: point.low,
        high: point.high,
    };
    let series = |curve: &Curve| Series {
        name: curve.policy.clone(),
        points: curve.points.iter().map(point).collect(),
    };
    let bands = match curves.first() {
        Some(curve) if curve.confidence < 1.0 => {
            format!(
                " The bands hold the full run's value {:.0} times in 100.",
                100.0 * curve.confidence
            )
        }
        _ => String::new(),
    };
    LineChart {
        caption: caption(totals) + &bands,
        ..sizes(args, totals, curves.iter().map(series).collect())
    }
}

/// Miss ratios over cache sizes, a line for each policy.
pub(super) fn by_size(args: &Args, totals: &Totals, rows: &[Row]) -> LineChart {
    let mut series: Vec<Series> = Vec::new();
    for figures in rows.iter().map(|row| &row.figures) {
        let (name, size) = (figures.name(), figures.capacity as f64);
        let point = LinePoint::exact(size, figures.miss_ratio);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => series.push(Series { name, points: vec![point] }),
        }
    }
    series.iter_mut().for_each(|it| it.points.sort_by(|one, other| one.x.total_cmp(&other.x)));
    sizes(args, totals, series)
}

fn sizes(args: &Args, totals: &Totals, series: Vec<Series>) -> LineChart {
    LineChart {
        title: title("Miss ratio by cache size", args),
        x: Axis::log("cache size", capacity_unit(totals)),
        y: Axis::linear("miss ratio", Unit::Percent),
        series,
        caption: caption(totals),
    }
}

/// Draws plain runs: over time with `--every`, otherwise as bars.
pub(super) fn rows(args: &Args, totals: &Totals, rows: &[Row]) -> Drawing {
    match args.every {
        Some(_) => over_time(args, totals, rows).draw(),
        None => bars(args, totals, rows),
    }
}

/// Miss ratios over the requests, a line for each cache.
pub(super) fn over_time(args: &Args, totals: &Totals, rows: &[Row]) -> LineChart {
    let series = |row: &Row| {
        let point = |point: &seekless::sim::Point| {
            LinePoint::exact(point.requests as f64, point.recent_miss_ratio)
        };
        let name = format!("{}, {}", row.figures.name(), table::size(totals, row.figures.capacity));
        Series { name, points: row.figures.over_time.iter().map(point).collect() }
    };
    let every = args.every.map_or(0, u64::from);
    LineChart {
        title: title("Miss ratio over time", args),
        x: Axis::linear("requests", Unit::Count),
        y: Axis::linear(
            &format!("miss ratio of each {} requests", format_count(every)),
            Unit::Percent,
        ),
        series: rows.iter().map(series).collect(),
        caption: caption(totals),
    }
}

fn bars(args: &Args, totals: &Totals, rows: &[Row]) -> Drawing {
    let mut capacities: Vec<u64> = Vec::new();
    let mut policies: Vec<String> = Vec::new();
    for figures in rows.iter().map(|row| &row.figures) {
        if !capacities.contains(&figures.capacity) {
            capacities.push(figures.capacity);
        }
        if !policies.contains(&figures.name()) {
            policies.push(figures.name());
        }
    }
    let value = |policy: &str, capacity: u64| {
        let mut figures = rows.iter().map(|row| &row.figures);
        let found =
            figures.find(|figures| figures.name() == policy && figures.capacity == capacity);
        found.map_or(f64::NAN, |figures| figures.miss_ratio)
    };
    let values = |policy: String| {
        let values = capacities.iter().map(|&capacity| value(&policy, capacity)).collect();
        (policy, values)
    };
    let chart = BarChart {
        title: title("Miss ratio by policy and cache size", args),
        x_label: "cache size".to_owned(),
        y: Axis::linear("miss ratio", Unit::Percent),
        series: policies.into_iter().map(values).collect(),
        groups: capacities.iter().map(|&capacity| table::size(totals, capacity)).collect(),
        caption: caption(totals),
    };
    chart.draw()
}

fn title(what: &str, args: &Args) -> String {
    let name = args.traces.first().and_then(|path| path.file_name());
    let more = if args.traces.len() > 1 { ", ..." } else { "" };
    name.map_or(what.to_owned(), |name| format!("{what}: {}{more}", name.to_string_lossy()))
}

fn caption(totals: &Totals) -> String {
    format!("{}. Seekless {}.", table::heading(totals).trim_end(), env!("CARGO_PKG_VERSION"))
}

fn capacity_unit(totals: &Totals) -> Unit {
    if table::counts_ids(totals) { Unit::Count } else { Unit::Bytes }
}
