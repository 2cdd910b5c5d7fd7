//! The figures of a simulation: counts and their ratios, one row a policy and capacity.

use crate::lifetimes::Expired;
use crate::ratio::ratio;
use crate::requests::Totals;
use crate::unit::Unit;
use crate::warm_up::WarmedUp;
use serde::Serialize;

/// The figures of one policy at one capacity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Name of the policy, without its variant.
    pub policy: String,
    /// The variant: the part of the policy's name after `@`.
    pub variant: Option<String>,
    /// The unit of the requests.
    pub unit: Unit,
    /// The capacity of the case, in bytes (for bare ids: in ids).
    pub capacity: u64,
    /// Capacity in units of weight: pages, or bytes.
    pub capacity_units: u64,
    /// Requests in all.
    pub requests: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Requests that hit.
    pub hits: u64,
    /// Requests that missed, including bypassed ones.
    pub misses: u64,
    /// Reads that missed.
    pub read_misses: u64,
    /// Writes that missed. They read nothing from the device, unless they fetch first.
    pub write_misses: u64,
    /// First requests for a page, file or object, which miss in every cache.
    pub compulsory_misses: u64,
    /// Misses that were read or written but not kept.
    pub bypassed: u64,
    /// Reads from the device: read misses, and writes that fetch.
    pub device_reads: u64,
    /// Dirty pages written to the device, evicted or not.
    pub write_backs: u64,
    /// The write-backs of pages that stayed in the cache: periodic, by threshold or on sync.
    pub flushed: u64,
    /// Writes that were held up by the hard limit on dirty pages, until others were written.
    pub held_up: u64,
    /// Writes that were not kept and went to the device at once. They are not write-backs.
    pub writes_through: u64,
    /// Runs of consecutive write-backs to neighbouring pages. `None` where neighbours are unknown.
    pub write_back_runs: Option<u64>,
    /// Dirty pages in the cache at the end, which were never written.
    pub dirty_at_end: u64,
    /// What the device has to do in all: reads, write-backs, writes through, and the pages that are
    /// still to be written. A policy cannot lower it by writing nothing.
    pub cost: u64,
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
    /// Misses other than compulsory ones, of all requests, 0 to 1.
    pub non_compulsory_miss_ratio: f64,
    /// Missed bytes of all requested bytes, 0 to 1.
    pub byte_miss_ratio: f64,
    /// What expired, if lifetimes are looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<Expired>,
    /// The counts of the warm-up, which are not in the figures above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmedUp>,
    /// Figures over time, if [`Options::every`](crate::Options::every) is set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<Point>,
}

/// Figures up to one request.
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
    /// Misses of the requests since the previous point, 0 to 1.
    pub recent_miss_ratio: f64,
}

/// The counts of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) bypassed: u64,
    pub(crate) read_misses: u64,
    pub(crate) fetches: u64,
    pub(crate) write_backs: u64,
    pub(crate) flushed: u64,
    pub(crate) held_up: u64,
    pub(crate) writes_through: u64,
    pub(crate) write_back_runs: u64,
    pub(crate) dirty_at_end: u64,
    /// In units of weight.
    pub(crate) hit_weight: u64,
    pub(crate) miss_weight: u64,
    pub(crate) write_back_weight: u64,
    pub(crate) expired: Option<Expired>,
    pub(crate) points: Vec<Point>,
    pub(crate) warm_up: Option<WarmedUp>,
}

impl Counts {
    /// Begins anew after the `requests` of the warm-up, whose counts are kept.
    pub(crate) fn warmed_up(&mut self, requests: usize, unit_bytes: u64) {
        let weights = (self.hit_weight, self.miss_weight);
        let warm_up = WarmedUp::new(requests as u64, self.hits, weights, unit_bytes);
        *self = Self { warm_up: Some(warm_up), ..Self::default() };
    }
}

impl Figures {
    pub(crate) fn new(policy: &str, capacity: u64, totals: &Totals, counts: Counts) -> Self {
        let (total, writes) = (totals.requests, totals.writes);
        let compulsory = u64::from(totals.distinct);
        let unit_bytes = totals.unit_bytes();
        let (hit_bytes, miss_bytes) =
            (counts.hit_weight * unit_bytes, counts.miss_weight * unit_bytes);
        let misses = total - counts.hits;
        let (policy, variant) = match policy.split_once('@') {
            Some((policy, variant)) => (policy, Some(variant.to_owned())),
            None => (policy, None),
        };
        Self {
            policy: policy.to_owned(),
            variant,
            unit: totals.unit,
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
            held_up: counts.held_up,
            writes_through: counts.writes_through,
            write_back_runs: totals.offer().neighbours.then_some(counts.write_back_runs),
            dirty_at_end: counts.dirty_at_end,
            cost: counts.read_misses
                + counts.fetches
                + counts.write_backs
                + counts.writes_through
                + counts.dirty_at_end,
            hit_bytes,
            miss_bytes,
            compulsory_bytes: totals.distinct_weight * unit_bytes,
            write_back_bytes: counts.write_back_weight * unit_bytes,
            hit_ratio: ratio(counts.hits, total),
            miss_ratio: ratio(misses, total),
            non_compulsory_miss_ratio: ratio(misses.saturating_sub(compulsory), total),
            byte_miss_ratio: ratio(miss_bytes, hit_bytes + miss_bytes),
            expired: counts.expired,
            warm_up: counts.warm_up,
            over_time: counts.points,
        }
    }

    /// The full name of the policy, with its variant.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}@{variant}", self.policy),
            None => self.policy.clone(),
        }
    }
}
