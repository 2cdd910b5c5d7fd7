//! How far a stream may go now: what the options, the budget and the device's costs allow.

use crate::readahead::options::PAGE_BYTES;
use crate::readahead::{Ahead, Lead, Options};
use seekless_device::Costs;

/// A window that costs this many times as much as its request loses a ninth of the device's
/// bandwidth to requests. Windows grow to it without being asked.
const WORTH_GAPS: u64 = 8;
/// Windows grow to 128 KiB without being asked, however cheap a request is.
const WORTH_PAGES_MIN: u64 = 32;
/// The first window is at most 256 KiB because requests are dear. Only two reads are known.
const FIRST_PAGES_MAX: u64 = 64;

/// What a request takes of the processor, about: to submit it, and to take in what came. However
/// many requests the device serves at once, the program makes them one after the other.
const PROCESSOR_NS: u64 = 6_000;

/// A window is cut into pieces of 128 KiB at least: each takes time of the processor too.
const PIECE_PAGES_MIN: u64 = 32;

/// All sizes are in pages, where they do not say bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The largest window.
    pub(super) window: u64,
    /// The window that is worth its request.
    pub(super) worth: u64,
    /// What the device reads in the time that one request costs.
    pub(super) gap: u64,
    /// The same in bytes.
    pub(super) gap_bytes: u64,
    /// What the device reads in the time that a request takes of the processor, in bytes.
    pub(super) processor_bytes: u64,
    /// Requests that the device serves at once.
    pub(super) depth: u64,
    pub(super) lead: Lead,
}

impl Limits {
    /// Limits for one of `active` streams. A stream has up to two windows, the one that is read
    /// and the one that is fetched; so a window is half of a stream's share of the budget.
    pub(super) fn new(options: Options, active: u32, ahead: &dyn Ahead) -> Self {
        let share = u64::from(ahead.budget_pages()) / (2 * u64::from(active.max(1)));
        Self::of(options.lead, share.min(options.max_pages.into()), ahead.costs())
    }

    pub(super) fn of(lead: Lead, window: u64, costs: Costs) -> Self {
        let gap_bytes = costs.gap_bytes();
        let gap = gap_bytes / PAGE_BYTES;
        let worth = gap.saturating_mul(WORTH_GAPS).max(WORTH_PAGES_MIN).min(window);
        let processor_bytes = Costs { request_ns: PROCESSOR_NS, ..costs }.gap_bytes();
        let depth = costs.depth.max(1).into();
        Self { window, worth, gap, gap_bytes, processor_bytes, depth, lead }
    }

    /// The same limits where readers wait, be it for other streams. On a device that serves one
    /// request at a time each request delays all streams, and twice the window is half the
    /// requests. A device that serves several moves bytes while a request waits.
    pub(super) fn where_readers_wait(self) -> Self {
        let times = if self.depth == 1 { 2 } else { 1 };
        Self { worth: self.worth.saturating_mul(times).min(self.window), ..self }
    }

    /// What costs the device a quarter of a request more to read.
    pub(super) fn first(&self) -> u64 {
        (self.gap / 4).min(FIRST_PAGES_MAX).min(self.window)
    }

    /// How many pages each request for a window of `pages` has: as many requests as the device
    /// serves at once, but none whose bytes take less time than the request itself.
    pub(super) fn piece(&self, pages: u64) -> u64 {
        let pieces = (pages / self.gap.max(PIECE_PAGES_MIN)).clamp(1, self.depth);
        pages.div_ceil(pieces)
    }

    /// Whether reading on over gaps of this size is cheaper than a request for what lies behind
    /// each of them. The reader's places are known in advance, so requests are made `depth` at a
    /// time.
    pub(super) fn bridges_known(&self, gap_bytes: u64) -> bool {
        let worth = (self.gap_bytes / self.depth).max(self.processor_bytes);
        gap_bytes < PAGE_BYTES || gap_bytes <= worth
    }

    /// The same for places that are not known in advance: without reading on, the reader waits
    /// for one request after the other.
    pub(super) fn bridges_unknown(&self, gap_bytes: u64) -> bool {
        gap_bytes < PAGE_BYTES || gap_bytes <= self.gap_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOLUME: Costs = Costs { request_ns: 5_000_000, bytes_per_second: 150_000_000, depth: 1 };
    const DRIVE: Costs = Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };

    #[test]
    fn dear_requests_bridge_gaps_and_open_large_windows() {
        let limits = Limits::of(Lead::Auto, 2048, VOLUME);
        assert_eq!((limits.gap, limits.worth, limits.first()), (183, 1464, 45));
        assert!(limits.bridges_known(750_000) && !limits.bridges_known(750_001));
    }

    #[test]
    fn readers_that_wait_for_one_request_after_the_other_are_worth_a_larger_window() {
        let limits = |costs| Limits::of(Lead::Auto, 2048, costs).where_readers_wait();
        assert_eq!(limits(VOLUME).worth, 2048, "twice 1464 is more than the largest");
        assert_eq!(limits(Costs { request_ns: 1_000_000, ..VOLUME }).worth, 2 * 8 * 36);
        assert_eq!(limits(DRIVE), Limits::of(Lead::Auto, 2048, DRIVE));
    }

    #[test]
    fn cheap_requests_at_depth_do_not_bridge_what_is_known() {
        let limits = Limits::of(Lead::Auto, 2048, DRIVE);
        assert_eq!((limits.gap, limits.worth, limits.first()), (30, 240, 7));
        assert!(!limits.bridges_known(61_440) && limits.bridges_known(3_000));
        assert!(limits.bridges_unknown(61_440) && !limits.bridges_unknown(125_001));
    }

    #[test]
    fn a_window_is_cut_for_a_device_that_serves_several_requests_at_once() {
        let pieces =
            |costs| [8, 64, 256, 2048].map(|n| Limits::of(Lead::Auto, 2048, costs).piece(n));
        assert_eq!(pieces(VOLUME), [8, 64, 256, 2048]);
        assert_eq!(pieces(DRIVE), [8, 32, 32, 64]);
    }

    #[test]
    fn the_largest_window_bounds_all() {
        let limits = Limits::of(Lead::Auto, 10, VOLUME);
        assert_eq!((limits.worth, limits.first()), (10, 10));
        assert_eq!(Limits::of(Lead::Auto, 0, VOLUME).worth, 0);
    }
}
