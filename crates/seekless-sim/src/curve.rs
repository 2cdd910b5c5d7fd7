//! Miss-ratio curves: the misses of every cache size from one reading of the requests.
//!
//! Three ways, from exact to quick: [`exact_lru`] for LRU, [`shards`] for LRU on a sample of the ids, and [`sampled`] for any
//! policy, by simulating small caches on samples. The last two say how far they may be off.

mod exact;
mod hash;
mod sampled;
mod shards;
mod sizes;
mod stack;

pub use exact::{LruMisses, exact, exact_lru};
pub use sampled::{Sampling, sampled};
pub use shards::{Shards, shards};
pub use sizes::spread;

use crate::requests::Requests;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};

/// The share of error bars that hold the full run's value, for [`shards`] and [`sampled`].
pub const CONFIDENCE: f64 = 0.95;

/// How many standard deviations a bar reaches for [`CONFIDENCE`]: more than the normal's 1.96, since a sample misjudges its own
/// spread too.
const Z: f64 = 2.2;

/// A cache that would hold fewer sampled ids than this says nothing of the large one.
const HELD_MIN: f64 = 2.0;

/// One cache size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Bytes; for bare ids, how many of them.
    pub capacity: u64,
    /// Misses of all requests, 0 to 1.
    pub miss_ratio: f64,
    /// Missed bytes of all requested bytes, 0 to 1.
    pub byte_miss_ratio: f64,
    /// Lower end of the miss ratio's error bar; equal to it where the curve is exact.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How a curve was found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Every request counts.
    Exact,
    /// LRU stack distances of a sample of the ids.
    Shards,
    /// Small simulations on samples of the ids.
    Sampled,
}

/// Miss ratios by cache size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the policy.
    pub policy: String,
    /// How it was found.
    pub method: Method,
    /// What a request asks for.
    pub unit: Unit,
    /// Requests of the trace.
    pub requests: u64,
    /// Different ids of the trace.
    pub distinct: u64,
    /// Requests that were looked at, those of every sample counted.
    pub requests_sampled: u64,
    /// Share of the ids in a sample, 0 to 1; the last one where it was adapted.
    pub rate: f64,
    /// How often an error bar holds the full run's value, 0 to 1.
    pub confidence: f64,
    /// In rising order of capacity.
    pub points: Vec<Point>,
}

/// What every curve knows of its trace.
struct Totals {
    requests: f64,
    bytes: f64,
    /// Weight asked for by first requests, in units.
    compulsory_ratio: f64,
    compulsory_byte_ratio: f64,
}

impl Totals {
    fn of(requests: &Requests) -> Self {
        let count = requests.len() as f64;
        let weight = if requests.unit_weights() {
            count
        } else {
            requests.ids().iter().map(|&id| requests.weight(id)).sum::<u64>() as f64
        };
        Self {
            requests: count,
            bytes: weight,
            compulsory_ratio: share(f64::from(requests.distinct()), count),
            compulsory_byte_ratio: share(requests.distinct_weight() as f64, weight),
        }
    }
}

/// `part / whole`, and 0 of nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn mean_weight(requests: &Requests) -> f64 {
    share(requests.distinct_weight() as f64, f64::from(requests.distinct()))
}

/// Rising, each once.
fn sorted(capacities: &[u64]) -> Vec<u64> {
    let mut sorted = capacities.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}
