//! Totals of requests: how many there are, for how many ids, with what weight.

use super::sequence::Requests;
use crate::unit::Unit;
use seekless_policy::eviction::Needs;

/// The sums of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// The unit of the requests.
    pub unit: Unit,
    /// Whether every id weighs 1: pages, or bare ids.
    pub unit_weights: bool,
    /// Whether every id has the same weight, at each request.
    pub equal_weights: bool,
    /// The number of requests.
    pub requests: u64,
    /// The number of requests that write.
    pub writes: u64,
    /// The number of different pages, files or objects.
    pub distinct: u32,
    /// The weight of all different ids: the working set.
    pub distinct_weight: u64,
}

impl Totals {
    /// Of no requests, for this many different pages.
    pub(crate) fn of_pages(pages: u64) -> Self {
        Self {
            unit: Unit::Page,
            unit_weights: true,
            equal_weights: true,
            requests: 0,
            writes: 0,
            distinct: u32::try_from(pages).unwrap_or(u32::MAX),
            distinct_weight: pages,
        }
    }

    /// What the requests can supply to a policy.
    pub(crate) fn offer(&self) -> Needs {
        Needs {
            next_use: true,
            state: true,
            neighbours: self.unit == Unit::Page,
            unit_weights: self.unit_weights,
            equal_weights: self.equal_weights,
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
            equal_weights: self.equal_weights(),
            requests: self.len() as u64,
            writes: self.writes(),
            distinct: self.distinct(),
            distinct_weight: self.distinct_weight(),
        }
    }
}
