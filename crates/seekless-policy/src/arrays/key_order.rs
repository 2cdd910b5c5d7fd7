//! Ids sorted by key. Neighbours are found by links, a place by search, and arrays are split as
//! they fill.
//!
//! In a flat sorted array an insert costs O(n); in a tree each level costs a cache miss. This is a
//! sorted array of *runs*, each a short sorted array. A search is two binary searches, and an
//! insert moves at most half a run.

use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::id::Id;

const ALL: usize = 0;
/// A run is split when it holds this many.
const RUN_MAX: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    key: u64,
    id: Id,
}

/// A set of ids sorted by key, and by id where keys are equal. 16 bytes an id, and 16 to 32 a
/// member.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyOrder {
    links: Lists<1>,
    keys: Vec<u64>,
    /// Sorted runs, each before the next. No run is empty.
    runs: Vec<Vec<Entry>>,
    /// The first entry of each run, in one array for the search.
    firsts: Vec<Entry>,
}

impl KeyOrder {
    /// No members, over no ids.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        self.links.grow(ids);
        column::grow(&mut self.keys, ids, 0);
    }

    /// Whether `id` is a member.
    #[inline]
    #[must_use]
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.links.contains(id)
    }

    /// Notes the key with which an id that is no member will be inserted.
    pub(crate) fn note(&mut self, id: Id, key: u64) {
        debug_assert!(!self.contains(id), "{id} is a member by its key");
        self.keys[id as usize] = key;
    }

    /// The key that `id` was last inserted with, or that was noted since.
    #[inline]
    #[must_use]
    pub(crate) fn key(&self, id: Id) -> u64 {
        self.keys[id as usize]
    }

    /// The member with the least key.
    #[inline]
    #[must_use]
    pub(crate) fn first(&self) -> Option<Id> {
        self.links.front(ALL)
    }

    /// The member with the greatest key.
    #[inline]
    #[must_use]
    pub(crate) fn last(&self) -> Option<Id> {
        self.links.back(ALL)
    }

    /// The member after this one.
    #[inline]
    #[must_use]
    pub(crate) fn after(&self, id: Id) -> Option<Id> {
        self.links.after(id)
    }

    /// The member before this one.
    #[inline]
    #[must_use]
    pub(crate) fn before(&self, id: Id) -> Option<Id> {
        self.links.before(id)
    }

    /// Adds an id that is no member.
    pub(crate) fn insert(&mut self, id: Id, key: u64) {
        let entry = Entry { key, id };
        self.keys[id as usize] = key;
        let (run, at) = self.position(entry);
        match self.successor(run, at) {
            Some(next) => self.links.insert_before(next, id),
            None => self.links.push_back(ALL, id),
        }
        match self.runs.get_mut(run) {
            Some(entries) => entries.insert(at, entry),
            None => {
                self.runs.push(vec![entry]);
                self.firsts.push(entry);
            }
        }
        if at == 0 {
            self.firsts[run] = entry;
        }
        if self.runs[run].len() == RUN_MAX {
            let upper = self.runs[run].split_off(RUN_MAX / 2);
            // Keys mostly ascend, so the lower half seldom grows again.
            self.runs[run].shrink_to_fit();
            self.firsts.insert(run + 1, upper[0]);
            self.runs.insert(run + 1, upper);
        }
    }

    /// Removes `id`; false if it is no member.
    pub(crate) fn remove(&mut self, id: Id) -> bool {
        if !self.contains(id) {
            return false;
        }
        self.links.unlink(id);
        let (run, at) = self.position(Entry { key: self.key(id), id });
        self.runs[run].remove(at);
        self.mend(run);
        true
    }

    /// Removes the members whose keys are at least `from` and at most `to`, in ascending order.
    /// Calls `removed` for each.
    pub(crate) fn remove_range(&mut self, from: u64, to: u64, mut removed: impl FnMut(Id)) {
        let (run, mut at) = self.position(Entry { key: from, id: 0 });
        let mut run = run;
        while let Some(entries) = self.runs.get_mut(run) {
            let end = at + entries[at..].partition_point(|entry| entry.key <= to);
            let is_last = end < entries.len();
            for entry in entries.drain(at..end) {
                self.links.unlink(entry.id);
                removed(entry.id);
            }
            run += usize::from(!self.mend(run));
            at = 0;
            if is_last {
                return;
            }
        }
    }

    /// Called after a removal from a run. If the run is empty it is removed, the next takes its
    /// place, and the result is true.
    fn mend(&mut self, run: usize) -> bool {
        match self.runs[run].first() {
            Some(&first) => {
                self.firsts[run] = first;
                false
            }
            None => {
                self.runs.remove(run);
                self.firsts.remove(run);
                true
            }
        }
    }

    /// The run, and the place in it, where `entry` is or belongs. The last run also takes entries
    /// beyond it.
    fn position(&self, entry: Entry) -> (usize, usize) {
        let after = self.firsts.partition_point(|first| *first <= entry);
        let run = after.saturating_sub(1);
        let at =
            self.runs.get(run).map_or(0, |entries| entries.partition_point(|other| *other < entry));
        (run, at)
    }

    fn successor(&self, run: usize, at: usize) -> Option<Id> {
        let here = self.runs.get(run)?.get(at);
        here.or_else(|| self.runs.get(run + 1)?.first()).map(|entry| entry.id)
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
            steps in prop::collection::vec((0u8..4, 0u32..3000, 0u64..500), 0..3000),
        ) {
            let (mut order, mut model) = (KeyOrder::new(), BTreeSet::new());
            order.grow(3000);
            for (what, id, key) in steps {
                match (what, order.contains(id)) {
                    (0, true) => { order.remove(id); model.remove(&(order.key(id), id)); }
                    (1, true) if id % 8 == 0 => {
                        let to = key + u64::from(id % 64);
                        let mut removed = Vec::new();
                        order.remove_range(key, to, |id| removed.push(id));
                        let wanted: Vec<_> = model.range((key, 0)..(to + 1, 0)).copied().collect();
                        prop_assert!(removed.iter().eq(wanted.iter().map(|(_, id)| id)));
                        wanted.iter().for_each(|entry| { model.remove(entry); });
                    }
                    (_, true) => {}
                    (_, false) => { order.insert(id, key); model.insert((key, id)); }
                }
            }
            let mut at = order.first();
            for (key, id) in &model {
                prop_assert_eq!(at, Some(*id));
                prop_assert_eq!(order.key(*id), *key);
                at = order.after(*id);
            }
            prop_assert_eq!(at, None);
            prop_assert_eq!(order.last(), model.last().map(|entry| entry.1));
        }
    }
}
