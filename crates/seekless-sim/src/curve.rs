//! Miss-ratio curves: the misses at every cache size from one reading of the requests.
//!
//! There are three ways, from exact to quick. The last two give error bars.
//!
//! - [`exact_lru`] for LRU;
//! - [`shards`] for LRU, on a sample of the ids; [`shards_while_read`] for traces that are too long
//!   for memory;
//! - [`sampled`] for any policy, by simulating small caches on samples.

mod exact;
mod hash;
mod knee;
mod miniature;
mod sampled;
mod shards;
mod sizes;
mod stack;
mod while_read;

pub use exact::{LruMisses, exact, exact_lru};
pub use knee::{Knee, STEPS_PER_DOUBLING, doublings, knee, miss_ratio_at};
pub use miniature::Miniature;
pub use sampled::{Sampling, sampled};
pub use shards::{Shards, shards};
pub use sizes::spread;
pub use while_read::shards_while_read;

use crate::requests::Requests;
use crate::unit::Unit;
use serde::{Deserialize, Serialize};

/// The share of error bars that contain the value of the full run, for [`shards`] and [`sampled`].
pub const CONFIDENCE: f64 = 0.95;

/// The length of a bar for [`CONFIDENCE`], in standard deviations. It is more than the normal
/// distribution's 1.96, since a sample misjudges its own spread too.
const Z: f64 = 2.2;

/// A small cache that would hold fewer sampled ids than this predicts nothing about the large
/// cache.
const HELD_MIN: f64 = 2.0;

/// One cache size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Bytes; for bare ids a number of ids.
    pub capacity: u64,
    /// Misses of all requests, 0 to 1.
    pub miss_ratio: f64,
    /// Missed bytes of all requested bytes, 0 to 1.
    pub byte_miss_ratio: f64,
    /// Lower end of the error bar of the miss ratio. On an exact curve it equals the ratio.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How a curve was computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// From every request.
    Exact,
    /// From LRU stack distances of a sample of the ids.
    Shards,
    /// From small simulations on samples of the ids.
    Sampled,
}

/// Miss ratios by cache size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the policy.
    pub policy: String,
    /// How it was computed.
    pub method: Method,
    /// The unit of the requests.
    pub unit: Unit,
    /// Requests of the trace.
    pub requests: u64,
    /// Different ids of the trace.
    pub distinct: u64,
    /// Requests in all samples together.
    pub requests_sampled: u64,
    /// Share of the ids in a sample, 0 to 1; the last one where it was adapted.
    pub rate: f64,
    /// The share of error bars that contain the value of the full run, 0 to 1.
    pub confidence: f64,
    /// In rising order of capacity.
    pub points: Vec<Point>,
}

/// Sums over a trace that every curve needs.
struct Totals {
    requests: f64,
    bytes: f64,
    /// First requests of all requests. The next is the same by weight.
    compulsory_ratio: f64,
    compulsory_byte_ratio: f64,
}

impl Totals {
    fn of(requests: &Requests) -> Self {
        let count = requests.len() as f64;
        let weight =
            if requests.unit_weights() { count } else { requests.requested_weight() as f64 };
        Self::with(requests, count, weight)
    }

    /// Totals of a trace of `count` requests with this weight together; `requests` has all its ids.
    fn new(requests: &Requests, count: u64, weight: u64) -> Self {
        Self::with(requests, count as f64, weight as f64)
    }

    fn with(requests: &Requests, count: f64, weight: f64) -> Self {
        Self {
            requests: count,
            bytes: weight,
            compulsory_ratio: share(f64::from(requests.distinct()), count),
            compulsory_byte_ratio: share(requests.distinct_weight() as f64, weight),
        }
    }
}

/// `part / whole`; 0 if `whole` is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn mean_weight(requests: &Requests) -> f64 {
    share(requests.distinct_weight() as f64, f64::from(requests.distinct()))
}

/// The capacities in rising order, without duplicates.
fn sorted(capacities: &[u64]) -> Vec<u64> {
    let mut sorted = capacities.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}
