//! Which bytes of a file were read through one open description, so that we know when it has been
//! read whole.

use std::collections::BTreeMap;

/// A file with more separate ranges than this counts as read at random, not as loaded.
const RANGES_MAX: usize = 1 << 16;

/// A set of byte ranges, merged where they touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// Start → end; disjoint and not touching.
    ranges: BTreeMap<u64, u64>,
    /// The limit was exceeded; no ranges are kept any more.
    scattered: bool,
}

impl Coverage {
    /// Adds `bytes` at `offset`.
    pub(crate) fn add(&mut self, offset: u64, bytes: u64) {
        if bytes == 0 || self.scattered {
            return;
        }
        let (mut start, mut end) = (offset, offset.saturating_add(bytes));
        if let Some((&before, &before_end)) = self.ranges.range(..=start).next_back()
            && before_end >= start
        {
            if before_end >= end {
                return;
            }
            start = before;
        }
        while let Some((&next, &next_end)) = self.ranges.range(start..=end).next() {
            end = end.max(next_end);
            self.ranges.remove(&next);
        }
        self.ranges.insert(start, end);
        if self.ranges.len() > RANGES_MAX {
            self.scattered = true;
            self.ranges.clear();
        }
    }

    /// Whether every byte below `bytes` is in the set.
    pub(crate) fn covers(&self, bytes: u64) -> bool {
        bytes == 0 || self.ranges.get(&0).is_some_and(|end| *end >= bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_byte_each(reads in proptest::collection::vec((0_u64..40, 0_u64..20), 0..20)) {
            let mut coverage = Coverage::default();
            let mut bytes = [false; 64];
            for (offset, count) in reads {
                coverage.add(offset, count);
                bytes[offset as usize..(offset + count) as usize].fill(true);
                for end in 0..64 {
                    prop_assert_eq!(coverage.covers(end as u64), bytes[..end].iter().all(|read| *read));
                }
                let runs = (0..64).filter(|at| bytes[*at] && (*at == 0 || !bytes[at - 1])).count();
                prop_assert_eq!(coverage.ranges.len(), runs);
            }
        }
    }

    #[test]
    fn gives_up_on_endless_holes() {
        let mut coverage = Coverage::default();
        (0..=RANGES_MAX as u64).for_each(|at| coverage.add(at * 2, 1));
        coverage.add(0, 1 << 40);
        assert!(!coverage.covers(1));
    }
}
