//! FIFO: what came in first leaves first.

use super::{Eviction, Id, Needs, Outcome, Pool, Request};
use crate::list::Lists;
use crate::weights::Weights;

const ALL: usize = 0;

/// First in, first out (folklore; Belady, "A study of replacement algorithms for a virtual-storage computer", 1966, shows
/// that a larger cache may miss more).
///
/// - **Idea:** a queue; a hit changes nothing, so hits need no lock and no writes.
/// - **Cost per request:** O(1); a hit reads one word.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hits must be cheap and reuse is far apart. **Fails** on whatever is used all the time: it leaves as
///   soon as what is used once.
///
/// Weights: evicts until the newcomer fits. [`Use`](super::Use) and cost are ignored.
#[derive(Clone, Debug)]
pub struct Fifo {
    capacity: u64,
    used: u64,
    queue: Lists<1>,
    weights: Weights,
}

impl Fifo {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, queue: Lists::new(), weights: Weights::new() }
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

impl Eviction for Fifo {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.queue.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if self.queue.contains(request.id) {
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.queue.push_front(ALL, request.id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.queue.back(ALL) else {
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
        if self.queue.contains(id) {
            self.queue.unlink(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
