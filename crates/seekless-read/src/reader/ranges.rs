//! Ranges of a file, by offset.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint ranges. Neighbours that are pushed in order become one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    by_start: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Ranges {
    /// Adds a range that overlaps no other. If one ends where it starts, that one grows.
    pub(super) fn push(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        self.bytes += range.end - range.start;
        match self.by_start.range_mut(..range.start).next_back() {
            Some((_, end)) if *end == range.start => *end = range.end,
            _ => {
                self.by_start.insert(range.start, range.end);
            }
        }
    }

    /// The range with the lowest offset.
    pub(super) fn first(&self) -> Option<Range<u64>> {
        self.by_start.first_key_value().map(|(&start, &end)| start..end)
    }

    /// Removes up to `bytes` from the start of the first range.
    pub(super) fn take(&mut self, bytes: u64) -> Option<Range<u64>> {
        let (start, end) = self.by_start.pop_first()?;
        let cut = start.saturating_add(bytes.max(1)).min(end);
        if cut < end {
            self.by_start.insert(cut, end);
        }
        self.bytes -= cut - start;
        Some(start..cut)
    }

    /// Removes all ranges of at most `bytes`.
    pub(super) fn split_off_small(&mut self, bytes: u64) -> Ranges {
        let all = std::mem::take(self);
        let mut small = Ranges::default();
        for range in all.iter() {
            let target = if range.end - range.start <= bytes { &mut small } else { &mut *self };
            target.push(range);
        }
        small
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Range<u64>> + '_ {
        self.by_start.iter().map(|(&start, &end)| start..end)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.by_start.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_and_are_taken_from_the_front() {
        let mut ranges = Ranges::default();
        for range in [0..5, 5..9, 20..30, 12..12] {
            ranges.push(range);
        }
        assert_eq!((ranges.len(), ranges.bytes(), ranges.first()), (2, 19, Some(0..9)));
        let small = ranges.clone().split_off_small(9);
        assert_eq!((small.first(), small.len()), (Some(0..9), 1));
        assert_eq!(ranges.take(4), Some(0..4));
        assert_eq!(ranges.take(100), Some(4..9));
        assert_eq!(ranges.take(100), Some(20..30));
        assert_eq!((ranges.take(1), ranges.bytes(), ranges.is_empty()), (None, 0, true));
    }
}
