//! What a simulation found: counts and their ratios, one row a policy and capacity.

use crate::requests::Requests;
use crate::unit::Unit;
use serde::Serialize;

/// The figures of one policy at one capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Name of the policy, without its variant.
    pub policy: String,
    /// The variant, which follows the policy's name after `@`.
    pub variant: Option<String>,
    /// What a request asks for.
    pub unit: Unit,
    /// Capacity as it was asked for, in bytes (for bare ids: in ids).
    pub capacity: u64,
    /// Capacity in units of weight: pages, or bytes.
    pub capacity_units: u64,
    /// Requests in all.
    pub requests: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that found what they asked for.
    pub hits: u64,
    /// Requests that did not; bypassed ones among them.
    pub misses: u64,
    /// Reads that did not.
    pub read_misses: u64,
    /// Writes that did not. They read nothing from the device, unless they are to fetch first.
    pub write_misses: u64,
    /// First requests for a page, file or object: no cache could have had it.
    pub compulsory_misses: u64,
    /// Misses that were read or written but not kept.
    pub bypassed: u64,
    /// Reads from the device: read misses, and writes that fetch.
    pub device_reads: u64,
    /// Dirty pages written to the device, evicted or not.
    pub write_backs: u64,
    /// Those of them that stayed in the cache: written periodically, by threshold or on sync.
    pub flushed: u64,
    /// Writes that were not kept and went to the device at once; no write-backs.
    pub writes_through: u64,
    /// Runs of write-backs to neighbouring pages one after another; `None` where it is unknown which are neighbours.
    pub write_back_runs: Option<u64>,
    /// Dirty pages in the cache at the end, which were never written.
    pub dirty_at_end: u64,
    /// Weight of the hits, in bytes.
    pub hit_bytes: u64,
    /// Weight of the misses, in bytes.
    pub miss_bytes: u64,
    /// Weight of the compulsory misses, in bytes.
    pub compulsory_bytes: u64,
    /// Weight of the write-backs, in bytes.
    pub write_back_bytes: u64,
    /// Hits of all requests, 0 to 1.
    pub hit_ratio: f64,
    /// Misses of all requests, 0 to 1.
    pub miss_ratio: f64,
    /// Misses that a larger cache would not have had, of all requests, 0 to 1.
    pub non_compulsory_miss_ratio: f64,
    /// Missed bytes of all requested bytes, 0 to 1.
    pub byte_miss_ratio: f64,
    /// How it went over time, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<Point>,
}

/// How it went up to some request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Requests so far.
    pub requests: u64,
    /// Hits so far.
    pub hits: u64,
    /// Read misses so far.
    pub read_misses: u64,
    /// Write-backs so far.
    pub write_backs: u64,
    /// Misses of all requests so far, 0 to 1.
    pub miss_ratio: f64,
    /// Misses of the requests since the point before, 0 to 1.
    pub recent_miss_ratio: f64,
}

/// What the loop counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) bypassed: u64,
    pub(crate) read_misses: u64,
    pub(crate) fetches: u64,
    pub(crate) write_backs: u64,
    pub(crate) flushed: u64,
    pub(crate) writes_through: u64,
    pub(crate) write_back_runs: u64,
    pub(crate) dirty_at_end: u64,
    /// In units of weight.
    pub(crate) hit_weight: u64,
    pub(crate) miss_weight: u64,
    pub(crate) write_back_weight: u64,
    pub(crate) points: Vec<Point>,
}

impl Figures {
    pub(crate) fn new(policy: &str, capacity: u64, requests: &Requests, counts: Counts) -> Self {
        let (total, writes) = (requests.len() as u64, requests.writes());
        let compulsory = u64::from(requests.distinct());
        let unit_bytes = requests.unit_bytes();
        let (hit_bytes, miss_bytes) = (counts.hit_weight * unit_bytes, counts.miss_weight * unit_bytes);
        let misses = total - counts.hits;
        let (policy, variant) = match policy.split_once('@') {
            Some((policy, variant)) => (policy, Some(variant.to_owned())),
            None => (policy, None),
        };
        Self {
            policy: policy.to_owned(),
            variant,
            unit: requests.unit(),
            capacity,
            capacity_units: capacity / unit_bytes,
            requests: total,
            reads: total - writes,
            writes,
            hits: counts.hits,
            misses,
            read_misses: counts.read_misses,
            write_misses: misses - counts.read_misses,
            compulsory_misses: compulsory,
            bypassed: counts.bypassed,
            device_reads: counts.read_misses + counts.fetches,
            write_backs: counts.write_backs,
            flushed: counts.flushed,
            writes_through: counts.writes_through,
            write_back_runs: requests.offer().neighbours.then_some(counts.write_back_runs),
            dirty_at_end: counts.dirty_at_end,
            hit_bytes,
            miss_bytes,
            compulsory_bytes: requests.distinct_weight() * unit_bytes,
            write_back_bytes: counts.write_back_weight * unit_bytes,
            hit_ratio: ratio(counts.hits, total),
            miss_ratio: ratio(misses, total),
            non_compulsory_miss_ratio: ratio(misses.saturating_sub(compulsory), total),
            byte_miss_ratio: ratio(miss_bytes, hit_bytes + miss_bytes),
            over_time: counts.points,
        }
    }

    /// The policy's name with its variant, as it was asked for.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}@{variant}", self.policy),
            None => self.policy.clone(),
        }
    }
}

/// `part / whole`, and 0 of nothing.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
