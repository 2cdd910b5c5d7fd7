//! The claims, judged by what was simulated.

use super::beyond::Curve;
use super::ended::Ratios;
use super::{Figures, examples, paper, thrashing};
use crate::claims::Claim;
use seekless::report::table;
use std::ops::RangeInclusive;

/// Judges what was simulated in full size.
pub(super) fn judge(figures: &Figures) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut within = |claim: &str, value: Option<f64>, range: RangeInclusive<f64>| {
        let Some(value) = value else { return };
        claims.push(Claim::within(claim, value, &range));
    };
    let most = figures.figure_9.iter().find(|row| row.random_mb == 10);
    let of = |rows: &[super::streams::Row], streams| {
        rows.iter().find(|row| row.streams == streams).map(|row| (row.old, row.new))
    };
    let times = |(old, new): (f64, f64)| new / old;
    let ten = |rows| of(rows, 10);
    let least = figures.figure_9.iter().find(|row| row.random_mb == 1);
    // The abstract's figure. Some of it the paper's older kernel loses without any disturbance.
    within("1:100, faster than the old by %", least.map(super::disturbed::Row::gain), 24.0..=34.0);
    let undisturbed = figures.figure_11_off.iter().find(|row| row.streams == 1);
    let corrected = least.zip(undisturbed).map(|(least, undisturbed)| {
        100.0 * ((1.0 + least.gain() / 100.0) / undisturbed.ratio() - 1.0)
    });
    within("1:100, less what the old loses undisturbed, by %", corrected, 10.0..=17.0);
    within("10:100, faster than the old by %", most.map(super::disturbed::Row::gain), 20.0..=30.0);
    let one = of(&figures.figure_11_off, 1).map(|(_, new)| new);
    within("one stream, MB/s", one, 27.5..=28.5);
    let two = of(&figures.figure_11_off, 2).map(|(old, _)| old);
    within("two streams, MB/s of the old", two, 5.6..=8.5);
    let kept = ten(&figures.figure_11_off).zip(one).map(|((_, new), one)| new / one);
    within("10 streams, of one stream's MB/s", kept, 0.70..=0.84);
    within("10 streams, times the old", ten(&figures.figure_11_off).map(times), 25.0..=35.0);
    let on = ten(&figures.figure_11_on).map(times);
    within("10 streams, disk reads on, times the old", on, 2.5..=3.5);
    let waited = ten(&figures.figure_12).map(|(old, new)| old / new);
    within("10 streams, waits of the old, times the new's", waited, 28.0..=36.0);
    claims.push(thousand(&figures.beyond));
    claims.extend(beside_linux(&figures.ended));
    claims.extend(examples::claims(&figures.figures_5_to_8));
    claims.extend(thrashing::claims(&figures.thrashing));
    claims
}

/// Ours beside the paper's.
fn thousand(curves: &[Curve]) -> Claim {
    let best =
        |readahead| of(curves, readahead).filter_map(|curve| curve.at(1000)).fold(0.0, f64::max);
    let times = best("streams") / best("ondemand");
    Claim::at_least("1,000 streams: streams, times ondemand", times, 30.0)
}

/// Ours beside Linux 6.x, for each largest window: the number of streams at which it does worst.
/// Where both ask for the same, the disk's angle makes the ratio differ from 1 by chance, so that a
/// mean may miss 1 by its error; the verdict does not allow for that.
fn beside_linux(ratios: &[Ratios]) -> Vec<Claim> {
    let judged = |window: u64| {
        let of = ratios.iter().filter(|ratios| ratios.max_bytes == window);
        let worst = of.min_by(|one, other| one.mean().total_cmp(&other.mean()))?;
        let claim = format!("streams, times linux, windows of {} KiB", window >> 10);
        let found =
            format!("{:.3} ±{:.3} at {} streams", worst.mean(), worst.error(), worst.streams);
        Some(Claim::new(&claim, found, "1 or more at each", worst.mean() >= 1.0))
    };
    let mut windows: Vec<u64> = ratios.iter().map(|ratios| ratios.max_bytes).collect();
    windows.sort_unstable();
    windows.dedup();
    windows.into_iter().filter_map(judged).collect()
}

fn of<'a>(curves: &'a [Curve], readahead: &'a str) -> impl Iterator<Item = &'a Curve> {
    curves.iter().filter(move |curve| curve.readahead == readahead)
}

/// Why the simulated gain is the smaller one, as far as it is known. No parameter of the disk is
/// fitted to this figure.
const UNEXPLAINED: &str = "\
The old algorithm is simulated as the source of Linux 2.6.22 has it: a random read closes
both windows, the next read is fetched alone, and new windows grow from 16 KiB over pages
that are still cached. What the paper's older kernel loses beyond that is left unexplained:
the simulated one has no elevator, and no file system that reads blocks of its own.
";

/// The 1:100 gain as the paper prints it, and less what its older kernel loses without any
/// disturbance.
pub(super) fn baseline(figures: &Figures) -> String {
    let (Some(ours), Some(paper)) =
        (figures.figure_9.iter().find(|row| row.random_mb == 1), paper::disturbed(1))
    else {
        return String::new();
    };
    let one = figures.figure_11_off.iter().find(|row| row.streams == 1);
    let percent = |times: f64| format!("{:+.1} %", 100.0 * (times - 1.0));
    let row = |name: &str, times: f64, baseline: f64| {
        vec![name.to_owned(), percent(times), percent(baseline), percent(times / baseline)]
    };
    let ours = row(
        "simulated",
        ours.new_mb_per_second / ours.old_mb_per_second,
        one.map_or(1.0, super::streams::Row::ratio),
    );
    format!(
        "Fig. 9, 1:100: how much faster the new algorithm is, as printed and less what the old kernel \
         loses on one stream that nothing disturbs, where both algorithms ask for the same\n\n{}\n\
         {UNEXPLAINED}",
        table(
            &["1:100", "raw", "undisturbed", "corrected"],
            vec![row("paper", paper.new / paper.old, paper::BASELINE), ours]
        )
    )
}
