//! How large the next window of a stream is, and how long before its end the one after it is
//! fetched.

use super::limits::Limits;
use crate::readahead::size;

/// The lead is halved after this many windows for which the reader did not wait.
const CALM_WINDOWS: u8 = 8;
/// It stays at this part of a window. Where streams interleave at random, a reader comes several
/// times in a row to one of them.
const CALM_SHARE: u64 = 4;

/// The window and lead of a stream. Their unit is the planner's: pages for what is read through,
/// elements for what is read element by element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    window: u32,
    lead: u32,
    /// How many windows in a row, of one size, the reader did not wait for.
    calm: u8,
    /// No window has been fetched since the last start.
    fresh: bool,
    /// The reader caught up with a fetch since the last window.
    late: bool,
    /// A page was lost before it was read since the last window.
    wasted: bool,
}

impl Pace {
    /// Begins with a window of this size; the next one may be larger.
    pub(super) fn start(window: u64) -> Self {
        let window = count(window.max(1));
        Self { window, lead: window, fresh: true, ..Self::default() }
    }

    /// The reader had to wait.
    pub(super) fn caught_up(&mut self) {
        self.late = true;
    }

    /// A page was evicted before it was read.
    pub(super) fn lost_a_page(&mut self) {
        self.wasted = true;
    }

    pub(super) fn window(&self) -> u64 {
        self.window.into()
    }

    /// How much may be left to read when the next window is fetched.
    pub(super) fn lead(&self, limits: &Limits) -> u64 {
        limits.lead.of(self.lead.into(), self.window.into())
    }

    /// The size of the next window: at most `largest`. It grows when the reader caught up, and
    /// without that only to `worth`. It is halved when pages were lost.
    ///
    /// The lead is the whole window, as in Linux. It is halved when the reader has not waited for
    /// any of the last eight windows, down to a quarter of it, and to twice `gap`, which is
    /// transferred in the time of two requests. A reader that waits gets the whole window again.
    pub(super) fn next(&mut self, largest: u64, worth: u64, gap: u64) -> u64 {
        let window = u64::from(self.window);
        let grown = size::next(window, largest);
        let next = match (self.fresh, self.wasted, self.late) {
            (true, ..) => window,
            (_, true, _) => window / 2,
            (_, _, true) => grown,
            _ => grown.min(worth).max(window),
        };
        let window = next.clamp(1, largest.max(1));
        let lead = u64::from(self.lead);
        let is_calm = !self.fresh && !self.late && window == u64::from(self.window);
        self.calm = if is_calm { self.calm.saturating_add(1) } else { 0 };
        let lead = match self.calm {
            0 => window,
            CALM_WINDOWS.. => (lead / 2).max(window / CALM_SHARE).max(2 * gap.max(1)),
            _ => lead,
        };
        if self.calm >= CALM_WINDOWS {
            self.calm = 0;
        }
        (self.window, self.lead) = (count(window), count(lead.min(window)));
        (self.fresh, self.late, self.wasted) = (false, false, false);
        window
    }
}

fn count(units: u64) -> u32 {
    u32::try_from(units).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readahead::Lead;
    use seekless_device::Costs;

    fn sizes(pace: &mut Pace, count: usize, largest: u64, worth: u64) -> Vec<u64> {
        (0..count).map(|_| pace.next(largest, worth, 4)).collect()
    }

    #[test]
    fn a_window_grows_to_its_worth_and_then_only_for_a_reader_that_waits() {
        let mut pace = Pace::start(4);
        assert_eq!(sizes(&mut pace, 6, 2048, 100), [4, 16, 64, 100, 100, 100]);
        pace.caught_up();
        assert_eq!(sizes(&mut pace, 3, 2048, 100), [400, 400, 400]);
    }

    #[test]
    fn the_lead_is_the_window_until_the_reader_does_not_wait() {
        let costs = Costs { request_ns: 100_000, bytes_per_second: 100_000_000, depth: 1 };
        let limits = Limits::of(Lead::Auto, 64, costs);
        let mut pace = Pace::start(64);
        let leads: Vec<u64> = (0..27)
            .map(|turn| {
                if turn == 26 {
                    pace.caught_up();
                }
                pace.next(64, 64, limits.gap);
                pace.lead(&limits)
            })
            .collect();
        assert_eq!(
            [7, 8, 15, 16, 23, 24, 25, 26].map(|at| leads[at]),
            [64, 32, 32, 16, 16, 16, 16, 64]
        );
    }

    #[test]
    fn a_lost_page_halves_a_window_and_the_largest_bounds_it() {
        let mut pace = Pace::start(64);
        assert_eq!(sizes(&mut pace, 1, 2048, 64), [64]);
        pace.lost_a_page();
        pace.caught_up();
        assert_eq!(sizes(&mut pace, 2, 2048, 32), [32, 32]);
        assert_eq!(sizes(&mut pace, 1, 8, 8), [8]);
    }
}
