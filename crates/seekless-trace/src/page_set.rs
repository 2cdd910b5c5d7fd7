//! Sets of pages of many files.

use crate::FileId;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;

/// A set of pages of many files: a word for 64 pages that lie together, so that its memory follows
/// the parts of files that are used and not their sizes.
#[derive(Clone, Debug, Default)]
pub struct PageSet {
    words: HashMap<(FileId, u64), u64, foldhash::fast::RandomState>,
    files: HashSet<FileId, foldhash::fast::RandomState>,
}

impl PageSet {
    /// Adds pages of a file. Gives the first and the last of those that were not in the set.
    pub fn add(&mut self, file: FileId, pages: Range<u64>) -> Option<(u64, u64)> {
        let mut new: Option<(u64, u64)> = None;
        if !pages.is_empty() {
            self.files.insert(file);
        }
        for (at, wanted) in words(pages) {
            let word = self.words.entry((file, at)).or_default();
            let missing = wanted & !*word;
            if missing != 0 {
                *word |= missing;
                let first = at * 64 + u64::from(missing.trailing_zeros());
                let last = at * 64 + 63 - u64::from(missing.leading_zeros());
                new = Some((new.map_or(first, |(first, _)| first), last));
            }
        }
        new
    }

    /// Whether all of these pages of a file are in the set.
    #[must_use]
    pub fn has_all(&self, file: FileId, pages: Range<u64>) -> bool {
        words(pages)
            .all(|(at, wanted)| self.words.get(&(file, at)).is_some_and(|word| wanted & !word == 0))
    }

    /// Whether any page of a file is in the set.
    #[must_use]
    pub fn has_file(&self, file: FileId) -> bool {
        self.files.contains(&file)
    }
}

/// The words that a range of pages lies in, each with the bits of these pages.
fn words(pages: Range<u64>) -> impl Iterator<Item = (u64, u64)> {
    let words = if pages.is_empty() { 0..0 } else { pages.start / 64..(pages.end - 1) / 64 + 1 };
    words.map(move |at| {
        let (first, end) = (pages.start.max(at * 64), pages.end.min((at + 1) * 64));
        (at, (u64::MAX >> (64 - (end - first))) << (first % 64))
    })
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

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(adds in proptest::collection::vec((0_u64..300, 0_u64..200), 0..20)) {
            let (mut pages, mut model) = (PageSet::default(), BTreeSet::new());
            for (first, count) in adds {
                let new: Vec<u64> = (first..first + count).filter(|page| model.insert(*page)).collect();
                let ends = new.first().copied().zip(new.last().copied());
                prop_assert_eq!(pages.has_all(7, first..first + count), new.is_empty());
                prop_assert_eq!(pages.add(7, first..first + count), ends);
                prop_assert!(pages.has_all(7, first..first + count));
            }
        }
    }
}
