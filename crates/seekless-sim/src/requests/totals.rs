//! What requests come to: how many there are, for how many ids, of which weight.

use super::sequence::Requests;
use crate::unit::Unit;
use seekless_policy::eviction::Needs;

/// The sums of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    pub(crate) unit: Unit,
    pub(crate) unit_weights: bool,
    pub(crate) requests: u64,
    pub(crate) writes: u64,
    pub(crate) distinct: u32,
    pub(crate) distinct_weight: u64,
}

impl Totals {
    /// The unit of the requests.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether every id weighs 1: pages, or bare ids.
    #[must_use]
    pub fn unit_weights(&self) -> bool {
        self.unit_weights
    }

    /// The number of requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The number of requests that write.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// The number of different pages, files or objects.
    #[must_use]
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// The weight of all different ids: the working set.
    #[must_use]
    pub fn distinct_weight(&self) -> u64 {
        self.distinct_weight
    }

    /// What the requests can supply to a policy.
    pub(crate) fn offer(&self) -> Needs {
        Needs {
            next_use: true,
            state: true,
            neighbours: self.unit == Unit::Page,
            unit_weights: self.unit_weights,
        }
    }

    /// Bytes of a unit of weight.
    #[must_use]
    pub fn unit_bytes(&self) -> u64 {
        self.unit.weight_bytes()
    }
}

impl Requests {
    /// The sums of these requests.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals {
            unit: self.unit(),
            unit_weights: self.unit_weights(),
            requests: self.len() as u64,
            writes: self.writes(),
            distinct: self.distinct(),
            distinct_weight: self.distinct_weight(),
        }
    }
}
