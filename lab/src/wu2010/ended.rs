//! Ours beside Linux 6.x on streams that are read to their ends, in several layouts.
//!
//! One layout of [`beyond`](super::beyond) is no verdict. Where both algorithms ask for the same,
//! the angle at which the disk stands between two streams makes one of them up to 4 % faster. And
//! where the reads stop in the middle, what was read ahead by then decides: at 100 streams with
//! windows of 8 MiB by 5 %. So here all is read, and the ratio is the mean of several layouts.

use super::beyond::rules_beyond;
use super::method::{MB, MIB, SEED, case, rate, simulate};
use super::{Scale, disk};
use seekless::device::units::format_bytes;
use seekless::report::table;
use seekless::sim::timed::patterns;
use serde::Serialize;

/// So many files, each a little larger than the last: the streams lie at other angles.
const LAYOUTS: u64 = 5;
const LARGER_BYTES: u64 = 37 * MB;

/// The largest windows.
pub(super) const WINDOWS: [u64; 3] = [MIB / 8, MIB, 8 * MIB];

/// How many times the throughput of Linux's ours is.
#[derive(Serialize)]
pub(super) struct Ratios {
    pub(super) max_bytes: u64,
    pub(super) streams: u64,
    /// One a layout.
    ratios: Vec<f64>,
}

impl Ratios {
    pub(super) fn mean(&self) -> f64 {
        self.ratios.iter().sum::<f64>() / self.ratios.len() as f64
    }

    /// In how many layouts.
    pub(super) fn layouts(&self) -> usize {
        self.ratios.len()
    }

    /// The standard error of the mean.
    pub(super) fn error(&self) -> f64 {
        let (mean, count) = (self.mean(), self.ratios.len() as f64);
        let squares: f64 = self.ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
        (squares / (count - 1.0) / count).sqrt()
    }
}

pub(super) fn ratios(scale: &Scale) -> anyhow::Result<Vec<Ratios>> {
    let disk = disk::off()?;
    let cases = WINDOWS.map(|bytes| [case("linux", bytes), case("streams", bytes)]).concat();
    let mut all = Vec::new();
    for &streams in &scale.many {
        let mut rows = WINDOWS.map(|max_bytes| Ratios { max_bytes, streams, ratios: Vec::new() });
        for layout in 0..LAYOUTS {
            let bytes = (scale.ended_bytes + layout * LARGER_BYTES) / streams;
            let workload = patterns::interleaved(streams, bytes, u64::MAX, SEED + layout);
            let figures = simulate(&workload, &cases, &rules_beyond(), &disk)?;
            for (row, figures) in rows.iter_mut().zip(figures.chunks(2)) {
                row.ratios.push(rate(&figures[1]) / rate(&figures[0]));
            }
        }
        all.extend(rows);
    }
    Ok(all)
}

pub(super) fn words(ratios: &[Ratios], scale: &Scale) -> String {
    let counts: Vec<String> = scale.many.iter().map(u64::to_string).collect();
    let mut header = vec!["windows, streams"];
    header.extend(counts.iter().map(String::as_str));
    let row = |&bytes: &u64| {
        let of = ratios.iter().filter(|ratios| ratios.max_bytes == bytes);
        let mut row = vec![format!("{} KiB", bytes >> 10)];
        row.extend(of.map(|ratios| format!("{:.3} ±{:.3}", ratios.mean(), ratios.error())));
        row
    };
    format!(
        "Our streams, times linux: streams read to their ends in files of {}; means of {LAYOUTS} layouts \
         and their standard errors\n\n{}",
        format_bytes(scale.ended_bytes),
        table(&header, WINDOWS.iter().map(row).collect())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_that_of_a_mean() {
        let ratios = Ratios { max_bytes: MIB, streams: 2, ratios: vec![0.9, 1.0, 1.1, 1.0] };
        assert!((ratios.mean() - 1.0).abs() < 1e-9);
        // The variance is 0.02 / 3.
        assert!((ratios.error() - (0.02f64 / 3.0 / 4.0).sqrt()).abs() < 1e-9);
    }
}
