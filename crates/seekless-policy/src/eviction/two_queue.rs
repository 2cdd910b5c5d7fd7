//! 2Q: a page is kept if it is requested again after a while.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::list::Lists;
use crate::arrays::segments::Segments;

/// Resident newcomers: a FIFO.
const A1IN: usize = 0;
/// Resident, requested again: LRU.
const AM: usize = 1;
/// Ghosts of pages that left A1in.
const A1OUT: usize = 0;

/// 2Q, full version (Johnson and Shasha, "2Q: a low overhead high performance buffer management
/// replacement algorithm", VLDB 1994, section 3.2): Kin a quarter, Kout half of the capacity.
///
/// - **Idea:** requests close together are one use. A newcomer passes through a short FIFO in which
///   hits do not count. Then a ghost of it stays, and only a request that meets the ghost brings
///   the page to the LRU list.
/// - **Cost per request:** O(1).
/// - **Memory:** 17 bytes an id, 25 once a weight other than 1 was seen.
/// - **Ghosts:** at most half the capacity.
/// - **Shines** on scans and on correlated requests (the sectors of a page, the rows of a block),
///   as in B-trees. **Fails** where the second use comes after the ghost has left; its two sizes do
///   not adapt.
///
/// Weights: a queue's size is its weight; evicts until the newcomer fits. [`Use::FirstUse`]
/// promotes nothing. Cost is ignored. [`TwoQueue::as_published`] is Ozen's program;
/// [`TwoQueueSimple`](super::TwoQueueSimple) the paper's simplified version.
#[derive(Clone, Debug)]
pub struct TwoQueue {
    capacity: u64,
    queues: Segments<2, 2>,
    ghosts: Lists<1>,
    ghost_weight: u64,
    /// Ozen's program leaves a promoted page in A1out until it ages out.
    keep_promoted: bool,
}

impl TwoQueue {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            queues: Segments::new(),
            ghosts: Lists::new(),
            ghost_weight: 0,
            keep_promoted: false,
        }
    }

    /// As Ozen's program has it: a promoted page keeps its place in A1out, and takes the room of a
    /// ghost there.
    #[must_use]
    pub fn as_published(capacity: u64) -> Self {
        Self { keep_promoted: true, ..Self::new(capacity) }
    }

    fn drop_ghost(&mut self, id: Id) {
        self.ghosts.unlink(id);
        self.ghost_weight -= self.queues.weight(id);
    }

    /// Keeps A1out within half the capacity.
    fn trim_ghosts<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghost_weight > self.capacity / 2 {
            let Some(oldest) = self.ghosts.back(A1OUT) else { return };
            self.drop_ghost(oldest);
            if self.queues.list_of(oldest).is_none() {
                pool.forget(oldest);
            }
        }
    }

    fn admit<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) {
        let id = request.id;
        let seen = self.ghosts.contains(id);
        if seen && !self.keep_promoted {
            self.drop_ghost(id);
        }
        self.shrink_to(self.capacity - request.weight, pool);
        if self.ghosts.contains(id) {
            // Its weight may have changed since it left.
            self.ghost_weight = self.ghost_weight - self.queues.weight(id) + request.weight;
        }
        self.queues.push(if seen { AM } else { A1IN }, id, request.weight);
        self.trim_ghosts(pool);
    }
}

impl Eviction for TwoQueue {
    fn grow(&mut self, ids: u32) {
        self.queues.grow(ids);
        self.ghosts.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if let Some(queue) = self.queues.list_of(request.id) {
            if queue == AM && request.kind != Use::FirstUse {
                self.queues.move_to(AM, request.id);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.admit(request, pool);
        Outcome::Admitted
    }

    /// The paper's "reclaimfor": evicts from A1in, with a ghost, if A1in is over its share; else
    /// from Am, without a ghost.
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let from_a1in = self.queues.size(A1IN) > self.capacity / 4 || self.queues.is_empty(AM);
        let Some(victim) = self.queues.back(if from_a1in { A1IN } else { AM }) else {
            return false;
        };
        self.queues.remove(victim);
        pool.evict(victim);
        if from_a1in {
            self.ghosts.push_front(A1OUT, victim);
            self.ghost_weight += self.queues.weight(victim);
            self.trim_ghosts(pool);
        } else if !self.ghosts.contains(victim) {
            pool.forget(victim);
        }
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
        self.trim_ghosts(pool);
    }

    fn remove(&mut self, id: Id) {
        self.queues.remove(id);
        if self.ghosts.contains(id) {
            self.drop_ghost(id);
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.queues.resident_weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        let Some(before) = self.weight_of(request.id) else { return };
        if self.ghosts.contains(request.id) {
            self.ghost_weight = self.ghost_weight - before + request.weight;
        }
        self.queues.reweigh(request.id, request.weight);
    }

    fn resident_weight(&self) -> u64 {
        self.queues.resident()
    }
}
