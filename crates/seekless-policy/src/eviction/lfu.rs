//! LFU: what was used least often leaves first.

use super::frequency::Frequencies;
use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::weights::Weights;

/// Least frequently used, counted while resident (folklore; the O(1) queues are Shah, Mitra and Matani's, "An O(1)
/// algorithm for implementing the LFU cache eviction scheme", 2010).
///
/// - **Idea:** keep what was used most often since it came in; a page that left starts again at 1.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** O(1).
/// - **Memory:** 12 bytes an id and at most 32 a resident page; 8 more an id once a weight other than 1 was seen. No ghosts.
/// - **Shines** on popularity that stays. **Fails** when it changes: what was popular once never leaves, and newcomers push
///   each other out ([`LfuDa`](super::LfuDa) is the cure).
///
/// Weights: the count alone decides; evicts until the newcomer fits. [`Use::FirstUse`] counts for nothing. Cost is ignored.
/// A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Lfu {
    capacity: u64,
    used: u64,
    pages: Frequencies,
    weights: Weights,
}

impl Lfu {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, pages: Frequencies::new(), weights: Weights::new() }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

impl Eviction for Lfu {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.pages.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if self.pages.contains(request.id) {
            if request.kind != Use::FirstUse {
                self.pages.count(request.id);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.pages.admit(request.id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.pages.least() else {
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
        if self.pages.contains(id) {
            self.pages.remove(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
