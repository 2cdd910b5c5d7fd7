//! FWF: when something does not fit, everything leaves.

use super::{Eviction, Id, Needs, Outcome, Pool, Request};
use crate::list::Lists;
use crate::weights::Weights;

const ALL: usize = 0;

/// Flush when full (Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", 1988).
///
/// - **Idea:** a phase ends when the cache is full, and the next begins empty. Nothing is known of any page, and yet no
///   deterministic policy has a better competitive ratio: the bound that Landlord and LRU are compared with.
/// - **Cost per request:** O(1) amortised; a flush visits each resident once.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where phases share nothing, and as a floor for others. **Fails** everywhere else.
///
/// Weights: flushes when the newcomer does not fit, and when a smaller capacity holds less than is resident. A flush and
/// [`Eviction::evict_one`] take the oldest first. [`Use`](super::Use) and cost are ignored.
#[derive(Clone, Debug)]
pub struct Fwf {
    capacity: u64,
    used: u64,
    phase: Lists<1>,
    weights: Weights,
}

impl Fwf {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, phase: Lists::new(), weights: Weights::new() }
    }

    /// Ends the phase if `weight` more does not fit.
    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        if self.used > self.capacity.saturating_sub(weight) {
            while self.evict_one(pool) {}
        }
    }
}

impl Eviction for Fwf {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.phase.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if self.phase.contains(request.id) {
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.phase.push_front(ALL, request.id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.phase.back(ALL) else {
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
        if self.phase.contains(id) {
            self.phase.unlink(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
