//! Simplified 2Q: a FIFO for what came once, LRU for what was asked for again while it waited there.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::segments::Segments;

/// Resident, asked for once: a FIFO.
const A1: usize = 0;
/// Resident, asked for again while in A1: LRU.
const AM: usize = 1;

/// Simplified 2Q (Johnson and Shasha, VLDB 1994, section 3.1); this is what Ozen's text describes, while his program has
/// the full version. The paper leaves A1's threshold open; here it is a quarter of the capacity, as Kin is.
///
/// - **Idea:** a page is kept as hot only if it is asked for again before it leaves a short FIFO.
/// - **Cost per request:** O(1).
/// - **Memory:** 9 bytes an id, 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on scans, without the memory for ghosts. **Fails** on pages whose second use comes after A1 let them go,
///   and takes correlated requests for reuse: the reason for the full version.
///
/// Weights: a queue's size is its weight; evicts until the newcomer fits. [`Use::FirstUse`] promotes nothing. Cost is
/// ignored.
#[derive(Clone, Debug)]
pub struct TwoQueueSimple {
    capacity: u64,
    queues: Segments<2, 2>,
}

impl TwoQueueSimple {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, queues: Segments::new() }
    }
}

impl Eviction for TwoQueueSimple {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.queues.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.queues.list_of(id).is_some() {
            if request.kind != Use::FirstUse {
                self.queues.move_to(AM, id);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.shrink_to(self.capacity - request.weight, pool);
        self.queues.push(A1, id, request.weight);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let from_a1 = self.queues.size(A1) > self.capacity / 4 || self.queues.is_empty(AM);
        let Some(victim) = self.queues.back(if from_a1 { A1 } else { AM }) else {
            return false;
        };
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
    }

    fn remove(&mut self, id: Id) {
        self.queues.remove(id);
    }

    fn resident_weight(&self) -> u64 {
        self.queues.resident()
    }
}
