//! A monotone priority queue: what is taken out never gets less, so ids lie in buckets by the highest bit in which their key
//! differs from what was taken last, and no keys are compared on the way in.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem", 1990) that keeps no
//! keys: the owner knows them, and may raise them at any time without telling. The queue hears of it when it meets the id.

use crate::eviction::Id;

/// A number and its tie-breaker.
pub type Key = (u128, u64);

/// Bits of a key, and one level for a key equal to the reference.
const LEVELS: usize = 128 + 64 + 1;
/// Buckets of at most so many ids are searched, larger ones are spread over the levels below.
const SEARCH_MAX: usize = 4;
/// A bucket that held more gives its memory back when it is spread.
const KEEP_MAX: usize = 1024;

/// Ids by keys that the owner knows. 4 to 8 bytes an id in it.
#[derive(Clone, Debug)]
pub struct RadixQueue {
    buckets: Vec<Vec<Id>>,
    /// Which buckets are not empty.
    occupied: [u64; LEVELS.div_ceil(64)],
    /// No key is less.
    reference: Key,
    len: usize,
}

impl Default for RadixQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl RadixQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buckets: vec![Vec::new(); LEVELS],
            occupied: [0; LEVELS.div_ceil(64)],
            reference: (0, 0),
            len: 0,
        }
    }

    /// Entries, with those of ids that are gone.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an id whose key is not less than any that was taken out.
    #[inline]
    pub fn push(&mut self, id: Id, key: Key) {
        debug_assert!(key >= self.reference, "{key:?} is less than {:?}", self.reference);
        let level = self.level(key);
        self.buckets[level].push(id);
        self.occupied[level / 64] |= 1 << (level % 64);
        self.len += 1;
    }

    /// Takes out the id with the least key, by `truth`, which gives no key for an id that is gone. Each entry moves down at
    /// most once a bit: O(bits) amortised, in practice a few moves.
    pub fn pop(&mut self, truth: impl Fn(Id) -> Option<Key>) -> Option<(Key, Id)> {
        while let Some(level) = self.lowest() {
            if self.buckets[level].len() > SEARCH_MAX {
                self.spread(level, &truth);
            } else if let Some(found) = self.search(level, &truth) {
                return Some(found);
            }
        }
        None
    }

    /// Drops the entries of ids that are gone, and all but one of each other id.
    pub fn tidy(&mut self, truth: impl Fn(Id) -> Option<Key>) {
        let mut ids: Vec<Id> = self.buckets.iter_mut().flat_map(std::mem::take).collect();
        ids.sort_unstable();
        ids.dedup();
        self.occupied = Default::default();
        self.len = 0;
        ids.into_iter().filter_map(|id| Some((id, truth(id)?))).for_each(|(id, key)| self.push(id, key));
    }

    /// One more than the highest bit in which `key` differs from the reference.
    #[inline]
    fn level(&self, key: Key) -> usize {
        let high = key.0 ^ self.reference.0;
        if high != 0 {
            return 64 + (128 - high.leading_zeros()) as usize;
        }
        (64 - (key.1 ^ self.reference.1).leading_zeros()) as usize
    }

    fn lowest(&self) -> Option<usize> {
        let word = self.occupied.iter().position(|&word| word != 0)?;
        Some(64 * word + self.occupied[word].trailing_zeros() as usize)
    }

    /// Takes the least out of a small bucket. Entries that are gone are dropped, and those whose key has risen since are
    /// moved; none if no other was there.
    fn search(&mut self, level: usize, truth: impl Fn(Id) -> Option<Key>) -> Option<(Key, Id)> {
        let mut least: Option<(Key, usize)> = None;
        let mut at = 0;
        while let Some(&id) = self.buckets[level].get(at) {
            match truth(id) {
                Some(key) if self.level(key) == level => {
                    if least.is_none_or(|(other, _)| key < other) {
                        least = Some((key, at));
                    }
                    at += 1;
                }
                moved => {
                    self.take(level, at);
                    moved.into_iter().for_each(|key| self.push(id, key));
                }
            }
        }
        least.map(|(key, at)| (key, self.take(level, at)))
    }

    fn take(&mut self, level: usize, at: usize) -> Id {
        let bucket = &mut self.buckets[level];
        let id = bucket.swap_remove(at);
        if bucket.is_empty() {
            self.occupied[level / 64] &= !(1 << (level % 64));
        }
        self.len -= 1;
        id
    }

    /// Makes the least key of the lowest bucket the reference and puts the bucket's entries where they belong then.
    fn spread(&mut self, level: usize, truth: impl Fn(Id) -> Option<Key>) {
        let mut entries = std::mem::take(&mut self.buckets[level]);
        self.occupied[level / 64] &= !(1 << (level % 64));
        self.len -= entries.len();
        let least = entries.iter().filter_map(|&id| truth(id)).min();
        // If all have risen to higher levels, something there may be less.
        if let Some(least) = least.filter(|&least| self.level(least) == level) {
            self.reference = least;
        }
        for id in entries.drain(..) {
            if let Some(key) = truth(id) {
                self.push(id, key);
            }
        }
        if entries.capacity() <= KEEP_MAX && self.buckets[level].is_empty() {
            self.buckets[level] = entries;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn equals_a_sorted_map(
            steps in prop::collection::vec((0u8..6, 0u32..200, 0u64..500, 0u32..100), 0..600),
        ) {
            let mut queue = RadixQueue::new();
            let mut model: BTreeMap<Id, Key> = BTreeMap::new();
            let mut last = (0u128, 0u64);
            for (turn, (what, id, by, shift)) in steps.into_iter().enumerate() {
                let truth = |model: &BTreeMap<Id, Key>, id: Id| model.get(&id).copied();
                match what {
                    0 => {
                        let popped = queue.pop(|id| truth(&model, id));
                        let wanted = model.iter().map(|(&id, &key)| (key, id)).min();
                        prop_assert_eq!(popped, wanted);
                        if let Some((key, id)) = popped {
                            model.remove(&id);
                            last = key;
                        }
                    }
                    1 => {
                        model.remove(&id);
                    }
                    2 => queue.tidy(|id| truth(&model, id)),
                    _ => {
                        let key = (last.0 + (u128::from(by) << shift), turn as u64 + 1);
                        match model.get_mut(&id) {
                            Some(old) => *old = key.max(*old),
                            None => {
                                model.insert(id, key);
                                queue.push(id, key);
                            }
                        }
                    }
                }
                prop_assert!(queue.len() >= model.len());
            }
        }
    }
}
