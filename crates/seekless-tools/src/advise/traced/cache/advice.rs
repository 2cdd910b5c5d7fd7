//! What is found out about a cache, in figures. Sizes are in bytes, or in ids where the trace has
//! no sizes. Ratios are of requests, 0 to 1.

use seekless_sim::Unit;
use seekless_sim::curve::{Curve, Knee};
use serde::Serialize;

/// How large a cache should be, and by which policy it should evict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheAdvice {
    /// The traces.
    pub traces: Vec<String>,
    /// What a request is for.
    pub unit: Unit,
    /// Whether sizes are in bytes; else they are numbers of ids.
    pub in_bytes: bool,
    /// Requests.
    pub requests: u64,
    /// Different pages, files or objects.
    pub distinct: u64,
    /// Their size: a cache of it misses nothing but first requests.
    pub working_set: u64,
    /// First requests, which every cache misses.
    pub compulsory_miss_ratio: f64,
    /// The size that the advice begins with.
    pub base: Base,
    /// LRU's knee; `None` if its curve has no corner.
    pub knee: Option<Knee>,
    /// LRU at halvings and doublings of the base.
    pub sizes: Vec<Size>,
    /// The cache that there is, or would be without advice.
    pub present: Outcome,
    /// At the base: the policy that misses least, or the present cache where no other is worth it.
    pub advised: Outcome,
    /// What would help, best first; empty if nothing does.
    pub measures: Vec<CacheMeasure>,
    /// What would not help.
    pub useless: Vec<CacheMeasure>,
    /// Whether write-back matters; `None` if the trace has no writes.
    pub writes: Option<Writes>,
    /// Whether readahead matters; `None` if requests have no neighbours.
    pub reading_ahead: Option<ReadingAhead>,
    /// The share of the ids on which policies were compared.
    pub sampled_share: f64,
    /// LRU's misses by size.
    pub curve: Curve,
}

/// A size and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Base {
    /// The size.
    pub capacity: u64,
    /// Where it comes from.
    pub source: BaseSource,
}

/// Where a size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseSource {
    /// The user gave it.
    Given,
    /// The knee of the curve.
    Knee,
    /// A tenth of the working set, since there is no knee.
    Assumed,
}

/// LRU's misses at a size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Size {
    /// The size.
    pub capacity: u64,
    /// Misses of all requests.
    pub miss_ratio: f64,
}

/// A policy at a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The policy.
    pub policy: String,
    /// The size.
    pub capacity: u64,
    /// Misses of all requests, from an empty cache on.
    pub miss_ratio: f64,
    /// Misses in the first half of the requests.
    pub first_miss_ratio: f64,
    /// Misses in the second half.
    pub second_miss_ratio: f64,
}

/// Something that would help.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CacheMeasure {
    /// The policy and size, and what they miss.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Fewer misses than the present cache has.
    pub misses_saved: f64,
    /// At the same size, the policy that misses least in the first half of the requests: what who
    /// chooses with half of the trace would take. The same policy where none is chosen.
    pub held_out: Outcome,
    /// Fewer misses of that one in the second half than the present cache has there.
    pub held_out_saved: f64,
}

/// What writes do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Writes {
    /// Writes of all requests.
    pub share: f64,
    /// Of the writes, those to what was written before.
    pub rewritten: f64,
    /// Of the writes, those that a cache of the base size never passes on, if it writes a page only
    /// when it leaves.
    pub absorbed: f64,
}

/// What a readahead does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadingAhead {
    /// Requests for the page behind one of those that were last asked for.
    pub sequential_share: f64,
    /// The device on which it was simulated.
    pub device: String,
    /// The wait without readahead, in seconds; `None` if the trace is too long to simulate in time.
    pub without_s: Option<f64>,
    /// The wait with Linux's readahead, in seconds.
    pub with_s: Option<f64>,
}
