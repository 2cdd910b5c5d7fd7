//! Past the paper: up to 1,000 streams in a file of 10 GB, under every readahead and several
//! largest windows.

use super::method::{MIB, NEW, OLD, SEED, case, rate, rules, simulate};
use super::{Scale, disk};
use seekless::device::units::format_bytes;
use seekless::report::table;
use seekless::sim::timed::{Rules, TimedCase, patterns};
use serde::Serialize;

/// One readahead and largest window, at every number of streams.
#[derive(Serialize)]
pub(super) struct Curve {
    pub(super) readahead: String,
    max_bytes: u64,
    /// Streams and MB/s.
    pub(super) points: Vec<(u64, f64)>,
}

impl Curve {
    pub(super) fn name(&self) -> String {
        format!("{}, {} KiB", self.readahead, self.max_bytes >> 10)
    }

    pub(super) fn at(&self, streams: u64) -> Option<f64> {
        self.points.iter().find(|point| point.0 == streams).map(|point| point.1)
    }
}

/// The paper's two algorithms with its window of 1 MiB, Linux 6.x and ours with three.
fn cases() -> Vec<TimedCase> {
    let of =
        |readahead, sizes: &'static [u64]| sizes.iter().map(move |&bytes| case(readahead, bytes));
    const SIZES: &[u64] = &[MIB / 8, MIB, 8 * MIB];
    [of(OLD, &[MIB]), of(NEW, &[MIB]), of("linux", SIZES), of("streams", SIZES)]
        .into_iter()
        .flatten()
        .collect()
}

/// Simulated seconds after which the slowest are stopped.
const SECONDS_MAX: u64 = 3000;

/// Many streams would congest the queue of Linux 2.6; today's does not count. So this compares the
/// algorithms alone.
pub(super) fn rules_beyond() -> Rules {
    Rules { congested_ios: u32::MAX, until_ns: SECONDS_MAX * 1_000_000_000, ..rules() }
}

pub(super) fn curves(scale: &Scale) -> anyhow::Result<Vec<Curve>> {
    let disk = disk::off()?;
    let cases = cases();
    let mut curves: Vec<Curve> = cases
        .iter()
        .map(|case| Curve {
            readahead: case.readahead.clone(),
            max_bytes: u64::from(case.options.max_pages) * 4096,
            points: Vec::new(),
        })
        .collect();
    for &streams in &scale.many {
        let stream_bytes = scale.large_bytes / streams;
        let workload = patterns::interleaved(streams, stream_bytes, scale.read_bytes, SEED);
        let figures = simulate(&workload, &cases, &rules_beyond(), &disk)?;
        for (curve, figures) in curves.iter_mut().zip(&figures) {
            curve.points.push((streams, rate(figures)));
        }
    }
    Ok(curves)
}

pub(super) fn words(curves: &[Curve], scale: &Scale) -> String {
    let counts: Vec<String> = scale.many.iter().map(u64::to_string).collect();
    let mut header = vec!["MB/s, streams"];
    header.extend(counts.iter().map(String::as_str));
    let row = |curve: &Curve| {
        let mut row = vec![curve.name()];
        row.extend(curve.points.iter().map(|(_, rate)| format!("{rate:.2}")));
        row
    };
    format!(
        "Past the paper: streams in a file of {}, the first {} of their reads or {SECONDS_MAX} s; the \
         disk's own readahead off, and no queue congested\n\n{}",
        format_bytes(scale.large_bytes),
        format_bytes(scale.read_bytes),
        table(&header, curves.iter().map(row).collect())
    )
}
