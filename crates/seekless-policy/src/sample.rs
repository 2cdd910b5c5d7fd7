//! Sets of ids with a uniform pick in O(1), and the seeded generator for the draws.

use crate::arrays::column;
use crate::id::Id;
use seekless_device::SplitMix64;

const ABSENT: u32 = u32::MAX;

/// A set of dense ids in one array. 4 bytes an id and 4 a member.
#[derive(Clone, Debug, Default)]
pub struct Members {
    ids: Vec<Id>,
    positions: Vec<u32>,
}

impl Members {
    /// No members, over no ids.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub fn grow(&mut self, ids: u32) {
        column::grow(&mut self.positions, ids, ABSENT);
    }

    /// Whether `id` is a member.
    #[inline]
    #[must_use]
    pub fn contains(&self, id: Id) -> bool {
        self.positions[id as usize] != ABSENT
    }

    /// Where `id` is in [`Members::ids`].
    #[inline]
    #[must_use]
    pub fn position(&self, id: Id) -> Option<usize> {
        let at = self.positions[id as usize];
        (at != ABSENT).then_some(at as usize)
    }

    /// Adds an id that is no member.
    #[inline]
    pub fn insert(&mut self, id: Id) {
        debug_assert!(!self.contains(id), "id {id} is a member already");
        self.positions[id as usize] = self.ids.len() as u32;
        self.ids.push(id);
    }

    /// Removes `id`; the last member takes its place. False if it is no member.
    #[inline]
    pub fn remove(&mut self, id: Id) -> bool {
        let at = std::mem::replace(&mut self.positions[id as usize], ABSENT);
        if at == ABSENT {
            return false;
        }
        self.ids.swap_remove(at as usize);
        if let Some(&moved) = self.ids.get(at as usize) {
            self.positions[moved as usize] = at;
        }
        true
    }

    /// The members, in an order that depends only on the insertions and removals.
    #[inline]
    #[must_use]
    pub fn ids(&self) -> &[Id] {
        &self.ids
    }
}

/// A set of dense ids, each with a row of data. Rows are in one array, so a look at a random one is
/// one step. 4 bytes an id; 4 and a row a member.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    members: Members,
    rows: Vec<T>,
}

impl<T> Rows<T> {
    /// No members, over no ids.
    pub(crate) fn new() -> Self {
        Self { members: Members::new(), rows: Vec::new() }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        self.members.grow(ids);
    }

    /// Whether `id` is a member.
    #[inline]
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.members.contains(id)
    }

    /// The row of `id`, if it is a member.
    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        self.rows.get(self.place(id))
    }

    /// The row of `id`, if it is a member.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let at = self.place(id);
        self.rows.get_mut(at)
    }

    /// Where the row of `id` is in [`Rows::all`], if it is a member. Any id may be asked for.
    #[inline]
    pub(crate) fn position(&self, id: Id) -> Option<usize> {
        let at = *self.members.positions.get(id as usize)?;
        (at != ABSENT).then_some(at as usize)
    }

    /// The members, in the order of [`Rows::all`].
    #[inline]
    pub(crate) fn ids(&self) -> &[Id] {
        self.members.ids()
    }

    /// All rows, in an order that depends only on the insertions and removals.
    #[inline]
    pub(crate) fn all(&self) -> &[T] {
        &self.rows
    }

    /// As [`Rows::all`].
    #[inline]
    pub(crate) fn all_mut(&mut self) -> &mut [T] {
        &mut self.rows
    }

    /// Adds an id that is no member.
    #[inline]
    pub(crate) fn insert(&mut self, id: Id, row: T) {
        self.members.insert(id);
        self.rows.push(row);
    }

    /// Removes `id`; the last member takes its place.
    #[inline]
    pub(crate) fn remove(&mut self, id: Id) {
        let at = self.place(id);
        if self.members.remove(id) {
            self.rows.swap_remove(at);
        }
    }

    /// The index of a member's row; beyond all rows for other ids.
    #[inline]
    fn place(&self, id: Id) -> usize {
        self.members.positions[id as usize] as usize
    }
}

/// A seeded generator of numbers. The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Draws {
    numbers: SplitMix64,
}

impl Draws {
    /// The sequence of numbers for `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { numbers: SplitMix64::new(seed) }
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.numbers.bits()
    }

    /// A number below `limit`, or 0 if that is 0. Its bias is below `limit / 2^64`.
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        self.numbers.below(limit as u64) as usize
    }

    /// One of `ids`; `None` if there are no ids.
    #[inline]
    pub fn pick(&mut self, ids: &[Id]) -> Option<Id> {
        ids.get(self.below(ids.len())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn equals_a_set(steps in prop::collection::vec((any::<bool>(), 0u32..10), 0..200)) {
            let (mut members, mut model) = (Members::new(), BTreeSet::new());
            members.grow(10);
            for (insert, id) in steps {
                prop_assert_eq!(members.contains(id), model.contains(&id));
                match insert {
                    true if model.insert(id) => members.insert(id),
                    true => {}
                    false => prop_assert_eq!(members.remove(id), model.remove(&id)),
                }
                prop_assert_eq!(members.ids().iter().copied().collect::<BTreeSet<_>>(), model.clone());
                prop_assert_eq!(members.ids().len(), model.len());
            }
        }
    }

    #[test]
    fn draws_are_even_and_repeat() {
        let (mut draws, mut counts) = (Draws::new(1), [0; 6]);
        (0..6000).for_each(|_| counts[draws.below(6)] += 1);
        assert!(counts.iter().all(|&count| (900..1100).contains(&count)), "{counts:?}");
        assert_eq!(Draws::new(7).bits(), Draws::new(7).bits());
        assert_eq!(draws.pick(&[]), None);
    }
}
