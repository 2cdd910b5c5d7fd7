//! Doubly linked lists over dense ids, in one array. No node is allocated, and a move is a few
//! writes.
//!
//! An id is in at most one of the `N` lists. So they share the array, and membership costs no
//! memory.

use crate::id::Id;

/// Not in any list.
const UNLINKED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    prev: u32,
    next: u32,
}

/// `N` circular lists over the same ids. The first `N` nodes are the heads of the lists, so no
/// operation has a special case for an empty list or an end. 8 bytes an id.
#[derive(Clone, Debug)]
pub(crate) struct Lists<const N: usize> {
    nodes: Vec<Node>,
}

impl<const N: usize> Default for Lists<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Lists<N> {
    /// `N` empty lists over no ids.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { nodes: (0..N as u32).map(|head| Node { prev: head, next: head }).collect() }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        let wanted = ids as usize + N;
        if wanted > self.nodes.len() {
            self.nodes.resize(wanted, Node { prev: UNLINKED, next: UNLINKED });
        }
    }

    /// Whether `id` is in any list.
    #[inline]
    #[must_use]
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.nodes[id as usize + N].next != UNLINKED
    }

    /// Puts an id that is in no list at the front of `list`.
    #[inline]
    pub(crate) fn push_front(&mut self, list: usize, id: Id) {
        debug_assert!(!self.contains(id), "id {id} is linked already");
        self.link_front(list, id);
    }

    /// Puts an id that is in no list at the back of `list`.
    #[inline]
    pub(crate) fn push_back(&mut self, list: usize, id: Id) {
        debug_assert!(!self.contains(id), "id {id} is linked already");
        self.link_before(list as u32, id);
    }

    /// Puts an id that is in no list in front of `other`, which is in one.
    #[inline]
    pub(crate) fn insert_before(&mut self, other: Id, id: Id) {
        debug_assert!(self.contains(other) && !self.contains(id), "cannot put {id} before {other}");
        self.link_before(other + N as u32, id);
    }

    /// Takes a linked id out of its list.
    #[inline]
    pub(crate) fn unlink(&mut self, id: Id) {
        self.cut(id);
        self.nodes[id as usize + N] = Node { prev: UNLINKED, next: UNLINKED };
    }

    /// Moves a linked id to the front of `list`, whichever list it is in.
    #[inline]
    pub(crate) fn move_to_front(&mut self, list: usize, id: Id) {
        if self.nodes[list].next == id + N as u32 {
            return;
        }
        self.cut(id);
        self.link_front(list, id);
    }

    /// The id at the back of `list`.
    #[inline]
    #[must_use]
    pub(crate) fn back(&self, list: usize) -> Option<Id> {
        let last = self.nodes[list].prev;
        (last as usize >= N).then(|| last - N as u32)
    }

    /// The id at the front of `list`.
    #[inline]
    #[must_use]
    pub(crate) fn front(&self, list: usize) -> Option<Id> {
        self.nodes[list].next.checked_sub(N as u32)
    }

    /// The neighbour of a linked id on the side of the front; `None` at the front.
    #[inline]
    #[must_use]
    pub(crate) fn before(&self, id: Id) -> Option<Id> {
        self.nodes[id as usize + N].prev.checked_sub(N as u32)
    }

    /// The neighbour of a linked id on the side of the back; `None` at the back.
    #[inline]
    #[must_use]
    pub(crate) fn after(&self, id: Id) -> Option<Id> {
        self.nodes[id as usize + N].next.checked_sub(N as u32)
    }

    /// Whether `list` is empty.
    #[inline]
    #[must_use]
    pub(crate) fn is_empty(&self, list: usize) -> bool {
        self.nodes[list].prev as usize == list
    }

    /// The ids of `list` from front to back.
    pub(crate) fn iter(&self, list: usize) -> impl Iterator<Item = Id> + '_ {
        let mut at = self.nodes[list].next;
        std::iter::from_fn(move || {
            let id = (at as usize).checked_sub(N)?;
            at = self.nodes[at as usize].next;
            Some(id as Id)
        })
    }

    #[inline]
    fn link_front(&mut self, list: usize, id: Id) {
        let node = id + N as u32;
        let first = self.nodes[list].next;
        self.nodes[node as usize] = Node { prev: list as u32, next: first };
        self.nodes[first as usize].prev = node;
        self.nodes[list].next = node;
    }

    #[inline]
    fn link_before(&mut self, next: u32, id: Id) {
        let node = id + N as u32;
        let prev = self.nodes[next as usize].prev;
        self.nodes[node as usize] = Node { prev, next };
        self.nodes[prev as usize].next = node;
        self.nodes[next as usize].prev = node;
    }

    #[inline]
    fn cut(&mut self, id: Id) {
        let Node { prev, next } = self.nodes[id as usize + N];
        self.nodes[prev as usize].next = next;
        self.nodes[next as usize].prev = prev;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn equals_two_deques(steps in prop::collection::vec((0u8..3, 0usize..2, 0u32..8), 0..200)) {
            let mut lists = Lists::<2>::new();
            lists.grow(8);
            let mut model = [VecDeque::new(), VecDeque::new()];
            for (what, list, id) in steps {
                let linked = model.iter().any(|l| l.contains(&id));
                prop_assert_eq!(lists.contains(id), linked);
                if linked {
                    model.iter_mut().for_each(|l| l.retain(|&other| other != id));
                }
                match (what, linked) {
                    (0, true) => lists.unlink(id),
                    (_, true) => { lists.move_to_front(list, id); model[list].push_front(id); }
                    (0, false) => { lists.push_front(list, id); model[list].push_front(id); }
                    (1, false) => { lists.push_back(list, id); model[list].push_back(id); }
                    (_, false) => match model[list].back().copied() {
                        Some(last) => {
                            lists.insert_before(last, id);
                            model[list].insert(model[list].len() - 1, id);
                        }
                        None => { lists.push_back(list, id); model[list].push_back(id); }
                    },
                }
                for (list, wanted) in model.iter().enumerate() {
                    prop_assert_eq!(lists.iter(list).collect::<VecDeque<_>>(), wanted.clone());
                    prop_assert_eq!(lists.back(list), wanted.back().copied());
                    prop_assert_eq!(lists.front(list), wanted.front().copied());
                    for (at, &id) in wanted.iter().enumerate() {
                        prop_assert_eq!(lists.after(id), wanted.get(at + 1).copied());
                        prop_assert_eq!(lists.before(id), at.checked_sub(1).map(|at| wanted[at]));
                    }
                    prop_assert_eq!(lists.is_empty(list), wanted.is_empty());
                }
            }
        }
    }
}
