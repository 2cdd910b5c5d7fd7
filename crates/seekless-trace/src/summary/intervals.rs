//! Which bytes of a file have been read: disjoint ranges, joined where they touch. Most files have
//! one range, which is kept without an allocation.

use std::collections::BTreeMap;

/// A set of byte ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals {
    /// Empty, or the only range.
    one: (u64, u64),
    /// All ranges, start → end, if there is more than one. They are disjoint and do not touch.
    many: Option<BTreeMap<u64, u64>>,
    bytes: u64,
}

impl Intervals {
    /// Distinct bytes in the set.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many ranges there are.
    pub(super) fn count(&self) -> u64 {
        match &self.many {
            Some(many) => many.len() as u64,
            None => u64::from(self.bytes > 0),
        }
    }

    /// Adds the bytes from `start` up to `end`.
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (from, to) = self.one;
        match &mut self.many {
            Some(many) => self.bytes += add(many, start, end),
            None if self.bytes == 0 => (self.one, self.bytes) = ((start, end), end - start),
            None if start <= to && end >= from => {
                self.one = (from.min(start), to.max(end));
                self.bytes = self.one.1 - self.one.0;
            }
            None => {
                self.many = Some(BTreeMap::from([self.one, (start, end)]));
                self.bytes += end - start;
            }
        }
    }

    /// Adds all ranges of `other`.
    pub(super) fn add_all(&mut self, other: Intervals) {
        match other.many {
            _ if self.bytes == 0 => *self = other,
            Some(many) => many.into_iter().for_each(|(start, end)| self.add(start, end)),
            None => self.add(other.one.0, other.one.1),
        }
    }
}

/// Adds a range. Returns how many bytes are new.
fn add(ranges: &mut BTreeMap<u64, u64>, start: u64, end: u64) -> u64 {
    let (mut from, mut to) = (start, end);
    if let Some((&before, before_end)) = ranges.range_mut(..=start).next_back()
        && *before_end >= start
    {
        if *before_end >= end {
            return 0;
        }
        from = before;
    }
    // The union replaces the range before, if it touches, and all ranges that start within the new
    // one.
    let mut joined = 0;
    while let Some((&next, &next_end)) = ranges.range(from..=to).next() {
        ranges.remove(&next);
        joined += next_end - next;
        to = to.max(next_end);
    }
    ranges.insert(from, to);
    to - from - joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges(added: &[(u64, u64)]) -> Intervals {
        let mut intervals = Intervals::default();
        added.iter().for_each(|&(start, bytes)| intervals.add(start, start + bytes));
        intervals
    }

    fn any_ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((0..60_u64, 0..20_u64), 0..40)
    }

    proptest! {
        #[test]
        fn counts_as_a_bitmap_would(added in any_ranges(), others in any_ranges()) {
            let mut naive = [false; 81];
            let mut check = |intervals: &Intervals, added: &[(u64, u64)]| {
                added.iter().for_each(|&(start, bytes)| naive[start as usize..(start + bytes) as usize].fill(true));
                let bytes = naive.iter().filter(|&&read| read).count();
                let starts = naive.windows(2).filter(|pair| !pair[0] && pair[1]).count() + usize::from(naive[0]);
                prop_assert_eq!((intervals.bytes(), intervals.count()), (bytes as u64, starts as u64));
                Ok(())
            };
            let mut intervals = ranges(&added);
            check(&intervals, &added)?;
            intervals.add_all(ranges(&others));
            check(&intervals, &others)?;
        }
    }
}
