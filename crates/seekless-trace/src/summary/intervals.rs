//! Which bytes of a file have been read: disjoint ranges, joined where they touch.

use std::collections::BTreeMap;

/// A set of byte ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals {
    /// Start → end, disjoint and not touching.
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Intervals {
    /// Distinct bytes in the set.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds the bytes from `start` up to `end`.
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut from, mut to) = (start, end);
        if let Some((&before, before_end)) = self.ranges.range_mut(..=start).next_back()
            && *before_end >= start
        {
            if *before_end >= end {
                return;
            }
            from = before;
        }
        // The range before, if joined, and all that start within the new one give way to their union.
        while let Some((&next, &next_end)) = self.ranges.range(from..=to).next() {
            self.ranges.remove(&next);
            self.bytes -= next_end - next;
            to = to.max(next_end);
        }
        self.ranges.insert(from, to);
        self.bytes += to - from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_as_a_bitmap_would(added in proptest::collection::vec((0..60_u64, 0..20_u64), 0..40)) {
            let mut intervals = Intervals::default();
            let mut naive = [false; 80];
            for (start, bytes) in added {
                intervals.add(start, start + bytes);
                naive[start as usize..(start + bytes) as usize].fill(true);
                prop_assert_eq!(intervals.bytes(), naive.iter().filter(|&&read| read).count() as u64);
            }
            let mut ends: Vec<_> = intervals.ranges.into_iter().collect();
            ends.dedup_by(|next, last| next.0 > last.1);
            prop_assert!(ends.len() <= 1, "ranges are disjoint and do not touch");
        }
    }
}
