//! The picture of a replay: where each I/O went, and below it how long it took, by time.

use seekless::device::units::{counted, format_duration};
use seekless::measure::replay::{Point, Rounds};
use seekless::report::Drawing;
use seekless::report::chart::{Axis, DotChart, DotSeries, Unit};
use seekless::tools::replay::Report;

/// Draws the device, and the model beside it.
pub(super) fn of(report: &Report) -> Drawing {
    let model = report.model_name.as_deref().unwrap_or_default();
    let real = report.real.as_ref().map(|rounds| ("device", rounds));
    let panels: Vec<(&str, &Rounds)> =
        real.into_iter().chain(report.model.as_ref().map(|rounds| (model, rounds))).collect();
    let place = |point: &Point| {
        let start = report.starts.get(point.file as usize).copied().unwrap_or(0);
        start.saturating_add(point.offset) as f64
    };
    let places = chart(&panels, "place", Unit::Bytes, &place);
    let latencies = chart(&panels, "latency", Unit::Duration, &|point| point.latency_ns as f64);
    let places =
        DotChart { title: format!("{} of {}", counted(report.ios, "I/O"), report.trace), ..places };
    let caption = format!("Played {}, at most {} in flight.", report.pace, report.depth);
    places
        .draw()
        .above(DotChart { title: "How long each took".into(), caption, ..latencies }.draw())
}

fn chart(
    panels: &[(&str, &Rounds)],
    label: &str,
    unit: Unit,
    value: &dyn Fn(&Point) -> f64,
) -> DotChart {
    let series = |name: &str, write: bool| DotSeries {
        name: name.to_owned(),
        panels: panels.iter().map(|(_, rounds)| dots(&rounds.points, write, value)).collect(),
    };
    let all = [series("reads", false), series("writes", true)];
    let name = |(name, rounds): &(&str, &Rounds)| {
        format!("{name}: 0 to {}", format_duration(last_ns(&rounds.points)))
    };
    DotChart {
        title: String::new(),
        x_label: "time".to_owned(),
        y: match unit {
            Unit::Duration => Axis::log(label, unit),
            _ => Axis::linear(label, unit),
        },
        panels: panels.iter().map(name).collect(),
        series: all.into_iter().filter(|one| one.panels.iter().any(|it| !it.is_empty())).collect(),
        caption: String::new(),
    }
}

fn dots(points: &[Point], write: bool, value: &dyn Fn(&Point) -> f64) -> Vec<(f64, f64)> {
    let last = last_ns(points).max(1) as f64;
    let dot = |point: &Point| (point.time_ns as f64 / last, value(point));
    points.iter().filter(|point| point.write == write).map(dot).collect()
}

fn last_ns(points: &[Point]) -> u64 {
    points.iter().map(|point| point.time_ns).max().unwrap_or(0)
}
