//! Ranges of pages of one file, in bounded memory: where there are too many, the gaps between them
//! are counted in. For what may be on the device or not, that is on the safe side.

use seekless_policy::readahead::PageNo;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many ranges are kept apart.
const RANGES_MAX: usize = 4096;

/// Ranges that do not touch: each start with its end.
#[derive(Debug, Default)]
pub(super) struct PageRanges(BTreeMap<PageNo, PageNo>);

impl PageRanges {
    pub(super) fn add(&mut self, pages: Range<PageNo>) {
        let Range { mut start, mut end } = pages;
        if start >= end {
            return;
        }
        while let Some((&first, &last)) = self.0.range(..=end).next_back()
            && last >= start
        {
            self.0.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.0.insert(start, end);
        if self.0.len() > RANGES_MAX
            && let (Some((&start, _)), Some((_, &end))) =
                (self.0.first_key_value(), self.0.last_key_value())
        {
            self.0 = BTreeMap::from([(start, end)]);
        }
    }

    pub(super) fn remove(&mut self, pages: &Range<PageNo>) {
        if pages.is_empty() {
            return;
        }
        while let Some((&first, &last)) = self.0.range(..pages.end).next_back()
            && last > pages.start
        {
            self.0.remove(&first);
            if last > pages.end {
                self.0.insert(pages.end, last);
            }
            if first < pages.start {
                self.0.insert(first, pages.start);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Range<PageNo>> + '_ {
        self.0.iter().map(|(&start, &end)| start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set_of_pages(
            acts in prop::collection::vec((any::<bool>(), 0_u64..60, 0_u64..20), 0..60),
        ) {
            let (mut ranges, mut model) = (PageRanges::default(), BTreeSet::new());
            for (adds, start, count) in acts {
                let pages = start..start + count;
                if adds {
                    ranges.add(pages.clone());
                    model.extend(pages);
                } else {
                    ranges.remove(&pages);
                    model.retain(|page| !pages.contains(page));
                }
                let found: Vec<u64> = ranges.iter().flatten().collect();
                prop_assert_eq!(found, model.iter().copied().collect::<Vec<u64>>());
                let parts: Vec<Range<u64>> = ranges.iter().collect();
                prop_assert!(parts.windows(2).all(|two| two[0].end < two[1].start));
            }
        }
    }

    #[test]
    fn too_many_become_one() {
        let mut ranges = PageRanges::default();
        (0..=RANGES_MAX as u64).for_each(|number| ranges.add(2 * number..2 * number + 1));
        assert!(ranges.iter().eq(std::iter::once(0..2 * RANGES_MAX as u64 + 1)));
        ranges.remove(&(10..20));
        assert_eq!(ranges.iter().count(), 2);
    }
}
