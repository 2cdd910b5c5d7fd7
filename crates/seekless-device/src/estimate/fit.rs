//! A line through the last reads: what one costs without bytes, and each byte of it. It is the
//! estimator of Theil and Sen: the median of the slopes of all pairs, which a quarter of bad reads
//! does not spoil.

use super::READS_MIN;

/// Reads that are looked at.
const READS: usize = 64;
const PAIRS: usize = READS * (READS - 1) / 2;

/// The cost of a byte shows only if the sizes of reads differ by at least this much: the largest
/// less the smallest, and as a factor.
const SPREAD_BYTES: f64 = 32.0 * 1024.0;

/// No device delivers more than 50 GB/s.
const BYTE_NS_MIN: f64 = 0.02;

#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    bytes: f64,
    ns: f64,
}

/// The last reads, and the line through them.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    samples: [Sample; READS],
    added: usize,
    line: Option<Line>,
}

impl Default for Fit {
    fn default() -> Self {
        Self { samples: [Sample::default(); READS], added: 0, line: None }
    }
}

/// What a read costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    /// Without bytes.
    pub(super) request_ns: f64,
    /// A byte; `None` if all reads were of about one size.
    pub(super) byte_ns: Option<f64>,
}

impl Line {
    pub(super) fn at(&self, bytes: u64) -> f64 {
        self.request_ns + bytes as f64 * self.byte_ns.unwrap_or(0.0)
    }
}

impl Fit {
    pub(super) fn add(&mut self, bytes: u64, ns: f64) {
        self.samples[self.added % READS] = Sample { bytes: bytes as f64, ns };
        self.added += 1;
        if self.added.is_multiple_of(READS_MIN) {
            self.line = Some(line(&mut self.samples[..self.added.min(READS)]));
        }
    }

    /// The line; `None` after too few reads.
    pub(super) fn line(&self) -> Option<Line> {
        self.line
    }

    /// The shortest of the reads.
    pub(super) fn least(&self) -> Option<f64> {
        let samples = &self.samples[..self.added.min(READS)];
        samples.iter().map(|sample| sample.ns).min_by(f64::total_cmp)
    }
}

fn line(samples: &mut [Sample]) -> Line {
    let byte_ns = slope(samples);
    let mut rests = [0.0; READS];
    for (rest, sample) in rests.iter_mut().zip(&*samples) {
        *rest = sample.ns - sample.bytes * byte_ns.unwrap_or(0.0);
    }
    let request_ns = median(&mut rests[..samples.len()]).max(1.0);
    Line { request_ns, byte_ns }
}

fn slope(samples: &[Sample]) -> Option<f64> {
    let sizes = samples.iter().map(|sample| sample.bytes);
    let (low, high) = sizes.fold((f64::MAX, 0.0_f64), |(low, high), b| (low.min(b), high.max(b)));
    let spread = high - low;
    if spread < SPREAD_BYTES || high < 2.0 * low {
        return None;
    }
    let (mut slopes, mut count) = ([0.0; PAIRS], 0);
    for (place, one) in samples.iter().enumerate() {
        for other in &samples[..place] {
            let apart = one.bytes - other.bytes;
            // Pairs of nearly one size show nothing but noise.
            if apart.abs() >= spread / 4.0 {
                slopes[count] = (one.ns - other.ns) / apart;
                count += 1;
            }
        }
    }
    Some(median(&mut slopes[..count]).max(BYTE_NS_MIN))
}

/// The upper median; 0 of nothing.
pub(super) fn median(values: &mut [f64]) -> f64 {
    match values.len() {
        0 => 0.0,
        count => *values.select_nth_unstable_by(count / 2, f64::total_cmp).1,
    }
}
