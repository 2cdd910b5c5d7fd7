//! The picture of an order: where in the archive each load of a run finds its file, beside names.

use seekless::report::Drawing;
use seekless::report::chart::{Axis, DotChart, DotSeries, Unit};
use seekless::tools::order::{Course, Ordered};

/// Draws the runs that the order was made from, a colour each.
pub(super) fn of(ordered: &Ordered) -> Drawing {
    let dots = |course: &Course| {
        let panel = |places: &[u64]| {
            let last = places.len().saturating_sub(1).max(1) as f64;
            let dot = |(at, &place): (usize, &u64)| (at as f64 / last, place as f64);
            places.iter().enumerate().map(dot).collect()
        };
        let panels = vec![panel(&course.by_name), panel(&course.ordered)];
        DotSeries { name: course.run.clone(), panels }
    };
    DotChart {
        title: format!("Where {} runs find their files", ordered.courses.len()),
        x_label: "first load to last load".to_owned(),
        y: Axis::linear("place in the archive", Unit::Bytes),
        panels: vec!["by name".to_owned(), ordered.report.method.clone()],
        series: ordered.courses.iter().map(dots).collect(),
        caption: "Each dot is the first load of a file, by the runs that the order was made from. Sizes as they are, not as \
                  they are in an archive."
            .to_owned(),
    }
    .draw()
}
