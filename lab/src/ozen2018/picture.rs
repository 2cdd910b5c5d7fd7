//! His bar charts: reads and writes of each policy.

use super::figures::{Experiment, Row};
use seekless::device::units::format_count;
use seekless::report::Drawing;
use seekless::report::chart::{Axis, BarChart, Unit};

/// Long names alternate with short ones, so that all fit below the bars.
pub(super) const ORDER: [&str; 11] =
    ["ARC", "CLOCKPRO", "R2", "SPATIAL", "2Q", "CLOCK", "LRU", "BRRIP", "CAR", "RRIP", "FAB"];

pub(super) fn draw(experiment: &Experiment) -> Drawing {
    let find = |name: &&str| experiment.as_published.iter().find(|row| row.published_as == *name);
    let rows: Vec<&Row> = ORDER.iter().filter_map(find).collect();
    let series = |name: &str, value: fn(&Row) -> u64| {
        (name.to_owned(), rows.iter().map(|row| value(row) as f64).collect())
    };
    let equal = rows.iter().filter(|row| row.equal() == Some(true)).count();
    let chart = BarChart {
        title: format!("Ozen 2018, test {}: {}", experiment.test, experiment.workload),
        x_label: format!("policy as published, {} pages", format_count(experiment.pages)),
        y: Axis::linear("pages to and from the device", Unit::Count),
        groups: rows.iter().map(|row| row.published_as.to_owned()).collect(),
        series: vec![series("read", |row| row.reads), series("written", |row| row.writes)],
        caption: format!(
            "Read misses and write-backs of {} sector lines, one by one; {equal} of {} policies equal to his program. FAB is \
             not in his tables.",
            format_count(experiment.lines_read + experiment.lines_written),
            rows.len()
        ),
    };
    chart.draw()
}
