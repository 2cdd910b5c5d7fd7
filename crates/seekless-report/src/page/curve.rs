//! Curves: a line chart as SVG within the page, in the page's colours.

use super::text::{escape, shown};
use crate::chart::{Axis, LineChart, LinePoint};
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
    pub(super) fn html(&self) -> String {
        let (chart, is_thinned) = thinned(&self.chart);
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
            chart.draw().svg_in_page(),
            table(&chart)
        )
    }
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
