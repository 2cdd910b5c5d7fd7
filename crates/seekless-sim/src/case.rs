//! Cases: which policy, at which capacity, under which rules.

use crate::write_back::WriteBack;
use std::num::NonZeroU64;

/// What to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the policy, one of [`NAMES`](seekless_policy::eviction::NAMES).
    pub policy: String,
    /// Bytes; in page units it holds the whole pages of them, and for bare ids it is a number of ids.
    pub capacity: u64,
}

/// Rules that hold for every case of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether a write to what is not in the cache reads it first.
    pub fetch_on_write: bool,
    /// When dirty pages are written although they stay.
    pub write_back: WriteBack,
    /// How many requests lie between two points of [`Figures::over_time`](crate::Figures::over_time).
    pub every: Option<NonZeroU64>,
}
