//! Figs. 7 to 15 as pictures.

use super::points::{Curve, Point};
use super::series::Series as Passes;
use super::task::{Question, Tool};
use super::words::{distributed, sorted_seconds};
use super::{load_average, paper};
use anyhow::Context;
use seekless::device::units::format_bytes;
use seekless::report::Drawing;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use std::path::Path;

/// Charts have no axis of seconds, so they show whole milliseconds.
const MILLI: f64 = 1000.0;

pub(super) fn save(folder: &Path, curves: &[Curve], wanted: &[u32]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for curve in curves {
        for &figure in
            paper::figures(curve.question).iter().filter(|figure| wanted.contains(figure))
        {
            let by_sixteen = if curve.question == Question::RebinBy16 { "-by-16" } else { "" };
            let path = folder
                .join(format!("figure-{figure}{by_sixteen}-{}.svg", file_name(&curve.speed.name)));
            if let Some(drawing) = draw(figure, curve) {
                crate::picture::save(&path, &drawing)?;
            }
        }
    }
    Ok(())
}

fn file_name(words: &str) -> String {
    words.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect()
}

fn draw(figure: u32, curve: &Curve) -> Option<Drawing> {
    let what = match figure {
        8 | 12 => "times as fast as the plain program",
        9 => "bytes read from the disk",
        13 => "of the passes took at most so long",
        _ => "time of a pass",
    };
    let (x, y, series) = match figure {
        8 | 12 => (
            size_axis(),
            Axis::linear("speed, % of the plain program's", Unit::Percent),
            ratios(curve),
        ),
        9 => (size_axis(), Axis::linear("bytes read", Unit::Bytes), by_size(curve, bytes)),
        13 => {
            let x = Axis::linear("milliseconds", Unit::Count);
            (x, Axis::linear("share of the passes, %", Unit::Percent), shares(distributed(curve)?))
        }
        _ => (size_axis(), Axis::linear("milliseconds", Unit::Count), by_size(curve, milliseconds)),
    };
    let chart = LineChart {
        title: format!(
            "Van Meter and Gao 2000, figure {figure}: {}, {what}",
            curve.question.name()
        ),
        x,
        y,
        series,
        caption: format!(
            "{}; page cache held {}; bands are 90 % intervals; load average at the end {:.1}. The paper: {}.",
            curve.speed.words(),
            format_bytes(curve.cache_bytes),
            load_average(),
            paper::found(curve.question)
        ),
    };
    Some(chart.draw())
}

fn size_axis() -> Axis {
    Axis::linear("size of the file", Unit::Bytes)
}

fn milliseconds(passes: &Passes) -> [f64; 3] {
    let estimate = passes.seconds();
    [MILLI * estimate.mean, MILLI * estimate.low().max(0.0), MILLI * estimate.high()]
}

fn bytes(passes: &Passes) -> [f64; 3] {
    let estimate = passes.device_bytes();
    [estimate.mean, estimate.low().max(0.0), estimate.high()]
}

fn tools(curve: &Curve) -> Vec<Tool> {
    curve
        .points
        .first()
        .map(|point| point.series.iter().map(|series| series.tool).collect())
        .unwrap_or_default()
}

fn by_size(curve: &Curve, value: fn(&Passes) -> [f64; 3]) -> Vec<Series> {
    let line = |tool: Tool| {
        let at = |point: &Point| {
            let [y, low, high] = value(point.of(tool)?);
            Some(LinePoint { x: point.file_bytes as f64, y, low, high })
        };
        Series {
            name: tool.name().to_owned(),
            points: curve.points.iter().filter_map(at).collect(),
        }
    };
    tools(curve).into_iter().map(line).collect()
}

fn ratios(curve: &Curve) -> Vec<Series> {
    let line = |tool: Tool| {
        let at =
            |point: &Point| Some(LinePoint::exact(point.file_bytes as f64, point.ratio(tool)?));
        Series {
            name: tool.name().to_owned(),
            points: curve.points.iter().filter_map(at).collect(),
        }
    };
    tools(curve).into_iter().map(line).collect()
}

/// A step function that rises at each pass.
fn shares(point: &Point) -> Vec<Series> {
    let line = |passes: &Passes| {
        let seconds = sorted_seconds(passes);
        let share = |rank: usize| rank as f64 / seconds.len() as f64;
        let step = |(rank, &seconds): (usize, &f64)| {
            [share(rank), share(rank + 1)].map(|share| LinePoint::exact(MILLI * seconds, share))
        };
        let points = seconds.iter().enumerate().flat_map(step).collect();
        Series { name: passes.tool.name().to_owned(), points }
    };
    point.series.iter().map(line).collect()
}
