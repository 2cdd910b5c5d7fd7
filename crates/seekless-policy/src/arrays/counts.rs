//! Ids by how often they were used: for policies that evict what was used least often.

use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::list::Lists;
use crate::id::Id;

/// The list of newcomers.
const NEW: usize = 0;

/// How often an id was used, and the number of its last use, in two halves so that a rank takes 12
/// bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    uses: u32,
    last_use: [u32; 2],
}

/// Members by count. Of equal counts the one whose last use is oldest comes first, or newest if
/// `NEWEST_FIRST`. A use costs O(1) and one cache line. To find the least costs O(1) while there
/// are members used once: those are in a list, by arrival. A member that was used again moves from
/// there to a heap, which reads later uses when the member reaches its root: O(log n) amortised. 24
/// bytes an id, and at most 24 a member. An id keeps its count when it is taken out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts<const NEWEST_FIRST: bool> {
    /// Uses so far, of all ids.
    turn: u64,
    ranks: Vec<Rank>,
    /// Members that had been used once when they were last looked at, newest first.
    new: Lists<1>,
    /// Members used more often, by a rank that they had earlier.
    often: IndexedHeap<Rank>,
}

impl<const NEWEST_FIRST: bool> Counts<NEWEST_FIRST> {
    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.ranks, ids, Rank::default());
        self.new.grow(ids);
        self.often.grow(ids);
    }

    /// How often an id was used; 0 if it never was, or if its count was cleared.
    #[inline]
    pub(crate) fn count(&self, id: Id) -> u32 {
        self.ranks[id as usize].uses
    }

    #[inline]
    fn set(&mut self, id: Id, uses: u32) {
        self.turn += 1;
        let turn = if NEWEST_FIRST { !self.turn } else { self.turn };
        self.ranks[id as usize] = Rank { uses, last_use: [(turn >> 32) as u32, turn as u32] };
    }

    /// Counts a use of a member. Counts stop at 2^32 - 1.
    #[inline]
    pub(crate) fn note_use(&mut self, id: Id) {
        let uses = self.count(id);
        // At the highest count a later use may not lower the rank.
        if uses != u32::MAX || !NEWEST_FIRST {
            self.set(id, uses.saturating_add(1));
        }
    }

    /// Adds an id that is no member, as used `uses` times, the last time now.
    #[inline]
    pub(crate) fn enter(&mut self, id: Id, uses: u32) {
        self.set(id, uses);
        if uses == 1 {
            self.new.push_front(NEW, id);
        } else {
            self.often.push(id, self.ranks[id as usize]);
        }
    }

    /// The member with the least count.
    #[inline]
    pub(crate) fn least(&mut self) -> Option<Id> {
        loop {
            let newcomer = if NEWEST_FIRST { self.new.front(NEW) } else { self.new.back(NEW) };
            let Some(newcomer) = newcomer else { break };
            let rank = self.ranks[newcomer as usize];
            if rank.uses == 1 {
                return Some(newcomer);
            }
            self.new.unlink(newcomer);
            self.often.push(newcomer, rank);
        }
        let ranks = &self.ranks;
        self.often.settle_root(|id| ranks[id as usize]).map(|(_, id)| id)
    }

    /// Takes out a member, which keeps its count.
    #[inline]
    pub(crate) fn take_out(&mut self, id: Id) {
        if self.new.contains(id) {
            self.new.unlink(id);
        } else {
            self.often.remove(id);
        }
    }

    /// Forgets the count of an id that is no member.
    #[inline]
    pub(crate) fn clear(&mut self, id: Id) {
        self.ranks[id as usize] = Rank::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Uses and turn of each member.
    fn check<const NEWEST_FIRST: bool>(steps: &[(u8, Id, u32)]) {
        let mut counts = Counts::<NEWEST_FIRST>::default();
        counts.grow(8);
        let mut model: BTreeMap<Id, (u32, i64)> = BTreeMap::new();
        for (turn, &(what, id, uses)) in steps.iter().enumerate() {
            let turn = if NEWEST_FIRST { -(turn as i64) } else { turn as i64 };
            match (what, model.contains_key(&id)) {
                (0, true) => {
                    counts.take_out(id);
                    assert_eq!(Some(counts.count(id)), model.remove(&id).map(|member| member.0));
                }
                (_, true) => {
                    counts.note_use(id);
                    model.entry(id).and_modify(|member| *member = (member.0 + 1, turn));
                }
                (_, false) => {
                    counts.enter(id, uses);
                    model.insert(id, (uses, turn));
                }
            }
            let least = model.iter().min_by_key(|(_, rank)| **rank).map(|(&id, _)| id);
            // Not each time, so that uses are read late.
            if turn % 3 == 0 {
                assert_eq!(counts.least(), least);
            }
        }
    }

    proptest! {
        #[test]
        fn the_least_is_that_of_a_sorted_map(
            steps in prop::collection::vec((0u8..4, 0u32..8, 1u32..4), 0..300),
        ) {
            check::<false>(&steps);
            check::<true>(&steps);
        }
    }
}
