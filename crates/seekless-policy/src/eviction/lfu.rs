//! LFU: what was used least often leaves first.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::heap::IndexedHeap;
use crate::list::Lists;
use crate::weights::Weights;

/// The list of newcomers.
const NEW: usize = 0;

/// How often a page was used, and when last: number of the request in two halves, to keep it at 12 bytes. Zero uses: not
/// resident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    uses: u32,
    last_use: [u32; 2],
}

/// Least frequently used, counted while resident (folklore).
///
/// - **Idea:** keep what was used most often since it came in; a page that left starts again at 1.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** a hit O(1) and one cache line. A miss O(1) while there are pages that were used once: those are in
///   a list, by arrival. A page that is found there and was used again moves to a heap, which hears of later uses when the
///   page reaches its root: O(log n) amortised.
/// - **Memory:** 24 bytes an id and at most 24 a resident page; 8 more an id once a weight other than 1 was seen. No ghosts.
/// - **Shines** on popularity that stays. **Fails** when it changes: what was popular once never leaves, and newcomers push
///   each other out ([`LfuDa`](super::LfuDa) is the cure).
///
/// Lists for each count (Shah, Mitra and Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme", 2010)
/// never cost more than O(1), but write to the neighbours in two lists at each hit, which is slower here.
///
/// Weights: the count alone decides; evicts until the newcomer fits. [`Use::FirstUse`] counts for nothing. Cost is ignored.
/// A hit keeps the weight that was admitted. Counts stop at 2^32.
#[derive(Clone, Debug)]
pub struct Lfu {
    capacity: u64,
    used: u64,
    requests: u64,
    ranks: Vec<Rank>,
    /// What was used once when it was last looked at, newest first.
    new: Lists<1>,
    /// What was used more often, by a rank it once had.
    often: IndexedHeap<Rank>,
    weights: Weights,
}

impl Lfu {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            requests: 0,
            ranks: Vec::new(),
            new: Lists::new(),
            often: IndexedHeap::new(),
            weights: Weights::new(),
        }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }

    #[inline]
    fn rank_of_now(&self, uses: u32) -> Rank {
        Rank { uses, last_use: [(self.requests >> 32) as u32, self.requests as u32] }
    }

    /// The oldest of those used once; else the least of all others.
    #[inline]
    fn victim(&mut self) -> Option<Id> {
        while let Some(oldest) = self.new.back(NEW) {
            let rank = self.ranks[oldest as usize];
            if rank.uses == 1 {
                return Some(oldest);
            }
            self.new.unlink(oldest);
            self.often.push(oldest, rank);
        }
        let ranks = &self.ranks;
        self.often.settle_root(|id| ranks[id as usize]).map(|(_, id)| id)
    }
}

impl Eviction for Lfu {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.ranks.len() {
            self.ranks.resize(ids as usize, Rank::default());
        }
        self.new.grow(ids);
        self.often.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        let uses = self.ranks[request.id as usize].uses;
        if uses != 0 {
            if request.kind != Use::FirstUse {
                self.ranks[request.id as usize] = self.rank_of_now(uses.saturating_add(1));
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.ranks[request.id as usize] = self.rank_of_now(1);
        self.new.push_front(NEW, request.id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.victim() else {
            return false;
        };
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    #[inline]
    fn remove(&mut self, id: Id) {
        if std::mem::take(&mut self.ranks[id as usize]).uses == 0 {
            return;
        }
        if self.new.contains(id) {
            self.new.unlink(id);
        } else {
            self.often.remove(id);
        }
        self.used -= self.weights.get(id);
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
