//! What is in the cache, and which candidate keeps or knows what.

use super::super::{Id, Pool};
use super::COUNT;
use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;

/// A list for each set of candidates that may keep an id.
const SETS: usize = 1 << COUNT;

/// What is known of an id.
#[derive(Clone, Copy, Debug, Default)]
struct About {
    /// A bit for each candidate that keeps it.
    kept: u8,
    /// A bit for each candidate that knows it: keeps it, or has a ghost of it.
    known: u8,
}

/// The ids that are here lie in lists, one for each set of candidates that keep them, the newest in
/// front. So what a leader does not keep is found without a search, for each of them.
#[derive(Debug, Default)]
pub(super) struct Books {
    about: Vec<About>,
    /// Of each id the weight when it was admitted last.
    weights: Weights,
    /// What is here.
    sets: Lists<SETS>,
    here: u32,
    weight_here: u64,
    /// For each candidate, how many ids it keeps that are not here.
    lacking: [u32; COUNT],
}

impl Books {
    pub(super) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.about, ids, About::default());
        self.weights.grow(ids);
        self.sets.grow(ids);
    }

    #[inline]
    pub(super) fn is_here(&self, id: Id) -> bool {
        self.sets.contains(id)
    }

    /// How many ids are here.
    pub(super) fn here(&self) -> u32 {
        self.here
    }

    pub(super) fn weight_here(&self) -> u64 {
        self.weight_here
    }

    pub(super) fn weight(&self, id: Id) -> u64 {
        self.weights.get(id)
    }

    #[cfg(test)]
    pub(super) fn keeps(&self, candidate: usize, id: Id) -> bool {
        self.about[id as usize].kept >> candidate & 1 != 0
    }

    /// How many ids a candidate keeps that are not here.
    pub(super) fn lacking(&self, candidate: usize) -> u32 {
        self.lacking[candidate]
    }

    /// Whether a candidate knows the id with another weight than this.
    #[inline]
    pub(super) fn is_known_otherwise(&self, id: Id, weight: u64) -> bool {
        self.about[id as usize].known != 0 && self.weights.get(id) != weight
    }

    /// The next to leave: of what the leader does not keep, that which fewest others keep, and of
    /// it what lies there longest. If the leader keeps all, that of what it keeps.
    pub(super) fn victim(&self, leader: usize) -> Option<Id> {
        let order = |set: &usize| ((set >> leader) & 1, set.count_ones());
        let filled = (0..SETS).filter(|&set| !self.sets.is_empty(set));
        self.sets.back(filled.min_by_key(order)?)
    }

    /// An id that was not here comes in.
    pub(super) fn come(&mut self, id: Id, weight: u64) {
        let kept = self.about[id as usize].kept;
        self.weights.set(id, weight);
        self.sets.push_front(usize::from(kept), id);
        self.here += 1;
        self.weight_here += weight;
        each(kept, |candidate| self.lacking[candidate] -= 1);
    }

    /// Evicts an id that is here.
    pub(super) fn leave<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.take_out(id);
        pool.evict(id);
        self.forget_unknown(id, pool);
    }

    fn take_out(&mut self, id: Id) {
        self.sets.unlink(id);
        self.here -= 1;
        self.weight_here -= self.weights.get(id);
        each(self.about[id as usize].kept, |candidate| self.lacking[candidate] += 1);
    }

    /// An id that is here has another weight.
    pub(super) fn reweigh(&mut self, id: Id, weight: u64) {
        self.weight_here = self.weight_here - self.weights.get(id) + weight;
        self.weights.set(id, weight);
    }

    /// A candidate keeps an id from now on.
    #[inline]
    pub(super) fn keep(&mut self, candidate: usize, id: Id) {
        let about = &mut self.about[id as usize];
        about.kept |= 1 << candidate;
        about.known |= 1 << candidate;
        self.kept_otherwise(candidate, id, 1);
    }

    /// A candidate keeps an id no more.
    #[inline]
    fn evict(&mut self, candidate: usize, id: Id) {
        self.about[id as usize].kept &= !(1 << candidate);
        self.kept_otherwise(candidate, id, u32::MAX);
    }

    /// The set of those that keep an id has changed: the candidate keeps this many more, where the
    /// largest number stands for one less.
    #[inline]
    fn kept_otherwise(&mut self, candidate: usize, id: Id, more: u32) {
        if self.is_here(id) {
            self.sets.move_to_front(usize::from(self.about[id as usize].kept), id);
        } else {
            self.lacking[candidate] = self.lacking[candidate].wrapping_add(more);
        }
    }

    /// A candidate neither keeps nor knows an id any more.
    pub(super) fn drop(&mut self, candidate: usize, id: Id) {
        if self.about[id as usize].kept & 1 << candidate != 0 {
            self.evict(candidate, id);
        }
        self.about[id as usize].known &= !(1 << candidate);
    }

    /// The owner may give the number of an id that is not here, and that no candidate knows, to
    /// another.
    fn forget_unknown<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        if self.about[id as usize].known == 0 && !self.is_here(id) {
            pool.forget(id);
        }
    }

    /// An id is neither here nor known any more.
    pub(super) fn remove(&mut self, id: Id) {
        if self.is_here(id) {
            self.take_out(id);
        }
        let about = std::mem::take(&mut self.about[id as usize]);
        each(about.kept, |candidate| self.lacking[candidate] -= 1);
    }
}

fn each(candidates: u8, mut act: impl FnMut(usize)) {
    (0..COUNT).filter(|candidate| candidates & 1 << candidate != 0).for_each(&mut act);
}

/// The owner of the cache as a candidate sees it.
pub(super) struct Side<'a, P: ?Sized> {
    pub(super) books: &'a mut Books,
    pub(super) number: usize,
    pub(super) pool: &'a mut P,
}

impl<P: Pool + ?Sized> Pool for Side<'_, P> {
    #[inline]
    fn evict(&mut self, victim: Id) {
        self.books.evict(self.number, victim);
    }

    #[inline]
    fn forget(&mut self, id: Id) {
        self.books.about[id as usize].known &= !(1 << self.number);
        self.books.forget_unknown(id, self.pool);
    }
}
