//! How a device answers reads, whatever it is inside: how long the first read of a place takes,
//! whether a cache answers the next, whether reads in sequence are answered ahead, and whether a
//! limit of bytes a second holds for all reads together.
//!
//! Only reads of places that nobody has read yet show a cache. So this comes before measurements
//! that read most of the device.

mod ahead;
mod cache;
mod limit;

use super::finding::{Finding, Open, explain_all};
use super::probing::Probing;
use super::statistics::{median, spread};
use crate::Error;
use seekless_device::Nanos;
use serde::Serialize;

/// A read that takes less than this share of another's time was answered in another way.
const FAST: f64 = 0.5;
/// A median's standard error is this many times that of a mean.
const OF_MEDIAN: f64 = 1.25;

/// How a device answers reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answers {
    /// Time of a read of one sector at a place that was not read before, in nanoseconds.
    pub first_read_ns: Finding<f64>,
    /// Whether a cache answers a second read of the same place.
    pub cached: Finding<bool>,
    /// Time of such a read, in nanoseconds.
    pub cached_read_ns: Finding<f64>,
    /// Aligned bytes that a read of one sector brings into that cache.
    pub cache_block_bytes: Finding<u64>,
    /// Whether reads in sequence are answered from what was read ahead.
    pub reads_ahead: Finding<bool>,
    /// Bytes a second of all reads together, if they come at one rate whatever their size and
    /// number.
    pub bytes_per_second: Finding<f64>,
}

impl Answers {
    fn explain_rest(&mut self, why: &str) {
        let figures: &mut [&mut dyn Open] = &mut [
            &mut self.first_read_ns,
            &mut self.cached,
            &mut self.cached_read_ns,
            &mut self.cache_block_bytes,
            &mut self.reads_ahead,
            &mut self.bytes_per_second,
        ];
        explain_all(figures, why);
    }
}

/// Finds how a device answers reads.
pub(super) fn find(probing: &mut Probing<'_>) -> Result<Answers, Error> {
    let mut answers = Answers::default();
    let (first, again) = cache::pairs(probing)?;
    answers.first_read_ns = first.time("reads of places that were not read before");
    answers.cached = again.is_faster_than(&first, "a second read");
    let mut block = None;
    match answers.cached.value {
        Some(true) => {
            answers.cached_read_ns = again.time("second reads of a place");
            answers.cache_block_bytes = cache::block(probing, &first, &again)?;
            block = answers.cache_block_bytes.value;
        }
        Some(false) => {
            answers.explain_cache("a second read of a place takes as long as the first");
            block = Some(probing.grain());
        }
        None => answers.explain_cache("whether there is a cache is not known"),
    }
    match block {
        Some(block) => answers.reads_ahead = ahead::find(probing, &first, block)?,
        None => answers.explain_rest("how much a read brings into the cache is not known"),
    }
    answers.bytes_per_second = limit::find(probing)?;
    answers.explain_rest("it follows from figures that were not found");
    Ok(answers)
}

impl Answers {
    fn explain_cache(&mut self, why: &str) {
        explain_all(&mut [&mut self.cached_read_ns, &mut self.cache_block_bytes], why);
    }
}

/// Times of reads of one kind.
#[derive(Clone, Debug, Default)]
struct Times(Vec<f64>);

impl Times {
    fn middle(&self) -> f64 {
        median(&self.0)
    }

    /// The standard error of the median.
    fn error(&self) -> f64 {
        let error = OF_MEDIAN * spread(&self.0) / (self.0.len() as f64).sqrt();
        error.max(1e-4 * self.middle())
    }

    fn time(&self, of: &str) -> Finding<f64> {
        let (middle, error) = (self.middle(), self.error());
        let finding = Finding::time(middle, error, of);
        if finding.is_identified() {
            return finding;
        }
        let reason = format!("{of} take {:.3} ± {:.3} ms: too noisy", middle / 1e6, error / 1e6);
        Finding { reason, ..finding }
    }

    /// Whether these reads take less than half the time of the `usual` ones.
    fn is_faster_than(&self, usual: &Times, name: &str) -> Finding<bool> {
        let border = FAST * usual.middle();
        let error = self.error().hypot(FAST * usual.error());
        let sigmas = (self.middle() - border).abs() / error;
        let times = format!(
            "{name} takes {:.3} ± {:.3} ms, a read elsewhere {:.3} ± {:.3} ms",
            self.middle() / 1e6,
            self.error() / 1e6,
            usual.middle() / 1e6,
            usual.error() / 1e6
        );
        let found = Finding::of(self.middle() < border, sigmas.min(1000.0), times);
        if found.is_identified() {
            return found;
        }
        let reason = format!("{}: the noise is larger than the difference", found.reason);
        Finding { reason, ..found }
    }
}

/// Repeats a measurement `most` times, but only `least` times if the device is slow.
fn repeat(
    probing: &mut Probing<'_>,
    [least, most]: [usize; 2],
    limit_ns: Nanos,
    mut once: impl FnMut(&mut Probing<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let started = probing.now();
    for number in 0..most {
        if number >= least && probing.now().saturating_sub(started) > limit_ns {
            break;
        }
        once(probing)?;
    }
    Ok(())
}

/// An offset that is a multiple of `bytes`, with as many bytes as `room` behind it.
fn place(probing: &mut Probing<'_>, bytes: u64, room: u64) -> u64 {
    let places = probing.capacity().saturating_sub(room) / bytes;
    probing.dice.below(places.max(1)) * bytes
}

#[cfg(test)]
pub(super) mod tests;
