//! LeCaR: LRU and LFU take turns by weights that regret teaches.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::counts::Counts;
use crate::arrays::segments::Segments;
use crate::lehmer64::Lehmer64;

/// The resident ids, most recently used in front.
const RECENT: usize = 0;
/// Ghosts that LRU evicted, and those that LFU evicted.
const BY_LRU: usize = 1;
const BY_LFU: usize = 2;
const LISTS: usize = 3;

/// The paper's learning rate.
const RATE: f64 = 0.45;
/// The paper's discount: what is left of a regret after as many requests as the capacity.
const DISCOUNT: f64 = 0.005;
/// Keeps a weight above 0.
const LEAST: f64 = 1e-10;

/// LeCaR, "learning cache replacement" (Vietri and others, "Driving cache replacement with ML-based
/// LeCaR", HotStorage 2018).
///
/// - **Idea:** two experts, LRU and LFU, each name a victim. A draw by their weights decides which
///   one is followed. A request for a ghost is a mistake of the expert that evicted it, and takes
///   weight from it, the less the longer ago the eviction was.
/// - **Ties:** of equal counts the least recently used is LFU's victim. A page that both experts
///   name leaves without a draw and without a ghost.
/// - **Cost per request:** a hit O(1) and two cache lines; a miss as in [`Lfu`](super::Lfu), and a
///   power and an exponential for a ghost.
/// - **Memory:** 41 bytes an id and at most 24 a resident page; 8 more an id once a weight other
///   than 1 was seen.
/// - **Ghosts:** at most half the capacity for each expert.
/// - **Shines** on workloads that change between recency and frequency, in caches that are small
///   for them. **Fails** on scans and loops, which neither expert serves.
///
/// The same draws and ghosts as in libCacheSim, with its figures. Weights: the experts ignore them;
/// evicts until the newcomer fits. [`Use::FirstUse`] is no use. Cost is ignored. A hit keeps the
/// weight that was admitted.
#[derive(Clone, Debug)]
pub struct LeCaR {
    capacity: u64,
    rate: f64,
    /// What is left of a regret after as many requests as the capacity, and after one.
    discount: f64,
    discount_each: f64,
    /// The chance of LRU, and that of LFU.
    by_lru: f64,
    by_lfu: f64,
    turn: u64,
    pages: Segments<LISTS, 1>,
    counts: Counts<false>,
    /// The turn in which a ghost left.
    left_at: Vec<u64>,
    draws: Lehmer64,
}

impl LeCaR {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::tuned(capacity, RATE, DISCOUNT, 0.5)
    }

    /// The same with another rate of learning, another discount of a regret over as many requests
    /// as the capacity, and another chance of LRU at first.
    #[must_use]
    pub fn tuned(capacity: u64, rate: f64, discount: f64, lru: f64) -> Self {
        Self {
            capacity,
            rate,
            discount,
            discount_each: each(discount, capacity),
            by_lru: lru,
            by_lfu: 1.0 - lru,
            turn: 0,
            pages: Segments::new(),
            counts: Counts::default(),
            left_at: Vec::new(),
            draws: Lehmer64::default(),
        }
    }

    /// Takes weight from the expert whose ghost is asked for, `turns` after it left.
    fn regret(&mut self, list: usize, turns: u64) {
        let loss = (-self.rate * self.discount_each.powf(turns as f64)).exp();
        let (wrong, other) = match list {
            BY_LRU => (&mut self.by_lru, &mut self.by_lfu),
            _ => (&mut self.by_lfu, &mut self.by_lru),
        };
        let kept = *wrong * loss + LEAST;
        let sum = kept + *other + 2.0 * LEAST;
        *wrong = kept / sum;
        *other = (*other + LEAST) / sum;
    }

    /// Drops the oldest ghosts that are too many.
    fn trim<P: Pool + ?Sized>(&mut self, list: usize, pool: &mut P) {
        while self.pages.size(list) > self.capacity / 2 {
            let Some(oldest) = self.pages.pop(list) else { return };
            pool.forget(oldest);
        }
    }
}

/// The part of a discount that falls to one request.
fn each(discount: f64, capacity: u64) -> f64 {
    discount.powf(1.0 / capacity.max(1) as f64)
}

impl Eviction for LeCaR {
    fn grow(&mut self, ids: u32) {
        self.pages.grow(ids);
        self.counts.grow(ids);
        column::grow(&mut self.left_at, ids, 0);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, kind, .. } = *request;
        self.turn += 1;
        let list = self.pages.list_of(id);
        if list == Some(RECENT) {
            if kind != Use::FirstUse {
                self.pages.move_to(RECENT, id);
                self.counts.note_use(id);
            }
            return Outcome::Hit;
        }
        if let Some(list) = list {
            self.regret(list, self.turn - self.left_at[id as usize]);
            self.pages.remove(id);
        }
        if weight > self.capacity {
            if list.is_some() {
                pool.forget(id);
            }
            return Outcome::Bypassed;
        }
        self.shrink_to(self.capacity - weight, pool);
        self.pages.push(RECENT, id, weight);
        self.counts.enter(id, 1);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let (Some(oldest), Some(least)) = (self.pages.back(RECENT), self.counts.least()) else {
            return false;
        };
        let by_lru = oldest != least && self.draws.hundredth() < self.by_lru;
        let victim = if by_lru { oldest } else { least };
        self.counts.take_out(victim);
        self.counts.clear(victim);
        if oldest == least {
            self.pages.remove(victim);
            pool.discard(victim);
            return true;
        }
        let list = if by_lru { BY_LRU } else { BY_LFU };
        self.pages.move_to(list, victim);
        self.left_at[victim as usize] = self.turn;
        pool.evict(victim);
        self.trim(list, pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.discount_each = each(self.discount, capacity);
        self.shrink_to(capacity, pool);
        self.trim(BY_LRU, pool);
        self.trim(BY_LFU, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.pages.remove(id) == Some(RECENT) {
            self.counts.take_out(id);
            self.counts.clear(id);
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.pages.resident_weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.pages.reweigh(request.id, request.weight);
    }

    #[inline]
    fn resident_weight(&self) -> u64 {
        self.pages.resident()
    }
}
