//! SIEVE: a FIFO whose hand spares what was used since it last passed.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;
use crate::weights::Weights;

const ALL: usize = 0;

/// SIEVE (Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is simpler than LRU", NSDI 2024), algorithm 1.
///
/// - **Idea:** newcomers enter at the head of a FIFO; a hand goes from tail to head, clears the mark of what was used and
///   evicts the first that was not. What it spares stays where it is, so newcomers are sifted fast and old friends slowly.
/// - **Cost per request:** a hit sets one byte; a miss O(1) amortised.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on skewed popularity (web, key-value). **Fails** on scans and loops, and where popularity moves: on block
///   traces it keeps what was popular once.
///
/// The paper knows only objects of one size; for files each eviction becomes "until it fits". [`Use::FirstUse`] marks
/// nothing. A request's cost is ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Sieve {
    capacity: u64,
    used: u64,
    order: Lists<1>,
    /// Used since the hand passed or since it came.
    marked: Vec<bool>,
    /// Where the next search starts; at the tail if nowhere.
    hand: Option<Id>,
    weights: Weights,
}

impl Sieve {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            order: Lists::new(),
            marked: Vec::new(),
            hand: None,
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
}

impl Eviction for Sieve {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.marked.len() {
            self.marked.resize(ids as usize, false);
        }
        self.order.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.order.contains(id) {
            if request.kind != Use::FirstUse {
                self.marked[id as usize] = true;
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(id, request.weight);
        self.marked[id as usize] = false;
        self.order.push_front(ALL, id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(mut victim) = self.hand.or_else(|| self.order.back(ALL)) else {
            return false;
        };
        while std::mem::take(&mut self.marked[victim as usize]) {
            let next = self.order.before(victim).or_else(|| self.order.back(ALL));
            victim = next.unwrap_or(victim);
        }
        self.hand = Some(victim);
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
            if self.hand == Some(id) {
                self.hand = self.order.before(id);
            }
            self.order.unlink(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
