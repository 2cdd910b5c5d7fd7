//! What a simulation found: counts and their ratios, one row a policy and capacity.

use crate::requests::{Requests, Unit};
use serde::Serialize;

/// The figures of one policy at one capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Name of the policy, with its variant after `@`.
    pub policy: String,
    /// What a request asks for.
    pub unit: Unit,
    /// Capacity as it was asked for, in bytes (for a trace of bare ids: in ids).
    pub capacity: u64,
    /// Capacity in units of weight: pages, or bytes.
    pub capacity_units: u64,
    /// Requests in all.
    pub requests: u64,
    /// Requests that found what they asked for.
    pub hits: u64,
    /// Requests that did not; bypassed ones among them.
    pub misses: u64,
    /// First requests for a page or file: no cache could have had it.
    pub compulsory_misses: u64,
    /// Misses that were read but not kept.
    pub bypassed: u64,
    /// Weight of the hits, in bytes.
    pub hit_bytes: u64,
    /// Weight of the misses, in bytes.
    pub miss_bytes: u64,
    /// Weight of the compulsory misses, in bytes.
    pub compulsory_bytes: u64,
    /// Hits of all requests, 0 to 1.
    pub hit_ratio: f64,
    /// Misses of all requests, 0 to 1.
    pub miss_ratio: f64,
    /// Misses that a larger cache would not have had, of all requests, 0 to 1.
    pub non_compulsory_miss_ratio: f64,
    /// Missed bytes of all requested bytes, 0 to 1.
    pub byte_miss_ratio: f64,
}

/// What the loop counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) bypassed: u64,
    /// In units of weight.
    pub(crate) hit_weight: u64,
    pub(crate) miss_weight: u64,
}

impl Figures {
    pub(crate) fn new(policy: &str, capacity: u64, requests: &Requests, counts: Counts) -> Self {
        let total = requests.len() as u64;
        let compulsory = u64::from(requests.distinct());
        let unit_bytes = requests.unit_bytes();
        let (hit_bytes, miss_bytes) = (counts.hit_weight * unit_bytes, counts.miss_weight * unit_bytes);
        let misses = total - counts.hits;
        Self {
            policy: policy.to_owned(),
            unit: requests.unit(),
            capacity,
            capacity_units: capacity / unit_bytes,
            requests: total,
            hits: counts.hits,
            misses,
            compulsory_misses: compulsory,
            bypassed: counts.bypassed,
            hit_bytes,
            miss_bytes,
            compulsory_bytes: requests.distinct_weight() * unit_bytes,
            hit_ratio: ratio(counts.hits, total),
            miss_ratio: ratio(misses, total),
            non_compulsory_miss_ratio: ratio(misses - compulsory, total),
            byte_miss_ratio: ratio(miss_bytes, hit_bytes + miss_bytes),
        }
    }
}

/// `part / whole`, and 0 of nothing.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
