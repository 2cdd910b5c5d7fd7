//! Correcting a row by what reads really cost: an exponentially weighted mean of real misses.

use super::{Origin, Row, Zone};
use crate::Nanos;

/// What a new read counts against all before it.
const WEIGHT: f64 = 1.0 / 8.0;
/// A read counts as at most this many times what the row says, and as no less than what the row
/// says divided by it: one stall must not spoil the row.
const OUTLIER: f64 = 16.0;

impl Row {
    /// Learns from one read that the device itself served: `bytes` at byte `at` of the device took
    /// `elapsed_ns`.
    ///
    /// Short reads show the latency, long ones the bandwidth: the border is where both cost the
    /// same. Each moves the figure an eighth of the way, and no read counts as more than 16 times
    /// off. Reads of nothing are ignored.
    pub fn refine(&mut self, at: u64, bytes: u64, elapsed_ns: Nanos) {
        if bytes == 0 || self.zones.is_empty() {
            return;
        }
        let after = self.zones.partition_point(|zone| zone.from_byte <= at);
        self.zones[after.saturating_sub(1)].refine(bytes, elapsed_ns);
        if self.origin != Origin::Given {
            self.origin = Origin::Refined;
        }
    }
}

impl Zone {
    fn refine(&mut self, bytes: u64, elapsed_ns: Nanos) {
        let (bytes, elapsed, latency) =
            (bytes as f64, elapsed_ns as f64, self.latency_ns.max(1) as f64);
        let byte_ns = 1e9 / self.bytes_per_second.max(1) as f64;
        if bytes * byte_ns <= latency {
            let mean = toward(latency, elapsed - bytes * byte_ns);
            self.latency_ns = (mean.round() as Nanos).max(1);
        } else {
            let mean = toward(byte_ns, (elapsed - latency) / bytes);
            self.bytes_per_second = ((1e9 / mean).round() as u64).max(1);
        }
    }
}

fn toward(mean: f64, sample: f64) -> f64 {
    mean + WEIGHT * (sample.clamp(mean / OUTLIER, mean * OUTLIER) - mean)
}
