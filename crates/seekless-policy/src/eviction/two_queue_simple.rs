//! Simplified 2Q: a FIFO for what came once, LRU for what was asked for again while it waited there.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;
use crate::weights::Weights;

/// Resident, asked for once: a FIFO.
const A1: usize = 0;
/// Resident, asked for again while in A1: LRU.
const AM: usize = 1;
/// In no list.
const NOWHERE: u8 = 2;

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
    lists: Lists<2>,
    places: Vec<u8>,
    /// Weight of A1 and Am.
    sizes: [u64; 2],
    weights: Weights,
}

impl TwoQueueSimple {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, lists: Lists::new(), places: Vec::new(), sizes: [0; 2], weights: Weights::new() }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.resident_weight() > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

impl Eviction for TwoQueueSimple {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.places.len() {
            self.places.resize(ids as usize, NOWHERE);
        }
        self.lists.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        let place = self.places[id as usize];
        if place != NOWHERE {
            if request.kind != Use::FirstUse {
                self.lists.move_to_front(AM, id);
                let weight = self.weights.get(id);
                self.sizes[place as usize] -= weight;
                self.sizes[AM] += weight;
                self.places[id as usize] = AM as u8;
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.weights.set(id, request.weight);
        self.sizes[A1] += request.weight;
        self.places[id as usize] = A1 as u8;
        self.lists.push_front(A1, id);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let from_a1 = self.sizes[A1] > self.capacity / 4 || self.lists.is_empty(AM);
        let Some(victim) = self.lists.back(if from_a1 { A1 } else { AM }) else {
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
        let place = std::mem::replace(&mut self.places[id as usize], NOWHERE);
        if place != NOWHERE {
            self.lists.unlink(id);
            self.sizes[place as usize] -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.sizes[A1] + self.sizes[AM]
    }
}
