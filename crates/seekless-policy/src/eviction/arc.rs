//! ARC: recency and frequency share the cache. Hits on ghosts show which of them should have more.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::segments::Segments;

/// Resident, seen once lately.
pub(super) const T1: usize = 0;
/// Resident, seen at least twice lately.
pub(super) const T2: usize = 1;
/// Ghosts of pages that left T1.
pub(super) const B1: usize = 2;
/// Ghosts of pages that left T2.
pub(super) const B2: usize = 3;
/// So that twice the capacity plus a weight does not overflow.
pub(super) const CAPACITY_MAX: u64 = u64::MAX / 4;

/// Adaptive replacement cache (Megiddo and Modha, "ARC: a self-tuning, low overhead replacement
/// cache", FAST 2003), figure 4.
///
/// - **Idea:** one list for pages seen once, one for pages seen twice. A hit on a ghost of either
///   moves the target size of the first list towards the list that lost it.
/// - **Cost per request:** O(1).
/// - **Memory:** 9 bytes an id, 17 once a weight other than 1 was seen.
/// - **Ghosts:** with the resident pages at most twice the capacity; T1 and B1 together at most the
///   capacity.
/// - **Shines** on mixes of scans and reuse, without tuning. **Fails** on loops larger than the
///   cache, where each page returns after its ghost has left. It needs twice the directory of LRU.
///
/// The paper knows only pages. For files the size of a list is its weight, an adaptation step is
/// scaled by the request's weight, and each single removal is repeated until the newcomer fits.
/// With all weights 1 it is the paper's algorithm, step by step. [`Use::FirstUse`] promotes
/// nothing. Cost is ignored. A hit keeps the weight that was admitted. [`Arc::as_published`] is
/// Ozen's program.
#[derive(Clone, Debug)]
pub struct Arc {
    capacity: u64,
    /// The paper's p: the target size of T1. A real number, as in the paper: rounding the steps
    /// costs up to 0.8 % of hits on published traces.
    target: f64,
    lists: Segments<4, 2>,
    /// Ozen's program rounds the steps down.
    whole_steps: bool,
}

impl Arc {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity.min(CAPACITY_MAX),
            target: 0.0,
            lists: Segments::new(),
            whole_steps: false,
        }
    }

    /// As Ozen's program has it: the target moves by whole numbers.
    #[must_use]
    pub fn as_published(capacity: u64) -> Self {
        Self { whole_steps: true, ..Self::new(capacity) }
    }

    /// Cases II and III: a ghost is requested and enters T2.
    fn ghost_hit<P: Pool + ?Sized>(&mut self, request: &Request, ghosts: usize, pool: &mut P) {
        let (mine, other) = (self.lists.size(ghosts).max(1), self.lists.size(B1 + B2 - ghosts));
        let step = match self.whole_steps {
            true => (request.weight * (other / mine).max(1)) as f64,
            false => request.weight as f64 * mine.max(other) as f64 / mine as f64,
        };
        self.target = match ghosts {
            B1 => (self.target + step).min(self.capacity as f64),
            _ => (self.target - step).max(0.0),
        };
        self.lists.remove(request.id);
        self.make_room(request.weight, ghosts == B2, pool);
        self.lists.push(T2, request.id, request.weight);
        self.trim(pool);
    }

    /// Case IV: an id that is neither resident nor a ghost enters T1.
    fn miss<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) {
        let weight = request.weight;
        while self.lists.size(T1) + self.lists.size(B1) > self.capacity - weight {
            if self.drop_ghost(B1, pool) {
                continue;
            }
            let Some(victim) = self.lists.back(T1) else { break };
            self.lists.remove(victim);
            pool.discard(victim);
        }
        while self.lists.total() > (2 * self.capacity).saturating_sub(weight)
            && self.drop_ghost(B2, pool)
        {}
        self.make_room(weight, false, pool);
        self.lists.push(T1, request.id, weight);
        self.trim(pool);
    }

    /// Calls REPLACE until `weight` more fits.
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, from_b2: bool, pool: &mut P) {
        let limit = self.capacity.saturating_sub(weight);
        while self.lists.resident() > limit && self.replace(from_b2, pool) {}
    }

    /// The paper's REPLACE: the oldest of T1 or T2 becomes a ghost.
    fn replace<P: Pool + ?Sized>(&mut self, from_b2: bool, pool: &mut P) -> bool {
        let t1 = self.lists.size(T1) as f64;
        let t1_is_over = t1 > self.target || (from_b2 && t1 == self.target);
        let from = match (self.lists.back(T1), self.lists.back(T2)) {
            (Some(_), Some(_)) => usize::from(!t1_is_over),
            (Some(_), None) => T1,
            (None, Some(_)) => T2,
            (None, None) => return false,
        };
        let Some(victim) = self.lists.back(from) else { return false };
        self.lists.move_to(if from == T1 { B1 } else { B2 }, victim);
        pool.evict(victim);
        true
    }

    /// Drops the oldest ghost of a list; false if the list is empty.
    fn drop_ghost<P: Pool + ?Sized>(&mut self, ghosts: usize, pool: &mut P) -> bool {
        self.lists.pop(ghosts).map(|ghost| pool.forget(ghost)).is_some()
    }

    /// Keeps the bound on ghosts after a change that the paper does not have: of a weight or of the
    /// capacity.
    fn trim<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.lists.size(T1) + self.lists.size(B1) > self.capacity && self.drop_ghost(B1, pool)
        {
        }
        while self.lists.total() > 2 * self.capacity && self.drop_ghost(B2, pool) {}
    }
}

impl Eviction for Arc {
    fn grow(&mut self, ids: u32) {
        self.lists.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let list = self.lists.list_of(request.id);
        if list.is_some_and(|list| list <= T2) {
            if request.kind != Use::FirstUse {
                self.lists.move_to(T2, request.id); // case I
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        match list {
            None => self.miss(request, pool),
            Some(ghosts) => self.ghost_hit(request, ghosts, pool),
        }
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let evicted = self.replace(false, pool);
        self.trim(pool);
        evicted
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity.min(CAPACITY_MAX);
        self.target = self.target.min(self.capacity as f64);
        self.make_room(0, false, pool);
        self.trim(pool);
    }

    fn remove(&mut self, id: Id) {
        self.lists.remove(id);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.lists.resident_weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.lists.reweigh(request.id, request.weight);
    }

    fn resident_weight(&self) -> u64 {
        self.lists.resident()
    }
}
