//! Lists that know the place of each id and the weight of each list: for policies with several
//! queues.

use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;
use crate::id::Id;

/// In no list.
const NOWHERE: u8 = u8::MAX;

/// `N` lists over the same ids. The first `RESIDENT` lists hold resident ids, the others ghosts. An
/// id is in at most one. A ghost weighs at least 1, so that a bound on the weight of ghosts bounds
/// their number too. 9 bytes an id, 17 once a weight other than 1 was seen.
#[derive(Clone, Debug)]
pub(crate) struct Segments<const N: usize, const RESIDENT: usize> {
    lists: Lists<N>,
    /// Which list each id is in.
    places: Vec<u8>,
    /// Weight of each list.
    sizes: [u64; N],
    weights: Weights,
}

impl<const N: usize, const RESIDENT: usize> Default for Segments<N, RESIDENT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize, const RESIDENT: usize> Segments<N, RESIDENT> {
    /// Empty lists over no ids.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { lists: Lists::new(), places: Vec::new(), sizes: [0; N], weights: Weights::new() }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        self.lists.grow(ids);
        column::grow(&mut self.places, ids, NOWHERE);
        self.weights.grow(ids);
    }

    /// The list that `id` is in.
    #[inline]
    #[must_use]
    pub(crate) fn list_of(&self, id: Id) -> Option<usize> {
        let place = self.places[id as usize];
        (place != NOWHERE).then_some(place as usize)
    }

    /// The weight with which `id` was last pushed.
    #[inline]
    #[must_use]
    pub(crate) fn weight(&self, id: Id) -> u64 {
        self.weights.get(id)
    }

    /// The weight of a resident id; `None` of any other.
    #[inline]
    #[must_use]
    pub(crate) fn resident_weight_of(&self, id: Id) -> Option<u64> {
        self.list_of(id).filter(|&list| list < RESIDENT).map(|_| self.weight(id))
    }

    /// Gives a resident id another weight, in its place. Does nothing to any other.
    pub(crate) fn reweigh(&mut self, id: Id, weight: u64) {
        let Some(list) = self.list_of(id).filter(|&list| list < RESIDENT) else { return };
        self.sizes[list] = self.sizes[list] - self.weights.get(id) + weight;
        self.weights.set(id, weight);
    }

    /// Puts an id that is in no list at the front of `list`, and notes its weight.
    #[inline]
    pub(crate) fn push(&mut self, list: usize, id: Id, weight: u64) {
        self.weights.set(id, weight);
        self.lists.push_front(list, id);
        self.places[id as usize] = list as u8;
        self.sizes[list] += weight_in::<RESIDENT>(list, weight);
    }

    /// Moves an id from the list that it is in to the front of `list`.
    #[inline]
    pub(crate) fn move_to(&mut self, list: usize, id: Id) {
        let from = std::mem::replace(&mut self.places[id as usize], list as u8) as usize;
        self.lists.move_to_front(list, id);
        let weight = self.weights.get(id);
        self.sizes[from] -= weight_in::<RESIDENT>(from, weight);
        self.sizes[list] += weight_in::<RESIDENT>(list, weight);
    }

    /// Takes `id` out of its list and returns that list; `None` if it is in no list.
    #[inline]
    pub(crate) fn remove(&mut self, id: Id) -> Option<usize> {
        let list = self.list_of(id)?;
        self.lists.unlink(id);
        self.places[id as usize] = NOWHERE;
        self.sizes[list] -= weight_in::<RESIDENT>(list, self.weights.get(id));
        Some(list)
    }

    /// Takes the id at the back out of `list`.
    #[inline]
    pub(crate) fn pop(&mut self, list: usize) -> Option<Id> {
        let last = self.lists.back(list)?;
        self.remove(last);
        Some(last)
    }

    /// The id at the back of `list`.
    #[inline]
    #[must_use]
    pub(crate) fn back(&self, list: usize) -> Option<Id> {
        self.lists.back(list)
    }

    /// Whether `list` is empty.
    #[inline]
    #[must_use]
    pub(crate) fn is_empty(&self, list: usize) -> bool {
        self.lists.is_empty(list)
    }

    /// Weight of `list`.
    #[inline]
    #[must_use]
    pub(crate) fn size(&self, list: usize) -> u64 {
        self.sizes[list]
    }

    /// Weight of all resident ids.
    #[inline]
    #[must_use]
    pub(crate) fn resident(&self) -> u64 {
        self.sizes[..RESIDENT].iter().sum()
    }

    /// Weight of all resident ids and of all ghosts.
    #[inline]
    #[must_use]
    pub(crate) fn total(&self) -> u64 {
        self.sizes.iter().sum()
    }
}

/// By how much an id of `weight` increases the size of `list`.
#[inline]
fn weight_in<const RESIDENT: usize>(list: usize, weight: u64) -> u64 {
    if list < RESIDENT { weight } else { weight.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn equal_deques_of_weighed_ids(steps in prop::collection::vec((0u8..2, 0usize..3, 0u32..8, 0u64..4), 0..200)) {
            let mut segments = Segments::<3, 2>::new();
            segments.grow(8);
            let mut model: [VecDeque<(Id, u64)>; 3] = Default::default();
            for (what, list, id, weight) in steps {
                let from = model.iter().position(|l| l.iter().any(|&(other, _)| other == id));
                prop_assert_eq!(segments.list_of(id), from);
                let known = from.map(|from| {
                    let at = model[from].iter().position(|&(other, _)| other == id).unwrap();
                    model[from].remove(at).unwrap()
                });
                match (what, known) {
                    (0, Some(known)) => { segments.move_to(list, id); model[list].push_front(known); }
                    (_, Some(_)) => prop_assert_eq!(segments.remove(id), from),
                    (0, None) => { segments.push(list, id, weight); model[list].push_front((id, weight)); }
                    (_, None) => prop_assert_eq!(segments.remove(id), None),
                }
                let sum = |l: usize| model[l].iter().map(|&(_, w)| if l < 2 { w } else { w.max(1) }).sum::<u64>();
                for (list, wanted) in model.iter().enumerate() {
                    prop_assert_eq!(segments.size(list), sum(list));
                    prop_assert_eq!(segments.back(list), wanted.back().map(|&(id, _)| id));
                    prop_assert_eq!(segments.is_empty(list), wanted.is_empty());
                }
                prop_assert_eq!(segments.resident(), sum(0) + sum(1));
                prop_assert_eq!(segments.total(), sum(0) + sum(1) + sum(2));
            }
        }
    }
}
