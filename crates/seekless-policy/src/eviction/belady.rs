//! Belady's rule for files of any weight: the file whose next use is farthest leaves first.

use super::{Eviction, Id, Needs, Outcome, Pool, Request};
use crate::arrays::heap::IndexedHeap;
use crate::arrays::weights::Weights;
use std::cmp::Reverse;

/// Orders resident files: the farthest next use first, then the least recent use.
type Key = (Reverse<u64>, u64);

/// OPT's order for files, whatever they weigh (Belady 1966), with the right to leave the newcomer
/// out. [`Opt`](super::Opt) is for pages.
///
/// - **Idea:** a newcomer takes the place of files that are used again later than it is, the
///   farthest first. If these do not make enough room, all of them stay, and the newcomer does not
///   enter.
/// - **Cost per request:** O(log n), and for each file that a newcomer pushes out or looks at.
/// - **Memory:** 4 bytes an id, 8 more where weights differ, and at most 36 a resident file. No
///   ghosts.
/// - **Shines** where the order of the loads is known, such as the shuffled epochs of a training
///   job. For bytes it is near the optimum as long as a file is small beside the cache. **Fails**
///   to count files: [`BeladySize`](super::BeladySize) keeps many small ones in place of a large
///   one.
///
/// Needs [`Request::next_use`]. Files without a known next use leave before all others, the least
/// recently used first: without any knowledge it is LRU. [`Use`](super::Use) and cost are ignored.
/// A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Belady {
    capacity: u64,
    used: u64,
    requests: u64,
    weights: Weights,
    /// Resident files. The root leaves first.
    files: IndexedHeap<Key>,
    /// Files that may make room for a newcomer; empty between requests.
    leaving: Vec<(Key, Id)>,
}

impl Belady {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            requests: 0,
            weights: Weights::new(),
            files: IndexedHeap::new(),
            leaving: Vec::new(),
        }
    }

    fn key(&self, next_use: u64) -> Key {
        (Reverse(next_use), self.requests)
    }

    /// Takes out files that are used no sooner than `next_use` until `weight` more fits. False if
    /// they are too few; then all are in again.
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, next_use: u64, pool: &mut P) -> bool {
        let (limit, mut used) = (self.capacity - weight, self.used);
        while used > limit {
            match self.files.root() {
                Some((key, id)) if key.0.0 >= next_use => {
                    self.files.remove(id);
                    used -= self.weights.get(id);
                    self.leaving.push((key, id));
                }
                _ => break,
            }
        }
        if used > limit {
            self.leaving.drain(..).for_each(|(key, id)| self.files.push(id, key));
            return false;
        }
        self.used = used;
        self.leaving.drain(..).for_each(|(_, id)| pool.discard(id));
        true
    }
}

impl Eviction for Belady {
    fn needs(&self) -> Needs {
        Needs { next_use: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        self.weights.grow(ids);
        self.files.grow(ids);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, next_use, .. } = *request;
        self.requests += 1;
        if self.files.contains(id) {
            self.files.change(id, self.key(next_use));
            return Outcome::Hit;
        }
        if weight > self.capacity || !self.make_room(weight, next_use, pool) {
            return Outcome::Bypassed;
        }
        self.used += weight;
        self.weights.set(id, weight);
        self.files.push(id, self.key(next_use));
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some((_, id)) = self.files.root() else { return false };
        self.remove(id);
        pool.discard(id);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.files.remove(id) {
            self.used -= self.weights.get(id);
        }
    }

    fn foresee(&mut self, id: Id, next_use: u64) {
        if self.files.contains(id) {
            self.files.change(id, self.key(next_use));
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.files.contains(id).then(|| self.weights.get(id))
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(before) = self.weight_of(request.id) {
            self.used = self.used - before + request.weight;
            self.weights.set(request.id, request.weight);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
