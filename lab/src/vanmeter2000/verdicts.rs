//! The claims, point by point: the measured figure, the bar, and whether it is met. Only measured
//! figures are judged.

use super::fixed::Place;
use super::pass::Pass;
use super::points::{Curve, Point};
use super::series::Series;
use super::task::{Question, Tool};
use seekless::device::units::format_bytes;
use seekless::report::table;
use serde::Serialize;

/// Sizes within this fraction of a claim's size count as that size.
const NEAR: f64 = 0.015;
/// The largest number of runs of cached bytes.
const RUNS_MAX: u64 = 16;

/// One claim.
#[derive(Serialize)]
pub(super) struct Verdict {
    /// Its number in the list of claims.
    point: u32,
    claim: String,
    measured: String,
    wanted: String,
    pub(super) holds: bool,
}

/// Judges the claims about a throttled disk. On slower disks the gains are larger.
pub(super) fn judge(curves: &[Curve]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for curve in curves {
        for point in &curve.points {
            match curve.question {
                Question::CountLines => lines(curve, point, &mut verdicts),
                Question::OneMatch => matches(curve, point, &mut verdicts),
                Question::Histogram => image(curve, point, 0.5, &mut verdicts),
                Question::RebinBy4 | Question::RebinBy16 => image(curve, point, 0.7, &mut verdicts),
                Question::AllMatches => all_matches(curve, point, &mut verdicts),
            }
        }
    }
    verdicts
}

fn at_least(point: u32, claim: String, measured: f64, wanted: f64) -> Verdict {
    verdict((point, claim), measured, format!("≥ {wanted:.2}"), measured >= wanted)
}

fn at_most(point: u32, claim: String, measured: f64, wanted: f64) -> Verdict {
    verdict((point, claim), measured, format!("≤ {wanted:.2}"), measured <= wanted)
}

fn verdict((point, claim): (u32, String), measured: f64, wanted: String, holds: bool) -> Verdict {
    Verdict { point, claim, measured: format!("{measured:.2}"), wanted, holds }
}

fn named(curve: &Curve, point: &Point) -> String {
    format!("{} at {:.2} C, {}", curve.question.name(), curve.size(point), curve.speed.name)
}

fn lines(curve: &Curve, point: &Point, verdicts: &mut Vec<Verdict>) {
    let (Some(ours), Some(ratio)) = (point.of(Tool::Seekless), point.ratio(Tool::Seekless)) else {
        return;
    };
    let (size, name) = (curve.size(point), named(curve, point));
    let near = |wanted: f64| (size - wanted).abs() < NEAR * wanted;
    if near(1.1) || near(1.2) {
        verdicts.push(at_least(1, format!("{name}: times as fast as GNU"), ratio, 4.5));
    } else if [1.3, 1.5, 2.0, 3.0].into_iter().any(near) {
        let wanted = 0.85 * point.file_bytes as f64 / curve.surplus_bytes(point) as f64;
        verdicts.push(at_least(1, format!("{name}: times as fast as GNU"), ratio, wanted));
    }
    let most = ours.most(|pass| pass.device_bytes);
    let allowed = curve.surplus_bytes(point) + point.file_bytes / 50;
    verdicts.push(Verdict {
        point: 1,
        claim: format!("{name}: bytes read, each pass from the second"),
        measured: format!("at most {}", format_bytes(most)),
        wanted: format!("≤ {} (N − C and 2 % of N)", format_bytes(allowed)),
        holds: most <= allowed,
    });
    let runs = ours.most(|pass| pass.resident_runs);
    verdicts.push(at_most(1, format!("{name}: runs that are kept"), runs as f64, RUNS_MAX as f64));
    if let Some(rival) = point.of(Tool::DontCache) {
        let ratio = rival.seconds().mean / ours.seconds().mean;
        let mut verdict =
            at_least(1, format!("{name}: times as fast as linear with RWF_DONTCACHE"), ratio, 1.0);
        if !verdict.holds && rival.seconds().high() >= ours.seconds().low() {
            verdict.holds = true;
            verdict.measured.push_str(", within the intervals");
        }
        verdicts.push(verdict);
    }
}

/// Fig. 10: for large files the time saved is that which fills the cache.
fn all_matches(curve: &Curve, point: &Point, verdicts: &mut Vec<Verdict>) {
    let (Some(ours), Some(plain)) = (point.of(Tool::Seekless), point.plain()) else { return };
    let (size, plain) = (curve.size(point), plain.seconds().mean);
    if size < 1.2 {
        return;
    }
    let saved = (plain - ours.seconds().mean) / (plain / size);
    let claim = format!("{}: time saved, of that which fills the cache", named(curve, point));
    verdicts.push(at_least(1, claim, saved, 0.8));
}

fn matches(curve: &Curve, point: &Point, verdicts: &mut Vec<Verdict>) {
    let Some(fixed) = &point.fixed else { return };
    let name = named(curve, point);
    let share = |place: &Place| 100.0 * place.offset as f64 / point.file_bytes as f64;
    if let Some(place) = fixed.inside.as_ref().filter(|_| curve.size(point) > 1.0) {
        let (ours, gnu) = place.steady();
        let name = format!("{name}: match at {:.0} %, kept", share(place));
        verdicts.push(at_least(2, format!("{name}: times as fast as GNU"), gnu / ours, 20.0));
        verdicts.push(read(format!("{name}: bytes read"), &place.seekless));
    }
    if let Some(place) = &fixed.outside {
        let (ours, gnu) = place.steady();
        let name = format!("{name}: match at {:.0} %, not kept", share(place));
        verdicts.push(at_least(
            2,
            format!("{name}: times as fast as GNU from the second pass"),
            gnu / ours,
            1.0,
        ));
    }
}

fn read(claim: String, passes: &[Pass]) -> Verdict {
    let most = passes.iter().map(|pass| pass.device_bytes).max().unwrap_or(0);
    Verdict {
        point: 2,
        claim,
        measured: format_bytes(most),
        wanted: "0 bytes".to_owned(),
        holds: most == 0,
    }
}

fn image(curve: &Curve, point: &Point, wanted: f64, verdicts: &mut Vec<Verdict>) {
    let (Some(ours), Some(linear)) = (point.of(Tool::Seekless), point.of(Tool::SeeklessLinear))
    else {
        return;
    };
    if (curve.size(point) - 1.28).abs() > 0.03 {
        return;
    }
    let name = named(curve, point);
    let bytes = ours.device_bytes().mean / linear.device_bytes().mean;
    let seconds = ours.seconds().mean / linear.seconds().mean;
    verdicts.push(at_most(
        6,
        format!("{name}: bytes read, of the linear program's"),
        bytes,
        wanted,
    ));
    verdicts.push(at_most(6, format!("{name}: time, of the linear program's"), seconds, wanted));
    if let Some(plain) = point.of(Tool::SeeklessPlainOrder) {
        order(&name, ours, plain, verdicts);
    }
}

/// What the order alone gains: the rival makes as many passes, and writes in the same way.
fn order(name: &str, ours: &Series, plain: &Series, verdicts: &mut Vec<Verdict>) {
    let bytes = ours.device_bytes().mean / plain.device_bytes().mean;
    let claim = format!("{name}: bytes read, of those in the plain order");
    verdicts.push(at_most(6, claim, bytes, 1.0));
    let seconds = ours.seconds().mean / plain.seconds().mean;
    let claim = format!("{name}: time, of that in the plain order");
    verdicts.push(at_most(6, claim, seconds, 1.0));
}

pub(super) fn words(verdicts: &[Verdict]) -> String {
    let rows = verdicts.iter().map(|verdict| {
        let holds = if verdict.holds { "yes" } else { "NO" };
        vec![
            verdict.point.to_string(),
            verdict.claim.clone(),
            verdict.measured.clone(),
            verdict.wanted.clone(),
            holds.to_owned(),
        ]
    });
    let held = verdicts.iter().filter(|verdict| verdict.holds).count();
    let header = ["point", "claim", "measured", "wanted", "holds"];
    format!("It must show: {held} of {} hold\n\n{}", verdicts.len(), table(&header, rows.collect()))
}
