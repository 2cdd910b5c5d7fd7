//! Sets of pages of many files, as ranges: a range costs the same whatever its length, so that a
//! row which claims a huge one costs nothing.

use crate::FileId;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// A set of pages of many files. Its memory follows the number of ranges that do not meet. To add
/// a range takes O(1) where it continues the one that was added last to its file, and amortised
/// O(log n) elsewhere.
#[derive(Clone, Debug, Default)]
pub struct PageSet {
    files: HashMap<FileId, Ranges, foldhash::fast::RandomState>,
}

impl PageSet {
    /// Adds pages of a file. Gives the first and the last of those that were not in the set.
    pub fn add(&mut self, file: FileId, pages: Range<u64>) -> Option<(u64, u64)> {
        if pages.is_empty() {
            return None;
        }
        match self.files.entry(file) {
            hashbrown::hash_map::Entry::Occupied(ranges) => ranges.into_mut().add(pages),
            hashbrown::hash_map::Entry::Vacant(place) => {
                let ends = (pages.start, pages.end - 1);
                place.insert(Ranges::of(pages));
                Some(ends)
            }
        }
    }

    /// Whether all of these pages of a file are in the set.
    #[must_use]
    pub fn has_all(&self, file: FileId, pages: Range<u64>) -> bool {
        pages.is_empty() || self.files.get(&file).is_some_and(|ranges| ranges.has_all(&pages))
    }

    /// Whether any page of a file is in the set.
    #[must_use]
    pub fn has_file(&self, file: FileId) -> bool {
        self.files.contains_key(&file)
    }
}

/// The ranges of one file. No two of them meet.
#[derive(Clone, Debug)]
struct Ranges {
    /// The range that was added to last; most files have no other. It is not in `others`.
    last: Range<u64>,
    /// Where the next range behind `last` starts; [`u64::MAX`] if there is none.
    room_end: u64,
    /// The other ranges: ends by starts.
    others: BTreeMap<u64, u64>,
}

impl Ranges {
    fn of(last: Range<u64>) -> Self {
        Self { last, room_end: u64::MAX, others: BTreeMap::new() }
    }

    /// As [`PageSet::add`], of at least one page.
    fn add(&mut self, pages: Range<u64>) -> Option<(u64, u64)> {
        if contains(&self.last, &pages) {
            return None;
        }
        let continues = self.last.start <= pages.start && pages.start <= self.last.end;
        if !continues || pages.end >= self.room_end {
            return self.add_elsewhere(pages);
        }
        let first = std::mem::replace(&mut self.last.end, pages.end);
        Some((first, pages.end - 1))
    }

    fn add_elsewhere(&mut self, pages: Range<u64>) -> Option<(u64, u64)> {
        self.others.insert(self.last.start, self.last.end);
        let (mut joined, mut new) = (pages.clone(), (pages.start, pages.end - 1));
        let before = self.others.range(..=pages.start).next_back();
        if let Some((&start, &end)) = before.filter(|(_, end)| **end >= pages.start) {
            joined = start..end.max(pages.end);
            new.0 = end;
            self.others.remove(&start);
        }
        while let Some((&start, &end)) = self.others.range(pages.start..=joined.end).next() {
            if end >= pages.end {
                new.1 = start - 1;
                joined.end = end;
            }
            self.others.remove(&start);
        }
        self.room_end =
            self.others.range(joined.end..).next().map_or(u64::MAX, |(start, _)| *start);
        self.last = joined;
        (new.0 <= new.1).then_some(new)
    }

    fn has_all(&self, pages: &Range<u64>) -> bool {
        let before = || self.others.range(..=pages.start).next_back();
        contains(&self.last, pages) || before().is_some_and(|(_, end)| *end >= pages.end)
    }
}

fn contains(range: &Range<u64>, pages: &Range<u64>) -> bool {
    range.start <= pages.start && pages.end <= range.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn only_what_is_new_counts() {
        let mut pages = PageSet::default();
        assert_eq!(pages.add(0, 60..70), Some((60, 69)));
        assert_eq!(pages.add(0, 60..70), None);
        assert_eq!(pages.add(0, 55..75), Some((55, 74)), "from the first new page to the last");
        assert_eq!(pages.add(1, 60..61), Some((60, 60)), "another file");
        assert_eq!(pages.add(2, 5..5), None);
        assert!(pages.has_file(0) && !pages.has_file(2));
    }

    /// A row of a trace may claim any range: this once made an entry for each 64 pages of it.
    #[test]
    fn a_huge_range_costs_one_entry() {
        let mut pages = PageSet::default();
        assert_eq!(pages.add(0, 10..11), Some((10, 10)));
        assert_eq!(pages.add(0, 0..u64::MAX), Some((0, u64::MAX - 1)));
        assert!(pages.has_all(0, 0..u64::MAX));
        assert_eq!(pages.add(0, 1 << 40..1 << 50), None);
        assert_eq!(pages.files[&0].others.len(), 0);
        assert_eq!(pages.add(1, u64::MAX - 1..u64::MAX), Some((u64::MAX - 1, u64::MAX - 1)));
        assert_eq!(pages.add(1, 0..1), Some((0, 0)));
        assert_eq!(pages.add(1, 0..u64::MAX), Some((1, u64::MAX - 2)));
    }

    #[test]
    fn ranges_that_meet_are_one() {
        let mut pages = PageSet::default();
        let added = [8..10, 4..6, 0..2, 12..14, 6..8, 2..4, 10..12];
        for range in added {
            let ends = Some((range.start, range.end - 1));
            assert_eq!(pages.add(0, range), ends);
        }
        assert_eq!((&pages.files[&0].last, pages.files[&0].others.len()), (&(0..14), 0));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(
            adds in proptest::collection::vec((0_u32..2, 0_u64..300, 0_u64..40), 0..60),
            asked in proptest::collection::vec((0_u32..2, 0_u64..320, 0_u64..20), 20),
        ) {
            let (mut pages, mut model) = (PageSet::default(), BTreeSet::new());
            for (file, first, count) in adds {
                let range = first..first + count;
                let new: Vec<u64> = range.clone().filter(|page| model.insert((file, *page))).collect();
                let ends = new.first().copied().zip(new.last().copied());
                prop_assert_eq!(pages.has_all(file, range.clone()), new.is_empty());
                prop_assert_eq!(pages.add(file, range.clone()), ends);
                prop_assert!(pages.has_all(file, range));
                for &(file, first, count) in &asked {
                    let all = (first..first + count).all(|page| model.contains(&(file, page)));
                    prop_assert_eq!(pages.has_all(file, first..first + count), all);
                }
                for file in 0..2 {
                    let has = model.iter().any(|(of, _)| *of == file);
                    prop_assert_eq!(pages.has_file(file), has);
                }
            }
        }
    }
}
