//! LRU: what was used longest ago leaves first.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;
use crate::weights::Weights;

const ALL: usize = 0;

/// Least recently used (folklore; analysed by Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage
/// hierarchies", 1970).
///
/// - **Idea:** the past use of a page predicts its next one; order all by last use.
/// - **Cost per request:** O(1); a miss evicts from the back until the newcomer fits.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on recency: stacks, loops that fit. **Fails** on scans and on loops a little larger than the cache,
///   and where one large file pushes out hundreds of small ones.
///
/// [`Use::FirstUse`] promotes nothing. A request's cost is ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Lru {
    capacity: u64,
    used: u64,
    order: Lists<1>,
    weights: Weights,
}

impl Lru {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, order: Lists::new(), weights: Weights::new() }
    }

    /// Evicts from the back until `weight` more fits.
    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

impl Eviction for Lru {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.order.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.order.contains(id) {
            if request.kind != Use::FirstUse {
                self.order.move_to_front(ALL, id);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(id, request.weight);
        self.order.push_front(ALL, id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.order.back(ALL) else {
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

    fn remove(&mut self, id: Id) {
        if self.order.contains(id) {
            self.order.unlink(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
