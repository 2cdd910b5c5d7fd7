//! A limit of bytes a second that holds for all reads together. Under one, bytes come at the same
//! rate whatever the size of the reads and however many are under way.

use super::{place, repeat};
use crate::Error;
use crate::inside::finding::Finding;
use crate::inside::probing::Probing;
use crate::inside::statistics::{mean, standard_error};
use crate::inside::timed::Request;
use seekless_device::Nanos;

/// Bytes of a read, and reads at once.
type Way = (u64, u64);
const WAYS: [Way; 3] = [(64 << 10, 1), (64 << 10, 8), (256 << 10, 8)];
/// A limit may let a burst pass, which is read first.
const BURST_BYTES: u64 = 256 << 20;
const BYTES: u64 = 64 << 20;
const LIMIT_NS: Nanos = 500_000_000;
const BATCHES_MIN: usize = 4;
/// Rates that differ by more are not one limit's.
const ALIKE: f64 = 1.1;
/// Error of a rate that is counted by whole batches.
const RATE_ERROR: f64 = 0.01;

/// Finds the limit.
pub(super) fn find(probing: &mut Probing<'_>) -> Result<Finding<f64>, Error> {
    rate(probing, WAYS[2], BURST_BYTES)?;
    let mut rates = Vec::new();
    for way in WAYS {
        rates.push(rate(probing, way, BYTES)?);
    }
    Ok(judge(&rates))
}

fn judge(rates: &[f64]) -> Finding<f64> {
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    let words = rates.iter().map(|rate| format!("{:.1}", rate / 1e6)).collect::<Vec<_>>();
    let words = format!(
        "64 KiB, eight times 64 KiB and eight times 256 KiB at once come at {} MB/s",
        words.join(", ")
    );
    if most > ALIKE * least {
        return Finding::unidentifiable(format!("{words}: no one limit"));
    }
    let middle = mean(rates);
    Finding::time(middle, standard_error(rates).max(RATE_ERROR * middle), words)
}

/// Bytes a second of reads at random places.
fn rate(probing: &mut Probing<'_>, (bytes, depth): Way, total: u64) -> Result<f64, Error> {
    let (started, mut read) = (probing.now(), 0);
    let batches = [BATCHES_MIN, (total / (bytes * depth)) as usize];
    repeat(probing, batches, LIMIT_NS, |probing| {
        let requests: Vec<Request> =
            (0..depth).map(|_| Request::read(place(probing, bytes, bytes), bytes)).collect();
        probing.run(&requests)?;
        read += bytes * depth;
        Ok(())
    })?;
    Ok(read as f64 * 1e9 / (probing.now() - started).max(1) as f64)
}
