//! The claims: what was simulated, the range that it must lie in, and whether it does.

use super::beyond::Curve;
use super::{Figures, paper};
use seekless::report::table;
use serde::Serialize;
use std::ops::RangeInclusive;

/// One claim.
#[derive(Serialize)]
pub(super) struct Claim {
    claim: String,
    simulated: String,
    wanted: String,
    pub(super) holds: bool,
}

/// Judges what was simulated in full size.
pub(super) fn judge(figures: &Figures) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut within = |claim: &str, value: Option<f64>, range: RangeInclusive<f64>| {
        let Some(value) = value else { return };
        claims.push(Claim {
            claim: claim.to_owned(),
            simulated: format!("{value:.2}"),
            wanted: format!("{} to {}", range.start(), range.end()),
            holds: range.contains(&value),
        });
    };
    let most = figures.figure_9.iter().find(|row| row.random_mb == 10);
    let of = |rows: &[super::streams::Row], streams| {
        rows.iter().find(|row| row.streams == streams).map(|row| (row.old, row.new))
    };
    let times = |(old, new): (f64, f64)| new / old;
    let ten = |rows| of(rows, 10);
    within("10:100, faster than the old by %", most.map(super::disturbed::Row::gain), 20.0..=30.0);
    let one = of(&figures.figure_11_off, 1).map(|(_, new)| new);
    within("one stream, MB/s", one, 27.5..=28.5);
    within("10 streams, times the old", ten(&figures.figure_11_off).map(times), 25.0..=35.0);
    let on = ten(&figures.figure_11_on).map(times);
    within("10 streams, disk reads on, times the old", on, 2.5..=3.5);
    let waited = ten(&figures.figure_12).map(|(old, new)| old / new);
    within("10 streams, waits of the old, times the new's", waited, 28.0..=36.0);
    claims.extend(ours(&figures.beyond));
    claims
}

/// The claims on our own readahead.
fn ours(curves: &[Curve]) -> Vec<Claim> {
    let best = |readahead, streams| {
        of(curves, readahead).filter_map(|curve| curve.at(streams)).fold(0.0, f64::max)
    };
    let times = best("streams", 1000) / best("ondemand", 1000);
    let mut claims = vec![Claim {
        claim: "1,000 streams: streams, times ondemand".to_owned(),
        simulated: format!("{times:.1}"),
        wanted: "30 or more".to_owned(),
        holds: times >= 30.0,
    }];
    for ours in of(curves, "streams") {
        for theirs in of(curves, "linux").filter(|theirs| theirs.max_bytes == ours.max_bytes) {
            let ratios = ours
                .points
                .iter()
                .map(|&(streams, rate)| (rate / theirs.at(streams).unwrap_or(f64::NAN), streams));
            let worst = ratios.min_by(|one, other| one.0.total_cmp(&other.0));
            let (ratio, streams) = worst.unwrap_or((f64::NAN, 0));
            claims.push(Claim {
                claim: format!("streams, times linux, windows of {} KiB", ours.max_bytes >> 10),
                simulated: format!("{ratio:.2} at {streams} streams"),
                wanted: "1 or more at each".to_owned(),
                holds: ratio >= 1.0,
            });
        }
    }
    claims
}

fn of<'a>(curves: &'a [Curve], readahead: &'a str) -> impl Iterator<Item = &'a Curve> {
    curves.iter().filter(move |curve| curve.readahead == readahead)
}

/// The 1:100 gain as the paper prints it, and less what its older kernel loses without any
/// disturbance.
pub(super) fn baseline(figures: &Figures) -> String {
    let (Some(ours), Some(paper)) =
        (figures.figure_9.iter().find(|row| row.random_mb == 1), paper::disturbed(1))
    else {
        return String::new();
    };
    let raw = paper.new / paper.old;
    format!(
        "1:100: the paper's gain is {:+.1} % as printed, and {:+.1} % less the {:.1} % by which its older kernel is slower \
         on one stream that nothing disturbs, where both algorithms ask for the same. Ours: {:+.1} %.\n",
        100.0 * (raw - 1.0),
        100.0 * (raw / paper::BASELINE - 1.0),
        100.0 * (paper::BASELINE - 1.0),
        ours.gain()
    )
}

pub(super) fn words(claims: &[Claim]) -> String {
    let row = |claim: &Claim| {
        let holds = if claim.holds { "yes" } else { "NO" };
        vec![claim.claim.clone(), claim.simulated.clone(), claim.wanted.clone(), holds.to_owned()]
    };
    let held = claims.iter().filter(|claim| claim.holds).count();
    format!(
        "{held} of {} claims hold\n\n{}",
        claims.len(),
        table(&["claim", "simulated", "wanted", "holds"], claims.iter().map(row).collect())
    )
}
