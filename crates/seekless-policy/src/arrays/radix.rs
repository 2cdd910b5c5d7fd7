//! A monotone priority queue: the least key never falls. So ids lie in buckets by the highest digit
//! in which their number differs from the reference, and entering compares no keys.
//!
//! This is a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest
//! path problem", 1990) with digits of four bits. It stores no keys. The owner knows them and may
//! raise them at any time; the queue reads a key when it meets the id.

use crate::id::Id;
use std::collections::VecDeque;

/// A number and its tie-breaker.
pub(crate) type Key = (u128, u64);

const DIGIT_BITS: u32 = 4;
const DIGITS: usize = 1 << DIGIT_BITS;
/// A bucket for each value of each digit of the number.
const BUCKETS: usize = 128 / DIGIT_BITS as usize * DIGITS;
/// Buckets of at most this many ids are searched; larger ones are spread over the lower digits.
const SEARCH_MAX: usize = 8;
/// A bucket whose capacity is larger gives its memory back when it is spread.
const KEEP_MAX: usize = 1024;

/// An id whose number equals the reference. The tie-breaker is stored in two halves, so an entry
/// takes 12 bytes.
#[derive(Clone, Copy, Debug)]
struct Equal {
    tie: [u32; 2],
    id: Id,
}

impl Equal {
    #[inline]
    fn new(tie: u64, id: Id) -> Self {
        Self { tie: [(tie >> 32) as u32, tie as u32], id }
    }

    #[inline]
    fn tie(&self) -> u64 {
        u64::from(self.tie[0]) << 32 | u64::from(self.tie[1])
    }
}

/// Ids by keys that the owner knows. 4 to 8 bytes an entry, and 12 while its number is the least.
#[derive(Clone, Debug)]
pub(crate) struct RadixQueue {
    buckets: Vec<Vec<Id>>,
    /// Which buckets are not empty.
    occupied: [u64; BUCKETS.div_ceil(64)],
    /// A lower bound of all numbers in the queue.
    reference: u128,
    /// Entries whose number was the reference when they were put here, sorted by tie-breaker. They
    /// leave first.
    equal: VecDeque<Equal>,
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
    pub(crate) fn new() -> Self {
        Self {
            buckets: vec![Vec::new(); BUCKETS],
            occupied: [0; BUCKETS.div_ceil(64)],
            reference: 0,
            equal: VecDeque::new(),
            len: 0,
        }
    }

    /// The number of entries, including stale ones of ids that left.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds an id whose key is not below the key of the last id taken.
    #[inline]
    pub(crate) fn push(&mut self, id: Id, key: Key) {
        debug_assert!(key.0 >= self.reference, "{key:?} is less than {:?}", self.reference);
        self.len += 1;
        match self.bucket(key.0) {
            Some(bucket) => self.put(bucket, id),
            None => self.insert_equal(key.1, id),
        }
    }

    /// Takes the id with the least key. `truth` returns the present key of an id, or `None` for an
    /// id that left. Each entry moves down at most once a digit: O(digits) amortised, in practice a
    /// few moves.
    pub(crate) fn pop(&mut self, truth: impl Fn(Id) -> Option<Key>) -> Option<(Key, Id)> {
        loop {
            if let Some(first) = self.equal.pop_front() {
                self.len -= 1;
                match truth(first.id) {
                    Some(key) if key == (self.reference, first.tie()) => {
                        return Some((key, first.id));
                    }
                    moved => moved.into_iter().for_each(|key| self.push(first.id, key)),
                }
                continue;
            }
            let bucket = self.lowest()?;
            if self.buckets[bucket].len() > SEARCH_MAX {
                self.spread(bucket, &truth);
            } else if let Some(found) = self.search(bucket, &truth) {
                return Some(found);
            }
        }
    }

    /// Drops the entries of ids that left, and all entries but one of each other id.
    pub(crate) fn tidy(&mut self, truth: impl Fn(Id) -> Option<Key>) {
        let mut ids: Vec<Id> = self.buckets.iter_mut().flat_map(std::mem::take).collect();
        ids.extend(std::mem::take(&mut self.equal).iter().map(|equal| equal.id));
        ids.sort_unstable();
        ids.dedup();
        self.occupied = Default::default();
        self.len = 0;
        ids.into_iter()
            .filter_map(|id| Some((id, truth(id)?)))
            .for_each(|(id, key)| self.push(id, key));
    }

    /// The bucket of the highest digit in which `number` differs from the reference, and of its
    /// value there. `None` if they are equal.
    #[inline]
    fn bucket(&self, number: u128) -> Option<usize> {
        let differs = number ^ self.reference;
        if differs == 0 {
            return None;
        }
        let digit = (127 - differs.leading_zeros()) / DIGIT_BITS;
        let value = (number >> (digit * DIGIT_BITS)) as usize % DIGITS;
        Some(digit as usize * DIGITS + value)
    }

    #[inline]
    fn put(&mut self, bucket: usize, id: Id) {
        self.buckets[bucket].push(id);
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
    }

    /// Keeps the order of tie-breakers. An entry mostly belongs at the back.
    #[inline]
    fn insert_equal(&mut self, tie: u64, id: Id) {
        if self.equal.back().is_none_or(|last| last.tie() <= tie) {
            return self.equal.push_back(Equal::new(tie, id));
        }
        let at = self.equal.partition_point(|other| other.tie() <= tie);
        self.equal.insert(at, Equal::new(tie, id));
    }

    #[inline]
    fn lowest(&self) -> Option<usize> {
        let word = self.occupied.iter().position(|&word| word != 0)?;
        Some(64 * word + self.occupied[word].trailing_zeros() as usize)
    }

    /// Takes the least out of a small bucket. Drops entries of ids that left, and moves those whose
    /// key has risen out of the bucket. `None` if no other entry was there.
    fn search(&mut self, bucket: usize, truth: impl Fn(Id) -> Option<Key>) -> Option<(Key, Id)> {
        let mut least: Option<(Key, usize)> = None;
        let mut at = 0;
        while let Some(&id) = self.buckets[bucket].get(at) {
            match truth(id) {
                Some(key) if self.bucket(key.0) == Some(bucket) => {
                    if least.is_none_or(|(other, _)| key < other) {
                        least = Some((key, at));
                    }
                    at += 1;
                }
                moved => {
                    self.take(bucket, at);
                    moved.into_iter().for_each(|key| self.push(id, key));
                }
            }
        }
        least.map(|(key, at)| (key, self.take(bucket, at)))
    }

    fn take(&mut self, bucket: usize, at: usize) -> Id {
        let entries = &mut self.buckets[bucket];
        let id = entries.swap_remove(at);
        if entries.is_empty() {
            self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        }
        self.len -= 1;
        id
    }

    /// Makes the least number of the lowest bucket the reference, and moves the entries of the
    /// bucket to where they then belong.
    fn spread(&mut self, bucket: usize, truth: impl Fn(Id) -> Option<Key>) {
        let mut entries = std::mem::take(&mut self.buckets[bucket]);
        self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        self.len -= entries.len();
        let least = entries.iter().filter_map(|&id| Some(truth(id)?.0)).min();
        // If all keys have risen to higher buckets, a lower number may be there already.
        if let Some(least) = least.filter(|&least| self.bucket(least) == Some(bucket)) {
            self.reference = least;
        }
        let equal = entries
            .iter()
            .filter(|&&id| truth(id).is_some_and(|key| key.0 == self.reference))
            .count();
        self.equal.reserve_exact(equal);
        for id in entries.drain(..) {
            let Some(key) = truth(id) else { continue };
            self.len += 1;
            match self.bucket(key.0) {
                Some(bucket) => self.put(bucket, id),
                None => self.equal.push_back(Equal::new(key.1, id)),
            }
        }
        self.equal.make_contiguous().sort_unstable_by_key(Equal::tie);
        if entries.capacity() <= KEEP_MAX && self.buckets[bucket].is_empty() {
            self.buckets[bucket] = entries;
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
