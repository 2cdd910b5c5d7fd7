//! What a probe found beside what was planted: right, unidentifiable or wrong.

use seekless::device::units::format_duration;
use seekless::measure::inside::proof::TIME_OFF_MAX;
use seekless::measure::inside::{Answers, DiskInside, Finding, FlashInside};
use seekless::tools::probe::InsideReport;
use serde::Serialize;
use std::fmt::Debug;
use std::time::Duration;

/// What is known of a device by its construction.
#[derive(Debug)]
pub(super) struct Truth {
    /// Of a read that no cache answers; `None` where nothing delays.
    pub(super) delay: Option<Duration>,
    /// The block of the cache; `None` where there is no cache.
    pub(super) block_bytes: Option<u64>,
    pub(super) reads_ahead: bool,
    pub(super) bytes_per_second: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Right,
    Unidentifiable,
    Wrong,
}

/// One parameter.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Judged {
    pub(super) name: &'static str,
    /// In words; `none` where the device has no such thing.
    pub(super) planted: String,
    pub(super) found: String,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
}

/// Judges all parameters of a report.
pub(super) fn judge(truth: &Truth, report: &InsideReport) -> Vec<Judged> {
    let mut judged = Vec::new();
    judged.extend(report.latencies.iter().flat_map(|grid| judge_answers(truth, &grid.answers)));
    judged.extend(report.disk.iter().flat_map(judge_disk));
    judged.extend(report.flash.iter().flat_map(judge_flash));
    judged
}

fn judge_answers(truth: &Truth, answers: &Answers) -> Vec<Judged> {
    let time = |nanos: f64| format_duration(nanos.round() as u64);
    let rate = |rate: f64| format!("{:.1} MB/s", rate / 1e6);
    let mut judged = Vec::new();
    if let Some(delay) = truth.delay {
        let nanos = delay.as_nanos() as f64;
        judged.push(near("first read", Some(nanos), &answers.first_read_ns, time));
    }
    judged.push(equal("cache", Some(truth.block_bytes.is_some()), &answers.cached));
    judged.push(equal("block of the cache", truth.block_bytes, &answers.cache_block_bytes));
    judged.push(equal("reads ahead", Some(truth.reads_ahead), &answers.reads_ahead));
    let limit = truth.bytes_per_second.map(|rate| rate as f64);
    judged.push(near("limit of all reads", limit, &answers.bytes_per_second, rate));
    judged
}

fn judge_disk(disk: &DiskInside) -> Vec<Judged> {
    vec![
        absent("rotation", &disk.rotation_ns),
        absent("turns a minute", &disk.rpm),
        absent("track", &disk.track_bytes),
        absent("zones", &disk.zones),
        absent("heads", &disk.heads),
        absent("track skew", &disk.track_skew_ns),
        absent("cylinder skew", &disk.cylinder_skew_ns),
        absent("head switch", &disk.head_switch_ns),
        absent("average seek", &disk.average_seek_ns),
        absent("overhead", &disk.overhead_ns),
        absent("cache segments", &disk.segments),
        absent("segment", &disk.segment_bytes),
        absent("reads on", &disk.read_on),
    ]
}

fn judge_flash(flash: &FlashInside) -> Vec<Judged> {
    vec![
        absent("page", &flash.page_bytes),
        absent("chunk", &flash.chunk_bytes),
        absent("interleave degree", &flash.degree),
        absent("channels", &flash.channels),
        absent("mapping", &flash.mapping),
        absent("page read", &flash.read_ns),
        absent("command", &flash.overhead_ns),
        absent("page on a bus", &flash.bus_page_ns),
        absent("page on the link", &flash.link_page_ns),
    ]
}

/// A parameter of an inside that the device does not have.
fn absent<T: Debug + PartialEq>(name: &'static str, finding: &Finding<T>) -> Judged {
    equal(name, None, finding)
}

fn equal<T: Debug + PartialEq>(
    name: &'static str,
    planted: Option<T>,
    finding: &Finding<T>,
) -> Judged {
    let right = finding.value.is_some() && finding.value == planted;
    judged(name, planted, finding, right, |value| format!("{value:?}"))
}

fn near(
    name: &'static str,
    planted: Option<f64>,
    finding: &Finding<f64>,
    words: impl Fn(f64) -> String,
) -> Judged {
    let both = finding.value.zip(planted);
    let right = both.is_some_and(|(found, planted)| (found / planted - 1.0).abs() <= TIME_OFF_MAX);
    judged(name, planted, finding, right, |&value| words(value))
}

fn judged<T>(
    name: &'static str,
    planted: Option<T>,
    finding: &Finding<T>,
    right: bool,
    words: impl Fn(&T) -> String,
) -> Judged {
    let verdict = match (right, finding.is_identified()) {
        (true, _) => Verdict::Right,
        (false, true) => Verdict::Wrong,
        (false, false) => Verdict::Unidentifiable,
    };
    Judged {
        name,
        planted: planted.as_ref().map_or("none".to_owned(), &words),
        found: finding.value.as_ref().map_or("unidentifiable".to_owned(), &words),
        verdict,
        reason: finding.reason.clone(),
    }
}
