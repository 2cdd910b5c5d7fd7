//! The tables in text.

use super::{Measured, Report};
use seekless::device::units::{format_bytes, format_count};
use seekless::report::table;

pub(super) fn of(measured: &Measured) -> String {
    let Measured { trace, requests, objects, numbering_per_second, rows, refused, .. } = measured;
    let [requests, objects] = [requests, objects].map(|&count| format_count(count));
    let format = if measured.capacity_is_bytes { format_bytes } else { format_count };
    let capacity = format(measured.capacity);
    let refused = match refused.as_slice() {
        [] => String::new(),
        names => format!(
            "\nNot run, since they are for objects of one weight only: {}.\n",
            names.join(", ")
        ),
    };
    let cells = rows.iter().map(|row| {
        vec![
            row.policy.clone(),
            millions(row.requests_per_second),
            millions(row.requests_per_second_numbered),
            format!("{:.4}", row.miss_ratio),
        ]
    });
    format!(
        "{trace}: {requests} requests for {objects} objects, cache of {capacity}; {} million a second numbered\n\n{}{refused}",
        millions(*numbering_per_second),
        table(&["policy", "million requests/s", "with numbering", "miss ratio"], cells.collect())
    )
}

pub(super) fn conditions(report: &Report) -> String {
    let [before, after] = report.load_average;
    format!(
        "One thread, its processor time; medians of {} rounds that alternate, after one discarded; load average {before} \
         before and {after} after.",
        report.rounds
    )
}

fn millions(per_second: f64) -> String {
    format!("{:.1}", per_second / 1e6)
}
