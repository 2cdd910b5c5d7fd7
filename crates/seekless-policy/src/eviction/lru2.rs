//! LRU-2: the page whose last use but one is longest ago leaves first.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;

/// Resident pages with one known use, from the most to the least recently used.
const ONCE: usize = 0;
/// Ghosts, from the most to the least recently evicted.
const GHOSTS: usize = 1;
/// The turn of an unknown use: before all others.
const UNKNOWN: u64 = 0;

/// The turns of the last two uses of a page; turns count from 1.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// The paper's HIST(p, 2).
    last_but_one: u64,
    /// HIST(p, 1).
    last: u64,
}

/// LRU-K with K = 2 (E. O'Neil, P. O'Neil and Weikum, "The LRU-K page replacement algorithm for
/// database disk buffering", SIGMOD 1993).
///
/// - **Idea:** one use says little. The time since the last use but one estimates how often a page
///   is used. Pages used once leave first, the least recently used of them before the others (the
///   paper's subsidiary policy).
/// - **History:** [`Lru2::new`] forgets a page when it leaves. [`Lru2::with_history`] remembers its
///   last use, as the paper asks, but bounds the history by weight instead of time. Ghosts weigh at
///   most the capacity, and the oldest ghost leaves first. Repeated uses close together all count:
///   the paper's correlated reference period is 0.
/// - **Cost per request:** a hit O(1), and O(log n) for a page's second use. A miss O(1) while
///   pages used once remain, else O(log n).
/// - **Memory:** 28 bytes an id and 16 a page used twice; 8 more an id once a weight other than 1
///   was seen.
/// - **Shines** on database pages, index above data, and among scans. **Fails** on bursts, which
///   look like a high frequency. Without history it also fails on pages whose second use comes
///   after they left.
///
/// Weights: the history alone decides; evicts until the newcomer fits. [`Use::FirstUse`] does not
/// count. Cost is ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Lru2 {
    capacity: u64,
    used: u64,
    keeps_history: bool,
    ghosts_weight: u64,
    requests: u64,
    lists: Lists<2>,
    /// The true histories. The keys of the heap are raised to them at its root.
    histories: Vec<History>,
    /// Resident pages with a known last use but one, sorted by it. No two are equal, since a turn
    /// is the use of one page.
    twice: IndexedHeap<u64>,
    weights: Weights,
}

impl Lru2 {
    /// An empty cache of `capacity` units of weight that forgets pages when they leave.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            keeps_history: false,
            ghosts_weight: 0,
            requests: 0,
            lists: Lists::new(),
            histories: Vec::new(),
            twice: IndexedHeap::new(),
            weights: Weights::new(),
        }
    }

    /// An empty cache that also remembers the last use of pages that left, for pages of `capacity`
    /// units of weight.
    #[must_use]
    pub fn with_history(capacity: u64) -> Self {
        Self { keeps_history: true, ..Self::new(capacity) }
    }

    #[inline]
    fn hit(&mut self, id: Id, is_once: bool) {
        let history = &mut self.histories[id as usize];
        *history = History { last_but_one: history.last, last: self.requests };
        if is_once {
            let last_but_one = history.last_but_one;
            self.lists.unlink(id);
            self.twice.push(id, last_but_one);
        }
    }

    #[inline]
    fn admit(&mut self, id: Id, last_but_one: u64) {
        let history = History { last_but_one, last: self.requests };
        self.histories[id as usize] = history;
        if last_but_one == UNKNOWN {
            self.lists.push_front(ONCE, id);
        } else {
            self.twice.push(id, last_but_one);
        }
    }

    /// If `id` is a ghost, ends the ghost and returns its last use; else returns [`UNKNOWN`].
    #[inline]
    fn recall(&mut self, id: Id) -> u64 {
        if !self.is_ghost(id) {
            return UNKNOWN;
        }
        self.end_ghost(id);
        self.histories[id as usize].last
    }

    /// A linked page is a ghost or was used once. A ghost has a last use but one after its last
    /// use, as a mark.
    #[inline]
    fn is_ghost(&self, id: Id) -> bool {
        self.keeps_history && self.histories[id as usize].last_but_one == u64::MAX
    }

    #[inline]
    fn end_ghost(&mut self, id: Id) {
        self.lists.unlink(id);
        self.histories[id as usize].last_but_one = UNKNOWN;
        self.ghosts_weight -= self.weights.get(id);
    }

    fn bury<P: Pool + ?Sized>(&mut self, victim: Id, pool: &mut P) {
        pool.evict(victim);
        if !self.keeps_history {
            pool.forget(victim);
            return;
        }
        self.histories[victim as usize].last_but_one = u64::MAX;
        self.lists.push_front(GHOSTS, victim);
        self.ghosts_weight += self.weights.get(victim);
        self.trim(pool);
    }

    /// Keeps the bound on ghosts.
    fn trim<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghosts_weight > self.capacity {
            let Some(ghost) = self.lists.back(GHOSTS) else { return };
            self.end_ghost(ghost);
            pool.forget(ghost);
        }
    }
}

impl Eviction for Lru2 {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.histories, ids, History::default());
        self.lists.grow(ids);
        self.twice.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        self.requests += 1;
        let is_once = self.lists.contains(id) && !self.is_ghost(id);
        if is_once || self.twice.contains(id) {
            if request.kind != Use::FirstUse {
                self.hit(id, is_once);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        let last_but_one = self.recall(id);
        self.shrink_to(self.capacity - request.weight, pool);
        self.used += request.weight;
        self.weights.set(id, request.weight);
        self.admit(id, last_but_one);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let victim = match self.lists.back(ONCE) {
            Some(victim) => {
                self.lists.unlink(victim);
                victim
            }
            None => {
                let histories = &self.histories;
                let Some((_, victim)) =
                    self.twice.settle_root(|id| histories[id as usize].last_but_one)
                else {
                    return false;
                };
                self.twice.remove(victim);
                victim
            }
        };
        self.used -= self.weights.get(victim);
        self.bury(victim, pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
        self.trim(pool);
    }

    fn remove(&mut self, id: Id) {
        if self.is_ghost(id) {
            self.end_ghost(id);
        } else if self.lists.contains(id) {
            self.lists.unlink(id);
            self.used -= self.weights.get(id);
        } else if self.twice.remove(id) {
            self.used -= self.weights.get(id);
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        let is_once = self.lists.contains(id) && !self.is_ghost(id);
        (is_once || self.twice.contains(id)).then(|| self.weights.get(id))
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(before) = self.weight_of(request.id) {
            self.used = self.used - before + request.weight;
            self.weights.set(request.id, request.weight);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
