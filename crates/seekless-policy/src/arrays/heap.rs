//! A min-heap that knows the place of each id, so that an id can be removed or raised in O(log n).
//! A node has four children: the heap is half as deep as with two, and siblings lie side by side.
//!
//! The owner may also raise keys *lazily*. It keeps the true keys, and settles the root when it
//! needs the least ([`IndexedHeap::settle_root`]). Then a hit that raises a key costs O(1), as in
//! LFU.

use crate::arrays::column;
use crate::id::Id;

const ABSENT: u32 = u32::MAX;
/// Children of a node.
const CHILDREN: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry<K> {
    key: K,
    id: Id,
}

/// A min-heap over dense ids with keys of type `K`. 4 bytes an id, and key and id for each member.
#[derive(Clone, Debug)]
pub(crate) struct IndexedHeap<K> {
    entries: Vec<Entry<K>>,
    positions: Vec<u32>,
}

impl<K: Ord + Copy> Default for IndexedHeap<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy> IndexedHeap<K> {
    /// An empty heap over no ids.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), positions: Vec::new() }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.positions, ids, ABSENT);
    }

    /// Whether `id` is a member.
    #[inline]
    #[must_use]
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.positions[id as usize] != ABSENT
    }

    /// The member with the least key.
    #[inline]
    #[must_use]
    pub(crate) fn root(&self) -> Option<(K, Id)> {
        self.entries.first().map(|entry| (entry.key, entry.id))
    }

    /// Adds an id that is no member. The array grows by half, not twofold, to save memory.
    pub(crate) fn push(&mut self, id: Id, key: K) {
        debug_assert!(!self.contains(id), "id {id} is in the heap already");
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(self.entries.len() / 2 + CHILDREN);
        }
        self.entries.push(Entry { key, id });
        self.sift_up(self.entries.len() - 1);
    }

    /// Removes `id`; false if it is no member.
    pub(crate) fn remove(&mut self, id: Id) -> bool {
        let at = self.positions[id as usize];
        if at == ABSENT {
            return false;
        }
        let at = at as usize;
        self.positions[id as usize] = ABSENT;
        self.entries.swap_remove(at);
        if at < self.entries.len() {
            self.sift_down(at);
            self.sift_up(at);
        }
        true
    }

    /// Gives member `id` another key.
    pub(crate) fn change(&mut self, id: Id, key: K) {
        let at = self.positions[id as usize] as usize;
        let rises = self.entries[at].key <= key;
        self.entries[at].key = key;
        if rises { self.sift_down(at) } else { self.sift_up(at) }
    }

    /// Raises the key of member `id`, and sifts it down to its place.
    pub(crate) fn raise(&mut self, id: Id, key: K) {
        let at = self.positions[id as usize] as usize;
        debug_assert!(self.entries[at].key <= key, "a key may only be raised");
        self.entries[at].key = key;
        self.sift_down(at);
    }

    /// Finds the root whose stored key is its true key. `truth` returns the true key of an id,
    /// which is never below the stored one. Stale roots are raised and sifted down: O(log n) once
    /// for any number of lazy raises.
    pub(crate) fn settle_root(&mut self, truth: impl Fn(Id) -> K) -> Option<(K, Id)> {
        loop {
            let (key, id) = self.root()?;
            let true_key = truth(id);
            if true_key == key {
                return Some((key, id));
            }
            self.raise(id, true_key);
        }
    }

    fn sift_up(&mut self, mut at: usize) {
        let moving = self.entries[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.entries[parent].key <= moving.key {
                break;
            }
            self.place(at, self.entries[parent]);
            at = parent;
        }
        self.place(at, moving);
    }

    fn sift_down(&mut self, mut at: usize) {
        let moving = self.entries[at];
        while let Some(child) = self.lesser_child(at) {
            if moving.key <= self.entries[child].key {
                break;
            }
            self.place(at, self.entries[child]);
            at = child;
        }
        self.place(at, moving);
    }

    #[inline]
    fn lesser_child(&self, at: usize) -> Option<usize> {
        let first = CHILDREN * at + 1;
        let end = (first + CHILDREN).min(self.entries.len());
        (first..end).reduce(|least, child| {
            if self.entries[child].key < self.entries[least].key { child } else { least }
        })
    }

    #[inline]
    fn place(&mut self, at: usize, entry: Entry<K>) {
        self.entries[at] = entry;
        self.positions[entry.id as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn equals_a_sorted_map(steps in prop::collection::vec((0u8..3, 0u32..12, 0u64..50), 0..300)) {
            let mut heap = IndexedHeap::new();
            heap.grow(12);
            let mut model = BTreeMap::new();
            for (what, id, key) in steps {
                let key = (key, id);
                match (what, heap.contains(id)) {
                    (0, _) => prop_assert_eq!(heap.remove(id), model.remove(&id).is_some()),
                    (_, false) => { heap.push(id, key); model.insert(id, key); }
                    (2, true) => {
                        heap.change(id, key);
                        model.insert(id, key);
                    }
                    (_, true) => {
                        let raised = key.max(model[&id]);
                        heap.raise(id, raised);
                        model.insert(id, raised);
                    }
                }
                prop_assert_eq!(heap.root(), model.iter().map(|(&id, &key)| (key, id)).min());
                prop_assert_eq!(heap.entries.len(), model.len());
            }
        }

        #[test]
        fn lazy_raises_settle_to_the_true_order(raises in prop::collection::vec((0usize..10, 0u64..9), 0..60)) {
            let mut truth: Vec<(u64, u32)> = (0..10).map(|id| (u64::from(id), id)).collect();
            let mut heap = IndexedHeap::new();
            heap.grow(10);
            truth.iter().for_each(|&key| heap.push(key.1, key));
            raises.iter().for_each(|&(id, by)| truth[id].0 += by);
            let mut popped = Vec::new();
            while let Some((key, id)) = heap.settle_root(|id| truth[id as usize]) {
                popped.push(key);
                heap.remove(id);
            }
            truth.sort_unstable();
            prop_assert_eq!(popped, truth);
        }
    }
}
