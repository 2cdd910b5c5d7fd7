//! What requests have cost so far: the time to the first byte with its spread, and the bandwidth of
//! one stream.

use seekless_device::Costs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The last of each figure that count.
const KEPT: usize = 128;

/// Fewer first bytes say nothing of late ones.
const HEDGE_SAMPLES_MIN: usize = 32;

/// A second request pays where the slowest in a hundred take this many times the median: then the
/// late ones are not just the slower half.
const HEDGE_SPREAD: u32 = 2;

/// A smaller body comes in one piece, whose time says nothing of the bandwidth.
const BODY_BYTES_MIN: u64 = 256 << 10;

/// Assumed before anything is known: Amazon S3 from a machine in its region.
const ASSUMED_FIRST_BYTE: Duration = Duration::from_millis(30);
const ASSUMED_BYTES_PER_SECOND: u64 = 90_000_000;

/// What requests have cost.
#[derive(Debug)]
pub(crate) struct Learned {
    state: Mutex<State>,
    streams: u32,
    hedge_share: f64,
}

#[derive(Debug, Default)]
struct State {
    first_byte: Window<Duration>,
    bytes_per_second: Window<u64>,
    requests: u64,
    hedges: u64,
}

/// The last figures, in the order in which they came.
#[derive(Debug)]
struct Window<T> {
    kept: Vec<T>,
    next: usize,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), next: 0 }
    }
}

impl<T: Copy + Ord> Window<T> {
    fn add(&mut self, figure: T) {
        match self.kept.get_mut(self.next) {
            Some(oldest) => *oldest = figure,
            None => self.kept.push(figure),
        }
        self.next = (self.next + 1) % KEPT;
    }

    /// The figure below which `percent` of them are.
    fn percentile(&self, percent: usize) -> Option<T> {
        let mut sorted = self.kept.clone();
        sorted.sort_unstable();
        sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied()
    }
}

impl Learned {
    pub(crate) fn new(streams: u32, hedge_share: f64) -> Self {
        Self { state: Mutex::default(), streams, hedge_share }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was made.
    pub(crate) fn asked(&self) {
        self.state().requests += 1;
    }

    /// An answer began.
    pub(crate) fn began(&self, after: Duration) {
        self.state().first_byte.add(after);
    }

    /// A body came to its end.
    pub(crate) fn ended(&self, bytes: u64, took: Duration) {
        if bytes >= BODY_BYTES_MIN {
            let rate = u128::from(bytes) * 1_000_000_000 / took.as_nanos().max(1);
            self.state().bytes_per_second.add(u64::try_from(rate).unwrap_or(u64::MAX));
        }
    }

    /// After which time a request counts as late; `None` where a second one does not pay.
    pub(crate) fn late_after(&self) -> Option<Duration> {
        let state = self.state();
        if self.hedge_share <= 0.0 || state.first_byte.kept.len() < HEDGE_SAMPLES_MIN {
            return None;
        }
        let median = state.first_byte.percentile(50)?;
        let slowest = state.first_byte.percentile(99)?;
        let pays = slowest >= median * HEDGE_SPREAD;
        if pays { state.first_byte.percentile(95) } else { None }
    }

    /// Whether a late request may be made again: then it counts as made.
    pub(crate) fn hedge(&self) -> bool {
        let state = &mut *self.state();
        let allowed = state.requests as f64 * self.hedge_share;
        let may = (state.hedges as f64) < allowed;
        state.hedges += u64::from(may);
        may
    }

    /// How many requests were made a second time because they were late.
    pub(crate) fn hedges(&self) -> u64 {
        self.state().hedges
    }

    /// What one more request costs.
    pub(crate) fn costs(&self) -> Costs {
        let state = self.state();
        let first_byte = state.first_byte.percentile(50).unwrap_or(ASSUMED_FIRST_BYTE);
        let rate = state.bytes_per_second.percentile(50).unwrap_or(ASSUMED_BYTES_PER_SECOND);
        Costs {
            request_ns: u64::try_from(first_byte.as_nanos()).unwrap_or(u64::MAX),
            bytes_per_second: rate.max(1),
            depth: self.streams,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn costs_are_the_medians_of_what_was_seen() {
        let learned = Learned::new(16, 0.0);
        let assumed = learned.costs();
        assert_eq!((assumed.request_ns, assumed.depth), (30_000_000, 16));
        for latency_ms in [19, 500, 20, 21, 18] {
            learned.began(MS * latency_ms);
        }
        learned.ended(1000, MS);
        learned.ended(10_000_000, MS * 100);
        let costs = learned.costs();
        assert_eq!((costs.request_ns, costs.bytes_per_second), (20_000_000, 100_000_000));
    }

    #[test]
    fn a_second_request_pays_only_where_the_tail_is_long() {
        let learned = Learned::new(16, 0.05);
        (0..100).for_each(|turn| learned.began(MS * (10 + turn % 20)));
        assert_eq!(learned.late_after(), None, "an even spread");
        (0..200).for_each(|turn| learned.began(MS * if turn % 40 == 0 { 900 } else { 20 }));
        assert_eq!(learned.late_after(), Some(MS * 20));
    }

    #[test]
    fn the_share_of_second_requests_is_bounded() {
        let learned = Learned::new(16, 0.05);
        (0..100).for_each(|_| learned.asked());
        let made = (0..100).filter(|_| learned.hedge()).count();
        assert_eq!((made, learned.hedges()), (5, 5));
    }
}
