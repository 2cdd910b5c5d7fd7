//! Finds streams by a key, in a bounded number of steps.

use crate::id::Id;
use seekless_device::SplitMix64;

/// Streams that one bucket holds.
pub(super) const WAYS: usize = 4;

const EMPTY: Id = Id::MAX;

/// A hash table that forgets: a bucket has room for four streams, and a fifth takes the place of
/// the one that came first. What it finds is only a hint, which the caller checks. So no stream has
/// to be looked for when its key changes, and no sequence of keys makes a look-up long.
///
/// A part of the key stands beside the stream: a stream is as large as five lines of the
/// processor's cache, and those of other keys in the bucket are not looked at.
#[derive(Debug)]
pub(super) struct Index {
    buckets: Vec<[Entry; WAYS]>,
}

/// A stream under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The upper half of the key; the lower one chooses the bucket.
    tag: u32,
    id: Id,
}

impl Entry {
    const EMPTY: Self = Self { tag: 0, id: EMPTY };

    fn new(key: u64, id: Id) -> Self {
        Self { tag: (key >> 32) as u32, id }
    }
}

impl Index {
    /// An index for about `keys` keys at once: 16 bytes a key.
    pub(super) fn new(keys: usize) -> Self {
        Self { buckets: vec![[Entry::EMPTY; WAYS]; (keys / 2).next_power_of_two()] }
    }

    /// The streams that may have this key, newest first.
    pub(super) fn find(&self, key: u64) -> impl Iterator<Item = Id> + use<> {
        let tag = Entry::new(key, EMPTY).tag;
        let entries = self.buckets[self.at(key)].into_iter();
        let used = entries.take_while(|entry| entry.id != EMPTY);
        used.filter(move |entry| entry.tag == tag).map(|entry| entry.id)
    }

    pub(super) fn insert(&mut self, key: u64, id: Id) {
        let at = self.at(key);
        let bucket = &mut self.buckets[at];
        let entry = Entry::new(key, id);
        let used = bucket.iter().position(|&other| other == entry || other.id == EMPTY);
        let used = used.unwrap_or(WAYS - 1);
        bucket.copy_within(..used, 1);
        bucket[0] = entry;
    }

    pub(super) fn remove(&mut self, key: u64, id: Id) {
        let at = self.at(key);
        let bucket = &mut self.buckets[at];
        let entry = Entry::new(key, id);
        if let Some(found) = bucket.iter().position(|&other| other == entry) {
            bucket.copy_within(found + 1.., found);
            bucket[WAYS - 1] = Entry::EMPTY;
        }
    }

    fn at(&self, key: u64) -> usize {
        key as usize & (self.buckets.len() - 1)
    }
}

/// Mixes what a key is made of.
pub(super) fn key(file: u64, kind: u64, number: u64) -> u64 {
    let made = number
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(file.wrapping_mul(0xd6e8_feb8_6659_fd93))
        .wrapping_add(kind.wrapping_mul(0xa076_1d64_78bd_642f));
    SplitMix64::mix(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(index: &Index, key: u64) -> Vec<Id> {
        index.find(key).collect()
    }

    #[test]
    fn a_full_bucket_forgets_the_stream_that_came_first() {
        let mut index = Index::new(8);
        for id in 0..6 {
            index.insert(12, id);
        }
        assert_eq!(ids(&index, 12), [5, 4, 3, 2]);
        index.insert(12, 3);
        assert_eq!(ids(&index, 12), [3, 5, 4, 2], "an id is in a bucket once");
        index.remove(12, 5);
        index.remove(12, 9);
        assert_eq!(ids(&index, 12), [3, 4, 2]);
        assert_eq!(ids(&index, 13), []);
    }

    #[test]
    fn a_stream_of_another_key_in_the_same_bucket_is_not_found() {
        let mut index = Index::new(8);
        let (key, other) = (12, 12 + (1 << 40));
        index.insert(key, 1);
        index.insert(other, 2);
        index.insert(other, 1);
        assert_eq!((ids(&index, key), ids(&index, other)), (vec![1], vec![1, 2]));
        index.remove(other, 1);
        assert_eq!((ids(&index, key), ids(&index, other)), (vec![1], vec![2]));
    }
}
