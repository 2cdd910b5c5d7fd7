//! What is still to be read of a file: cached ranges, absent ones, and small absent ones between
//! cached ones.

use super::price::Price;
use super::ranges::Ranges;
use seekless_sys::residency::{GRAIN_BYTES, PageRun};
use std::ops::Range;

/// An absent range up to this size between cached ones is filled.
const SLIVER_BYTES: u64 = 4 * GRAIN_BYTES;
/// A file with more pieces than this is read from its first byte on. Remembering more than this
/// would take more memory than it saves time.
const RANGES_MAX: usize = 64 << 10;
/// In programs that need order, an absent range up to this size is read before the cached one
/// behind it.
const GAP_BYTES: u64 = 64 << 20;

/// Ranges that cost the same.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) price: Price,
    pub(super) ranges: Ranges,
}

/// All ranges are disjoint. A byte in none of them was read, is being read, or was left out.
#[derive(Debug, Default)]
pub(super) struct Left {
    pub(super) cached: Ranges,
    pub(super) absent: Ranges,
    /// Small absent ranges between cached ones. They are read last, into the cache, so that its
    /// content does not go to pieces.
    pub(super) slivers: Ranges,
    /// The price of the absent ranges and the slivers.
    pub(super) price: Price,
    /// Ranges that are dearer than the absent ones, the dearest first.
    dearer: Vec<Class>,
}

impl Left {
    /// Whether nothing is left to read. If only cached bytes are to be read, the others do not
    /// count.
    pub(super) fn is_over(&self, cached_only: bool) -> bool {
        self.cached.is_empty() && (cached_only || self.absent_bytes() == 0)
    }

    /// The bytes that are not cached.
    pub(super) fn absent_bytes(&self) -> u64 {
        let dearer: u64 = self.dearer.iter().map(|class| class.ranges.bytes()).sum();
        self.absent.bytes() + self.slivers.bytes() + dearer
    }

    /// Makes the cheapest of the dearer ranges the absent ones once those are read; returns
    /// whether it did.
    pub(super) fn promote(&mut self) -> bool {
        let over = self.absent.is_empty() && self.slivers.is_empty();
        let Some(Class { price, ranges }) = over.then(|| self.dearer.pop()).flatten() else {
            return false;
        };
        (self.price, self.absent) = (price, ranges);
        true
    }

    /// Removes all that is not cached, ordered by offset.
    pub(super) fn take_absent(&mut self) -> Vec<Range<u64>> {
        let cached = std::mem::take(&mut self.cached);
        let absent = self.take_all();
        self.cached = cached;
        absent
    }

    /// Adds ranges that are not cached, each class with its price; there must be no others.
    pub(super) fn wait(&mut self, classes: impl Iterator<Item = Class>) {
        self.dearer.extend(classes);
        self.dearer.sort_by_key(|class| std::cmp::Reverse(class.price));
        self.promote();
    }

    /// Whether a sliver is to be read next. Slivers wait until all that is cached has been read,
    /// because filling them pushes something out. Then they come first, so that the ranges around
    /// them become whole.
    pub(super) fn fills_sliver(&self, cached_over: bool) -> bool {
        self.absent.is_empty() || (cached_over && !self.slivers.is_empty())
    }

    /// Whether the first absent range is short and lies before a cached one.
    pub(super) fn starts_with_gap(&self) -> bool {
        match (self.absent.first(), self.cached.first()) {
            (Some(absent), Some(cached)) => {
                absent.start < cached.start && absent.end - absent.start <= GAP_BYTES
            }
            _ => false,
        }
    }

    /// Removes all that is left, ordered by offset.
    pub(super) fn take_all(&mut self) -> Vec<Range<u64>> {
        let price = self.price;
        let Left { cached, absent, slivers, dearer, .. } = std::mem::take(self);
        self.price = price;
        let dearer = dearer.into_iter().map(|class| class.ranges);
        let all = [cached, absent, slivers].into_iter().chain(dearer);
        let mut all: Vec<_> = all.flat_map(|ranges| ranges.iter().collect::<Vec<_>>()).collect();
        all.sort_unstable_by_key(|range| range.start);
        all
    }

    /// Moves up to `bytes` from the cached ranges to the absent ones.
    pub(super) fn was_absent(&mut self, bytes: u64) {
        let taken = self.cached.take(bytes);
        taken.into_iter().for_each(|range| self.absent.push(range));
    }

    /// Adds the runs of a file to the cached and the absent ranges.
    ///
    /// A run that is cached except for a few pages counts as absent. Reading its absent pages into
    /// a full cache pushes out the pages that are read next, and reading those pushes out the next
    /// ones. One missing page was seen to cost 26 MiB of reads. Where such runs are many, it is
    /// worth it.
    pub(super) fn sort_in(&mut self, runs: &[PageRun], cached_only: bool) {
        let cached = || runs.iter().filter(|run| run.resident);
        let bytes = |run: &PageRun| run.range.end - run.range.start;
        let all: u64 = cached().map(bytes).sum();
        let inexact: u64 = cached().filter(|run| !run.exact).map(bytes).sum();
        let exact_only = cached_only || inexact < all / 16;
        let in_pieces = self.cached.len() + self.absent.len() + runs.len() <= RANGES_MAX;
        for run in runs {
            let counts = (in_pieces || cached_only) && run.resident && (run.exact || !exact_only);
            if counts { &mut self.cached } else { &mut self.absent }.push(run.range.clone());
        }
        if all > 0 && !cached_only {
            let small = self.absent.split_off_small(SLIVER_BYTES);
            let few = small.bytes() < all / 16;
            let target = if few { &mut self.slivers } else { &mut self.absent };
            small.iter().for_each(|range| target.push(range));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn exact(range: Range<u64>, resident: bool) -> PageRun {
        PageRun { range, resident, exact: true }
    }

    /// Starts and ends.
    fn of(ranges: &Ranges) -> Vec<(u64, u64)> {
        ranges.iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn a_small_gap_in_what_is_cached_is_a_hole_and_a_long_one_is_not() {
        let mut left = Left::default();
        let runs = [
            exact(0..64 * MIB, true),
            exact(64 * MIB..64 * MIB + 4096, false),
            exact(64 * MIB + 4096..100 * MIB, true),
            exact(100 * MIB..110 * MIB, false),
        ];
        left.sort_in(&runs, false);
        assert_eq!(of(&left.cached), [(0, 64 * MIB), (64 * MIB + 4096, 100 * MIB)]);
        assert_eq!(of(&left.slivers), [(64 * MIB, 64 * MIB + 4096)]);
        assert_eq!(of(&left.absent), [(100 * MIB, 110 * MIB)]);
        assert_eq!(left.absent_bytes(), 10 * MIB + 4096);
        assert!(!left.fills_sliver(false) && left.fills_sliver(true) && !left.starts_with_gap());
        assert_eq!(left.take_all().len(), 4);
        assert!(left.is_over(false));
    }

    #[test]
    fn a_run_that_is_cached_but_for_a_few_pages_is_absent_unless_such_runs_are_many() {
        let holed = |range| PageRun { range, resident: true, exact: false };
        let mut few = Left::default();
        few.sort_in(&[exact(0..32 * MIB, true), holed(32 * MIB..33 * MIB)], false);
        assert_eq!(of(&few.absent), [(32 * MIB, 33 * MIB)]);
        let mut many = Left::default();
        many.sort_in(&[exact(0..4 * MIB, true), holed(4 * MIB..8 * MIB)], false);
        assert_eq!(of(&many.cached), [(0, 8 * MIB)]);
        let mut only = Left::default();
        only.sort_in(&[exact(0..4 * MIB, true), holed(4 * MIB..8 * MIB)], true);
        assert_eq!(of(&only.cached), [(0, 4 * MIB)], "what is not cached whole would be read");
    }

    #[test]
    fn what_was_mistaken_for_cached_is_read_as_absent() {
        let mut left = Left::default();
        left.sort_in(&[exact(0..4 * MIB, true)], false);
        assert!(!left.is_over(true));
        left.was_absent(MIB);
        assert_eq!((of(&left.absent), of(&left.cached)), (vec![(0, MIB)], vec![(MIB, 4 * MIB)]));
        assert!(left.starts_with_gap());
    }
}
