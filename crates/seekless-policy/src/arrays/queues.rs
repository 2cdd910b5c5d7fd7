//! Any number of LRU queues over dense ids: for policies that keep a queue for each class of pages.
//!
//! Unlike [`Lists`](super::list::Lists) the number of queues may grow, and an id knows its queue.

use crate::arrays::column;
use crate::id::Id;

/// No id, or no queue.
const NONE: u32 = u32::MAX;

/// An older id, a newer id and a queue, each plus 1 around the end of the numbers: so of an id that
/// is in no queue all are 0, and a column of these takes memory only where it is used.
type Kept = [u32; 3];

#[derive(Clone, Copy, Debug)]
struct Link {
    older: u32,
    newer: u32,
    queue: u32,
}

impl Link {
    #[inline]
    fn kept(self) -> Kept {
        [self.older, self.newer, self.queue].map(|number| number.wrapping_add(1))
    }

    #[inline]
    fn of(kept: Kept) -> Self {
        let [older, newer, queue] = kept.map(|number| number.wrapping_sub(1));
        Self { older, newer, queue }
    }
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    oldest: u32,
    newest: u32,
}

const EMPTY: Ends = Ends { oldest: NONE, newest: NONE };
const UNLINKED: Kept = [0; 3];
/// Places in [`Kept`].
const OLDER: usize = 0;
const NEWER: usize = 1;

/// Queues of ids, each from oldest to newest; an id is in at most one. 12 bytes an id that was
/// ever in one, and 8 a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    links: Vec<Kept>,
    ends: Vec<Ends>,
}

impl Queues {
    /// No queues, over no ids.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.links, ids, UNLINKED);
    }

    /// Makes room for queues below `queues`; never shrinks.
    pub(crate) fn grow_queues(&mut self, queues: u32) {
        if queues as usize > self.ends.len() {
            self.ends.resize(queues as usize, EMPTY);
        }
    }

    /// The queue that `id` is in.
    #[inline]
    #[must_use]
    pub(crate) fn queue_of(&self, id: Id) -> Option<u32> {
        let Link { queue, .. } = Link::of(self.links[id as usize]);
        (queue != NONE).then_some(queue)
    }

    /// The oldest id of a queue.
    #[inline]
    #[must_use]
    pub(crate) fn oldest(&self, queue: u32) -> Option<Id> {
        let oldest = self.ends[queue as usize].oldest;
        (oldest != NONE).then_some(oldest)
    }

    /// Whether a queue is empty.
    #[inline]
    #[must_use]
    pub(crate) fn is_empty(&self, queue: u32) -> bool {
        self.ends[queue as usize].oldest == NONE
    }

    /// The ids of a queue, oldest first.
    pub(crate) fn iter(&self, queue: u32) -> impl Iterator<Item = Id> + '_ {
        let mut at = self.ends[queue as usize].oldest;
        std::iter::from_fn(move || {
            let id = at;
            at = Link::of(*self.links.get(id as usize)?).newer;
            Some(id)
        })
    }

    /// The next older and the next newer id in the queue of `id`, which is in one.
    #[must_use]
    pub(crate) fn neighbours(&self, id: Id) -> (Option<Id>, Option<Id>) {
        let Link { older, newer, .. } = Link::of(self.links[id as usize]);
        let is_id = |&id: &Id| id != NONE;
        (Some(older).filter(is_id), Some(newer).filter(is_id))
    }

    /// Adds an id that is in no queue as the newest of `queue`.
    #[inline]
    pub(crate) fn push(&mut self, queue: u32, id: Id) {
        debug_assert!(self.queue_of(id).is_none(), "id {id} is in a queue already");
        let ends = &mut self.ends[queue as usize];
        let older = std::mem::replace(&mut ends.newest, id);
        self.links[id as usize] = Link { older, newer: NONE, queue }.kept();
        match older {
            NONE => ends.oldest = id,
            _ => self.links[older as usize][NEWER] = id.wrapping_add(1),
        }
    }

    /// Takes an id out of its queue.
    #[inline]
    pub(crate) fn unlink(&mut self, id: Id) {
        let Link { older, newer, queue } =
            Link::of(std::mem::replace(&mut self.links[id as usize], UNLINKED));
        match older {
            NONE => self.ends[queue as usize].oldest = newer,
            _ => self.links[older as usize][NEWER] = newer.wrapping_add(1),
        }
        match newer {
            NONE => self.ends[queue as usize].newest = older,
            _ => self.links[newer as usize][OLDER] = older.wrapping_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_vectors(steps in prop::collection::vec((0u8..3, 0u32..3, 0u32..8), 0..200)) {
            let mut queues = Queues::new();
            queues.grow(8);
            queues.grow_queues(3);
            let mut model = vec![Vec::new(); 3];
            for (what, queue, id) in steps {
                let place = model.iter().position(|ids| ids.contains(&id));
                prop_assert_eq!(queues.queue_of(id), place.map(|queue| queue as u32));
                model.iter_mut().for_each(|ids| ids.retain(|&other| other != id));
                match (what, place) {
                    (0, Some(_)) => queues.unlink(id),
                    (_, Some(_)) => { queues.unlink(id); queues.push(queue, id); model[queue as usize].push(id); }
                    (_, None) => { queues.push(queue, id); model[queue as usize].push(id); }
                }
                for (queue, wanted) in (0..).zip(&model) {
                    prop_assert_eq!(&queues.iter(queue).collect::<Vec<_>>(), wanted);
                    for (at, &id) in wanted.iter().enumerate() {
                        let older = at.checked_sub(1).map(|at| wanted[at]);
                        prop_assert_eq!(queues.neighbours(id), (older, wanted.get(at + 1).copied()));
                    }
                    prop_assert_eq!(queues.oldest(queue), wanted.first().copied());
                    prop_assert_eq!(queues.is_empty(queue), wanted.is_empty());
                }
            }
        }
    }
}
