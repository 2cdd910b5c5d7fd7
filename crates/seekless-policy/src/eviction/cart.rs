//! CART: CAR that tells pages of short use from pages of long use.

use super::arc::{B1, B2, CAPACITY_MAX, T1, T2};
use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::segments::Segments;

/// Bits of a page: it was used since a hand last met it; its use is long.
const REFERENCED: u8 = 1;
const LONG: u8 = 2;

/// CAR with temporal filtering (Bansal and Modha, "CAR: clock with adaptive replacement", FAST
/// 2004), figure 3.
///
/// - **Idea:** two requests close together do not show that a page is of use for long. A page is of
///   short use until it returns from the ghosts, or is used while it has been in T1 for long. Only
///   pages of long use enter T2, and how many of each kind there are decides how fast T1's target
///   moves.
/// - **Ties:** none; each list has an order.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(1) amortised.
/// - **Memory:** 10 bytes an id, 18 once a weight other than 1 was seen.
/// - **Ghosts:** at most the capacity.
/// - **Shines** where ARC does, and where requests come in bursts (databases, file systems above
///   the cache). **Fails** where ARC does.
///
/// The paper knows only pages. For files the size of a list is its weight, steps are scaled by the
/// request's weight, and each single removal is repeated until the newcomer fits.
/// [`Use::FirstUse`] sets no bit. Cost is ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Cart {
    capacity: u64,
    /// The paper's p: the target size of T1.
    target: f64,
    /// The paper's q: the target size of B1.
    ghost_target: u64,
    lists: Segments<4, 2>,
    bits: Vec<u8>,
    /// Weight of resident pages of short and of long use, the paper's nS and nL.
    short: u64,
    long: u64,
}

impl Cart {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity.min(CAPACITY_MAX),
            target: 0.0,
            ghost_target: 0,
            lists: Segments::new(),
            bits: Vec::new(),
            short: 0,
            long: 0,
        }
    }

    /// Counts a page as one of its kind, or no longer.
    fn count(&mut self, id: Id, enters: bool) {
        let weight = self.lists.weight(id);
        let kind = match self.bits[id as usize] & LONG {
            0 => &mut self.short,
            _ => &mut self.long,
        };
        *kind = if enters { *kind + weight } else { *kind - weight };
    }

    fn raise_ghost_target(&mut self, weight: u64) {
        let (t1, t2, b2) = (self.lists.size(T1), self.lists.size(T2), self.lists.size(B2));
        if t2 + b2 + t1 - self.short >= self.capacity {
            let most = (2 * self.capacity).saturating_sub(t1);
            self.ghost_target = (self.ghost_target + weight.max(1)).min(most);
        }
    }

    /// The hand of T2: pages that were used go back to T1.
    fn turn_t2(&mut self) {
        while let Some(page) = self.lists.back(T2) {
            let bits = &mut self.bits[page as usize];
            if *bits & REFERENCED == 0 {
                return;
            }
            *bits &= !REFERENCED;
            self.lists.move_to(T1, page);
            self.raise_ghost_target(self.lists.weight(page));
        }
    }

    /// The hand of T1, until a page of short use is met that was not used.
    fn turn_t1(&mut self) {
        while let Some(page) = self.lists.back(T1) {
            let bits = self.bits[page as usize];
            if bits & REFERENCED != 0 {
                self.lists.move_to(T1, page);
                self.bits[page as usize] &= !REFERENCED;
                let (t1, b1) = (self.lists.size(T1), self.lists.size(B1));
                let is_old = t1 as f64 >= (self.target + 1.0).min(b1 as f64);
                if is_old && bits & LONG == 0 {
                    self.count(page, false);
                    self.bits[page as usize] |= LONG;
                    self.count(page, true);
                }
            } else if bits & LONG != 0 {
                self.lists.move_to(T2, page);
                let least = self.capacity.saturating_sub(self.lists.size(T1));
                let weight = self.lists.weight(page).max(1);
                self.ghost_target = self.ghost_target.saturating_sub(weight).max(least);
            } else {
                return;
            }
        }
    }

    /// The paper's replace(): evicts one page.
    fn replace<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.turn_t2();
        self.turn_t1();
        let t1_is_over = self.lists.size(T1) as f64 >= self.target.max(1.0);
        let (first, second) = if t1_is_over { (T1, T2) } else { (T2, T1) };
        let from = if self.lists.is_empty(first) { second } else { first };
        let Some(page) = self.lists.back(from) else { return false };
        self.count(page, false);
        self.lists.move_to(if from == T1 { B1 } else { B2 }, page);
        pool.evict(page);
        true
    }

    /// Keeps the ghosts within the capacity.
    fn trim<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.lists.size(B1) + self.lists.size(B2) > self.capacity {
            let from_b1 = self.lists.size(B1) > self.ghost_target || self.lists.is_empty(B2);
            let Some(ghost) = self.lists.pop(if from_b1 { B1 } else { B2 }) else { return };
            pool.forget(ghost);
        }
    }

    /// A ghost is requested: T1's target moves.
    fn adapt(&mut self, ghosts: usize, weight: u64) {
        let kind = if ghosts == B1 { self.short } else { self.long };
        let ratio = kind as f64 / self.lists.size(ghosts).max(1) as f64;
        let step = weight as f64 * ratio.max(1.0);
        self.target = match ghosts {
            B1 => (self.target + step).min(self.capacity as f64),
            _ => (self.target - step).max(0.0),
        };
    }
}

impl Eviction for Cart {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.bits, ids, 0);
        self.lists.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, kind, .. } = *request;
        let list = self.lists.list_of(id);
        if list.is_some_and(|list| list <= T2) {
            if kind != Use::FirstUse {
                self.bits[id as usize] |= REFERENCED;
            }
            return Outcome::Hit;
        }
        if weight > self.capacity {
            return Outcome::Bypassed;
        }
        while self.resident_weight() > self.capacity - weight && self.replace(pool) {}
        if let Some(ghosts) = list {
            self.adapt(ghosts, weight);
            self.lists.remove(id);
        }
        self.trim(pool);
        self.bits[id as usize] = if list.is_some() { LONG } else { 0 };
        self.lists.push(T1, id, weight);
        self.count(id, true);
        if list == Some(B2) {
            self.raise_ghost_target(weight);
        }
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let evicted = self.replace(pool);
        self.trim(pool);
        evicted
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity.min(CAPACITY_MAX);
        self.target = self.target.min(self.capacity as f64);
        while self.resident_weight() > self.capacity && self.replace(pool) {}
        self.trim(pool);
    }

    fn remove(&mut self, id: Id) {
        if self.lists.list_of(id).is_some_and(|list| list <= T2) {
            self.count(id, false);
        }
        self.lists.remove(id);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.lists.resident_weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        if self.weight_of(request.id).is_some() {
            self.count(request.id, false);
            self.lists.reweigh(request.id, request.weight);
            self.count(request.id, true);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.lists.resident()
    }
}
