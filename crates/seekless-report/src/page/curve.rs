//! Curves: a line chart as SVG within the page, in the page's colours.

use super::text::{escape, shown};
use crate::chart::{Axis, LineChart, LinePoint, Series, Unit};
use std::fmt::Write as _;

/// Points of a line: a chart has fewer pixels across.
const MOST_POINTS: usize = 1_000;

/// Points of a line that stand in the table.
const LISTED_POINTS: usize = 40;

/// Lines of a chart.
const MOST_LINES: usize = 24;

/// Curves over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Above the chart.
    pub heading: String,
    /// The chart.
    pub chart: LineChart,
}

impl Curve {
    /// A chart whose title is the heading.
    #[must_use]
    pub fn of(chart: LineChart) -> Self {
        Self { heading: chart.title.clone(), chart }
    }

    /// How long things took: for each line the share that took at most a time. A line is a name,
    /// and rising times in nanoseconds, each with how many took as long as that, and longer than
    /// the time before.
    #[must_use]
    pub fn of_times(
        heading: &str,
        what: &str,
        lines: impl IntoIterator<Item = (String, Vec<(u64, u64)>)>,
        caption: &str,
    ) -> Self {
        let lines: Vec<_> = lines.into_iter().collect();
        let times = || lines.iter().flat_map(|(_, counts)| counts.iter().map(|(time, _)| *time));
        let longest = times().max().unwrap_or(0).max(1) as f64;
        // No time at all has no place on an axis of equal ratios: it lies at its start.
        let shortest = times().filter(|time| *time > 0).min().unwrap_or(1) as f64 / 2.0;
        let series = lines.iter().map(|(name, counts)| {
            let points = risen(counts, shortest, longest);
            Series { name: name.clone(), points }
        });
        let chart = LineChart {
            title: format!("The share of {what} that took at most this long"),
            x: Axis::log("time", Unit::Duration),
            y: Axis::linear(&format!("share of {what}"), Unit::Percent),
            series: series.collect(),
            caption: caption.to_owned(),
        };
        Self { heading: heading.to_owned(), chart }
    }

    pub(super) fn html(&self) -> String {
        let (mut chart, is_thinned) = thinned(&self.chart);
        if self.chart.title == self.heading {
            chart.title.clear();
        }
        let note = if is_thinned {
            format!(
                "<p class=\"thinned\">At most {MOST_LINES} lines are drawn, each through at most \
                 {MOST_POINTS} of its points.</p>"
            )
        } else {
            String::new()
        };
        format!(
            "<section>{}\n<div class=\"wide chart\">{}</div>{note}\n{}</section>",
            super::heading(&self.heading, ""),
            chart.draw().titled(&shown(&self.chart.title)).svg_in_page(),
            table(&chart)
        )
    }
}

/// The steps of the share that took at most a time, from `shortest` to `longest`.
fn risen(counts: &[(u64, u64)], shortest: f64, longest: f64) -> Vec<LinePoint> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let share = |count: u64| count as f64 / all.max(1) as f64;
    let mut seen = 0;
    let mut points = vec![LinePoint::exact(shortest, 0.0)];
    for (time, count) in counts {
        let time = (*time as f64).max(shortest);
        points.push(LinePoint::exact(time, share(seen)));
        seen += count;
        points.push(LinePoint::exact(time, share(seen)));
    }
    points.push(LinePoint::exact(longest, share(seen)));
    points.dedup();
    points
}

/// The chart with no more lines and points than are drawn, and whether it had more.
fn thinned(chart: &LineChart) -> (LineChart, bool) {
    let mut chart = chart.clone();
    let mut is_thinned = chart.series.len() > MOST_LINES;
    chart.series.truncate(MOST_LINES);
    for series in &mut chart.series {
        is_thinned |= series.points.len() > MOST_POINTS;
        series.points = spread(&series.points, MOST_POINTS);
    }
    let labels = [&mut chart.x.label, &mut chart.y.label];
    for text in [&mut chart.title, &mut chart.caption].into_iter().chain(labels) {
        *text = shown(text);
    }
    chart.series.iter_mut().for_each(|series| series.name = shown(&series.name));
    (chart, is_thinned)
}

/// At most so many of the points, the first and the last among them.
fn spread(points: &[LinePoint], most: usize) -> Vec<LinePoint> {
    if points.len() <= most {
        return points.to_vec();
    }
    (0..most).map(|index| points[index * (points.len() - 1) / (most - 1)]).collect()
}

/// The lines as figures, for those who do not see them.
fn table(chart: &LineChart) -> String {
    let mut html = "<details><summary>The lines as a table</summary><div class=\"wide\"><table>\
                    <thead><tr><th scope=\"col\">Line</th>"
        .to_owned();
    for axis in [&chart.x, &chart.y] {
        let label = escape(&axis.label);
        let _ = write!(html, "<th scope=\"col\" class=\"count\">{label}</th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for series in &chart.series {
        let name = escape(&series.name);
        for point in spread(&series.points, LISTED_POINTS) {
            let words = |axis: &Axis, value: f64| match value.is_finite() {
                true => axis.unit.words(value),
                false => "unknown".to_owned(),
            };
            let (x, y) = (words(&chart.x, point.x), words(&chart.y, point.y));
            let _ = writeln!(
                html,
                "<tr><td class=\"text\">{name}</td><td class=\"count\">{x}</td>\
                 <td class=\"count\">{y}</td></tr>"
            );
        }
    }
    html + "</tbody></table></div></details>"
}
