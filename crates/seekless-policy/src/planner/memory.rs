//! The memory that a planner may count on, and its shares.

use super::ahead::{many_are_dear, requests_are_dear};
use seekless_device::Costs;

/// The memory that a planner may count on, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What is kept between loads: the cache of files and, unless `read_ahead_bytes` says how much
    /// it is, what is kept of reads. If it is 0, nothing is read ahead unless `read_ahead_bytes`
    /// says so.
    pub cache_bytes: u64,
    /// Reads that are kept for the entries in them, beside the cache. `None`: a part of the cache
    /// ([`Memory::files_bytes`] is the rest).
    pub read_ahead_bytes: Option<u64>,
    /// How far a list of loads is read ahead of its consumer, coded and decoded bytes together.
    /// `None`: 64 MiB, or 256 MiB where requests are dear, to find more neighbours.
    pub window_bytes: Option<u64>,
}

/// Most bytes that are kept of reads while requests are cheap, unless the owner says otherwise.
const CHEAP_KEPT_BYTES: u64 = 16 << 20;

/// Most bytes that are kept of reads where requests are dear, unless the owner says otherwise. A
/// device that serves many of them at once brings more before it is needed: there is no such bound.
const DEAR_KEPT_BYTES: u64 = 64 << 20;

impl Memory {
    /// What is kept between loads, of both kinds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.cache_bytes.saturating_add(self.read_ahead_bytes.unwrap_or(0))
    }

    /// The cache of files, as long as the device charges this and nothing is predicted.
    #[must_use]
    pub fn files_bytes(&self, costs: &Costs) -> u64 {
        self.files_beside(costs, false)
    }

    /// The cache of files beside kept reads. More reads are kept if loads are `predicted`.
    pub(super) fn files_beside(&self, costs: &Costs, predicted: bool) -> u64 {
        match self.read_ahead_bytes {
            Some(_) => self.cache_bytes,
            None => self.cache_bytes - self.kept_bytes(costs, predicted),
        }
    }

    /// Most bytes that are kept of reads, as long as the device charges this. Half of the cache
    /// where requests are dear: five starts of 0 A.D. at 120 requests/s took 9 % longer than with
    /// twice the memory, and 21 % longer with a quarter. Three quarters if loads are also
    /// predicted, since then it is likelier that what came with a read is loaded. The same starts
    /// took 8 % longer with half, and all files that they load twice are 3 % of their bytes.
    pub(super) fn kept_bytes(&self, costs: &Costs, predicted: bool) -> u64 {
        let share = match (requests_are_dear(costs), predicted) {
            (false, _) => self.cache_bytes / 4,
            (true, false) => self.cache_bytes / 2,
            (true, true) => self.cache_bytes - self.cache_bytes / 4,
        };
        let most = if many_are_dear(costs) { u64::MAX } else { DEAR_KEPT_BYTES };
        self.read_ahead_bytes.unwrap_or(share.min(most))
    }

    /// How many of these are used.
    pub(super) fn kept_now(&self, costs: &Costs, predicted: bool) -> u64 {
        match self.read_ahead_bytes.is_some() || requests_are_dear(costs) {
            true => self.kept_bytes(costs, predicted),
            false => self.kept_bytes(costs, predicted).min(CHEAP_KEPT_BYTES),
        }
    }

    pub(super) fn window_bytes(&self, costs: &Costs) -> u64 {
        let usual = if requests_are_dear(costs) { 256 << 20 } else { 64 << 20 };
        self.window_bytes.unwrap_or(usual)
    }
}
