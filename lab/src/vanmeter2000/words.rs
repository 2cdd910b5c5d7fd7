//! The results in tables: the paper's beside ours.

use super::estimate::Estimate;
use super::points::{Curve, Point};
use super::series::Series;
use super::task::{Question, Tool};
use super::{Figures, adopted, paper, table4, verdicts};
use seekless::device::units::format_bytes;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};

/// The text at the end of the run. Each curve was printed when it was measured.
pub(super) fn words(figures: &Figures) -> String {
    let mut parts = vec![format!(
        "Control groups of {}, memory {}, page cache held (C) {}. Each pass of a rival finds what its own previous pass left \
         cached; rivals take turns in blocks, of which the first pass, from cold, is discarded. Means with 90 % intervals.",
        figures.control_groups,
        format_bytes(figures.memory_bytes),
        format_bytes(figures.cache_bytes)
    )];
    let beside = figures.curves.iter().map(|curve| {
        let numbers: Vec<String> =
            paper::figures(curve.question).iter().map(|figure| figure.to_string()).collect();
        let (name, numbers) = (curve.question.name(), numbers.join(", "));
        format!(
            "  {name} (figures {numbers})\n    paper: {}\n    ours: {}\n",
            paper::found(curve.question),
            best(curve)
        )
    });
    parts.push(format!("The paper, and ours\n\n{}", beside.collect::<String>()));
    if !figures.verdicts.is_empty() {
        parts.push(verdicts::words(&figures.verdicts));
    }
    let real = figures.adopted.as_ref();
    parts.push(table4::words(&figures.table_4, real.map(|adopted| &adopted.row)));
    parts.extend(real.map(adopted::words));
    parts.join("\n")
}

/// The largest gain.
fn best(curve: &Curve) -> String {
    let ratios = curve
        .points
        .iter()
        .filter_map(|point| Some((point.ratio(Tool::Seekless)?, curve.size(point))));
    let Some((ratio, size)) = ratios.max_by(|one, other| one.0.total_cmp(&other.0)) else {
        return "-".to_owned();
    };
    format!("{ratio:.1} times as fast at {size:.2} C ({})", curve.speed.name)
}

/// Seconds of a pass, by size and tool.
pub(super) fn seconds(curve: &Curve) -> Table {
    let title = format!("{} over files larger than the page cache", curve.question.name());
    let id = curve.question.name().replace([' ', ','], "-");
    let cases = "size of the file, of the page cache";
    let mut table = Table::new(&format!("{id}-seconds"), &title, cases, "s", Better::Lower)
        .contenders([Contender::ours(Tool::Seekless.name())])
        .under(&format!(
            "Device {}; passes again and again; C = {}; 90 % intervals.",
            curve.speed.words(),
            format_bytes(curve.cache_bytes)
        ));
    for point in &curve.points {
        let size = curve.size(point);
        let case = format!("{size:.2}");
        for series in &point.series {
            let seconds = series.seconds();
            let off = seconds.plus_minus.unwrap_or(0.0);
            let within = [seconds.mean - off, seconds.mean + off];
            let figure = Figure::within(seconds.mean, within, series.passes.len());
            table.set(&case, series.tool.name(), figure);
        }
        table.place(&case, size);
    }
    table
}

/// Seconds and bytes of a pass on a level, by question and size.
pub(super) fn on_level(name: &str, curves: &[Curve]) -> Vec<Table> {
    let Some(first) = curves.first() else { return Vec::new() };
    let under = format!(
        "{}; the page cache holds {}; passes again and again, also after a cold one; 90 % intervals.",
        first.speed.words(),
        format_bytes(first.cache_bytes)
    );
    let new = |id: &str, what: &str, unit: &str| {
        let title =
            format!("{what} on {}: by question and size, of the page cache", first.speed.words());
        Table::new(id, &title, "question, size", unit, Better::Lower)
            .contenders([Contender::ours(Tool::Seekless.name())])
            .under(&under)
    };
    let mut seconds = new(&format!("on-{name}"), "Time of a pass", "s");
    let mut bytes = new(&format!("on-{name}-bytes"), "Bytes from the device", "MB");
    for curve in curves {
        for point in &curve.points {
            let case = format!("{}, {:.1}", curve.question.name(), curve.size(point));
            for series in &point.series {
                let rival = match series.tool {
                    Tool::Seekless => Tool::Seekless.name(),
                    _ => "plain",
                };
                let count = series.passes.len();
                let within = |estimate: Estimate, unit: f64| {
                    let [low, high] = [estimate.low() / unit, estimate.high() / unit];
                    Figure::within(estimate.mean / unit, [low, high], count)
                };
                seconds.set(&case, rival, within(series.seconds(), 1.0));
                bytes.set(&case, rival, within(series.device_bytes(), 1e6));
            }
        }
    }
    vec![seconds, bytes]
}

pub(super) fn curve(curve: &Curve) -> String {
    let rows = curve
        .points
        .iter()
        .flat_map(|point| point.series.iter().map(|series| row(curve, point, series)));
    let header = [
        "N", "N / C", "rival", "seconds", "times", "read", "resident", "runs", "recalls", "redone",
        "load",
    ];
    let mut text = format!(
        "{} ({}), C = {}\n\n{}",
        curve.question.name(),
        curve.speed.words(),
        format_bytes(curve.cache_bytes),
        table(&header, rows.collect())
    );
    if curve.question == Question::OneMatch {
        text.push_str(&distribution(curve));
        text.push_str(&places(curve));
    }
    text
}

fn row(curve: &Curve, point: &Point, series: &Series) -> Vec<String> {
    let ratio =
        point.ratio(series.tool).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    let [before, after] = point.load_average;
    vec![
        format_bytes(point.file_bytes),
        format!("{:.2}", curve.size(point)),
        series.tool.name().to_owned(),
        series.seconds().words(),
        ratio,
        format!(
            "{}, at most {}",
            format_bytes(series.device_bytes().mean as u64),
            format_bytes(series.most(|pass| pass.device_bytes))
        ),
        format_bytes(series.median_resident()),
        series.most(|pass| pass.resident_runs).to_string(),
        series.most(|pass| pass.recalls).to_string(),
        match series.drops_kept {
            0 => series.redone.to_string(),
            kept => format!("{}, {kept} drops kept", series.redone),
        },
        format!("{before:.1} to {after:.1}"),
    ]
}

/// Fig. 13: the times below which given shares of the passes stay.
fn distribution(curve: &Curve) -> String {
    let Some(point) = distributed(curve) else { return String::new() };
    let shares = [0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
    let row = |series: &Series| {
        let seconds = sorted_seconds(series);
        let at = |share: f64| {
            seconds[((share * seconds.len() as f64).ceil() as usize).clamp(1, seconds.len()) - 1]
        };
        let cells = shares.iter().map(|&share| format!("{:.4}", at(share)));
        std::iter::once(series.tool.name().to_owned()).chain(cells).collect()
    };
    let header = ["seconds at most", "10 %", "25 %", "50 %", "75 %", "90 %", "all"];
    let rows = point.series.iter().filter(|series| !series.passes.is_empty()).map(row).collect();
    format!("\nDistribution at {:.2} C (Fig. 13)\n\n{}", curve.size(point), table(&header, rows))
}

/// The size nearest to the paper's: 64 MB where about 44 MB are cached.
pub(super) fn distributed(curve: &Curve) -> Option<&Point> {
    let distance = |point: &Point| (curve.size(point) - 1.45).abs();
    curve.points.iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

pub(super) fn sorted_seconds(series: &Series) -> Vec<f64> {
    let mut seconds: Vec<f64> = series.passes.iter().map(|pass| pass.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

/// Matches inside and outside the cached part.
fn places(curve: &Curve) -> String {
    let mut rows = Vec::new();
    for point in &curve.points {
        let Some(fixed) = &point.fixed else { continue };
        for (name, place) in [("inside", &fixed.inside), ("outside", &fixed.outside)] {
            let Some(place) = place else { continue };
            let (ours, gnu) = place.steady();
            let read = |passes: &[super::pass::Pass]| {
                let bytes: Vec<String> =
                    passes.iter().take(3).map(|pass| format_bytes(pass.device_bytes)).collect();
                bytes.join(", ")
            };
            rows.push(vec![
                format!("{:.2}", curve.size(point)),
                format!(
                    "{name}, at {:.0} %",
                    100.0 * place.offset as f64 / point.file_bytes as f64
                ),
                format!("{ours:.4}"),
                format!("{gnu:.4}"),
                format!("{:.1}", gnu / ours),
                read(&place.seekless),
                read(&place.gnu),
            ]);
        }
    }
    let header = [
        "N / C",
        "match, of what is kept",
        "seekless, s",
        "GNU, s",
        "times",
        "seekless reads",
        "GNU reads",
    ];
    format!(
        "\nOne match again and again: from the second pass on, and bytes read by the first three\n\n{}",
        table(&header, rows)
    )
}
