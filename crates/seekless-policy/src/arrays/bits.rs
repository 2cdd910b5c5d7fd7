//! A set of small numbers in a tree of bits. It finds the least and the greatest in O(log n), base
//! 64.

/// A set of numbers below a limit. It takes a bit a number, and 1/63 more for the upper levels.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitTree {
    /// Level 0 has a bit for each number. Each level above has a bit for each word below that is
    /// not 0.
    levels: Vec<Vec<u64>>,
}

impl BitTree {
    /// An empty set with a limit of 0.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Raises the limit; never lowers it.
    pub(crate) fn grow(&mut self, limit: usize) {
        let mut words = limit.div_ceil(64);
        let mut level = 0;
        while words > 0 {
            if level == self.levels.len() {
                self.add_level();
            }
            if words > self.levels[level].len() {
                self.levels[level].resize(words, 0);
            }
            words = if words == 1 { 0 } else { words.div_ceil(64) };
            level += 1;
        }
    }

    /// Adds a number below the limit.
    #[inline]
    pub(crate) fn insert(&mut self, mut number: usize) {
        for level in &mut self.levels {
            let word = &mut level[number / 64];
            let was_empty = *word == 0;
            *word |= 1 << (number % 64);
            if !was_empty {
                return;
            }
            number /= 64;
        }
    }

    /// Removes a number below the limit.
    #[inline]
    pub(crate) fn remove(&mut self, mut number: usize) {
        for level in &mut self.levels {
            let word = &mut level[number / 64];
            *word &= !(1 << (number % 64));
            if *word != 0 {
                return;
            }
            number /= 64;
        }
    }

    /// The least member.
    #[inline]
    #[must_use]
    pub(crate) fn first(&self) -> Option<usize> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = *level.get(at)?;
            if word == 0 {
                return None;
            }
            at = at * 64 + word.trailing_zeros() as usize;
        }
        (!self.levels.is_empty()).then_some(at)
    }

    /// The greatest member.
    #[inline]
    #[must_use]
    pub(crate) fn last(&self) -> Option<usize> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = *level.get(at)?;
            at = at * 64 + word.checked_ilog2()? as usize;
        }
        (!self.levels.is_empty()).then_some(at)
    }

    /// Adds a level on top, which summarises the words of the level below.
    fn add_level(&mut self) {
        let below = self.levels.last().map_or(&[][..], Vec::as_slice);
        let mut level = vec![0; below.len().div_ceil(64)];
        for (at, _) in below.iter().enumerate().filter(|(_, word)| **word != 0) {
            level[at / 64] |= 1 << (at % 64);
        }
        self.levels.push(level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_a_sorted_set(
            steps in prop::collection::vec((any::<bool>(), 0usize..9000), 0..200),
            growth in 1usize..60,
        ) {
            let (mut bits, mut model, mut limit) = (BitTree::new(), BTreeSet::new(), 1);
            prop_assert_eq!(bits.first(), None);
            for (add, number) in steps {
                limit += growth;
                bits.grow(limit);
                let number = number % limit;
                if add { bits.insert(number); model.insert(number); }
                else { bits.remove(number); model.remove(&number); }
                prop_assert_eq!(bits.first(), model.first().copied());
                prop_assert_eq!(bits.last(), model.last().copied());
            }
        }
    }
}
