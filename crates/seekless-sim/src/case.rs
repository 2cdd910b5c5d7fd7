//! Cases: which policy, at which capacity, under which rules.

use crate::admission::Admit;
use crate::lifetimes::Expiry;
use crate::warm_up::WarmUp;
use crate::write_back::WriteBack;
use seekless_policy::cache::Changed;
use std::num::NonZeroU64;

/// What to simulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the policy, one of [`NAMES`](seekless_policy::eviction::NAMES).
    pub policy: String,
    /// The capacity in bytes. A cache of pages holds as many whole pages as fit; for bare ids it is
    /// a number of ids.
    pub capacity: u64,
}

/// Rules for every case of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// What a request is for an object that is in the cache with another size.
    pub changed: Changed,
    /// Which objects come in; all if there is no rule.
    pub admission: Option<Admit>,
    /// How lifetimes end; without it they are not looked at.
    pub expiry: Option<Expiry>,
    /// Whether a write to an id that is not in the cache reads it first.
    pub fetch_on_write: bool,
    /// When dirty pages that stay in the cache are written.
    pub write_back: WriteBack,
    /// How many of the first requests are counted apart.
    pub warm_up: Option<WarmUp>,
    /// How many requests lie between two points of
    /// [`Figures::over_time`](crate::Figures::over_time).
    pub every: Option<NonZeroU64>,
}
