//! CAR: ARC's adaptation with CLOCK's cheap hits.

use super::arc::{B1, B2, CAPACITY_MAX, T1, T2};
use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::segments::Segments;

/// Clock with adaptive replacement (Bansal and Modha, "CAR: clock with adaptive replacement", FAST
/// 2004), figure 2.
///
/// - **Idea:** ARC's four lists, but the two resident ones are clocks, with the hand at the back. A
///   hit sets a bit; a page is promoted when a hand meets it with the bit set.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(1) amortised.
/// - **Memory:** 10 bytes an id, 18 once a weight other than 1 was seen.
/// - **Ghosts:** with the resident pages at most twice the capacity; T1 and B1 together at most the
///   capacity.
/// - **Shines** where ARC does, with hits as cheap as CLOCK's. **Fails** where ARC does. A second
///   request right after the first already counts as reuse; the paper's CART mends that.
///
/// The paper knows only pages. For files the size of a list is its weight, an adaptation step is
/// scaled by the request's weight, and each single removal is repeated until the newcomer fits.
/// [`Use::FirstUse`] sets no bit. Cost is ignored. [`Car::as_published`] is Ozen's program.
#[derive(Clone, Debug)]
pub struct Car {
    capacity: u64,
    /// The paper's p: the target size of T1.
    target: f64,
    lists: Segments<4, 2>,
    referenced: Vec<bool>,
    read_hits_only: bool,
    /// Ozen's program trims B2 at nearly every fresh miss, and rounds its steps down.
    ozen: bool,
}

impl Car {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity.min(CAPACITY_MAX),
            target: 0.0,
            lists: Segments::new(),
            referenced: Vec::new(),
            read_hits_only: false,
            ozen: false,
        }
    }

    /// Only a read hit sets the bit, as in Ozen's program. The rest is the paper's.
    #[must_use]
    pub fn read_hits_only(capacity: u64) -> Self {
        Self { read_hits_only: true, ..Self::new(capacity) }
    }

    /// As Ozen's program has it. A fresh miss trims B2 whenever it does not trim B1, not only when
    /// the directory is full. Steps are whole numbers. Only a read hit sets the bit.
    #[must_use]
    pub fn as_published(capacity: u64) -> Self {
        Self { ozen: true, ..Self::read_hits_only(capacity) }
    }

    /// The paper's replace(): the hands move until one meets a page whose bit is clear.
    fn replace<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        loop {
            let t1_is_over = self.lists.size(T1) as f64 >= self.target.max(1.0);
            let (first, second) = if t1_is_over { (T1, T2) } else { (T2, T1) };
            let from = if self.lists.is_empty(first) { second } else { first };
            let Some(page) = self.lists.back(from) else { return false };
            if std::mem::take(&mut self.referenced[page as usize]) {
                self.lists.move_to(T2, page);
                continue;
            }
            self.lists.move_to(if from == T1 { B1 } else { B2 }, page);
            pool.evict(page);
            return true;
        }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) -> bool {
        let mut evicted = false;
        while self.resident_weight() > self.capacity.saturating_sub(weight) {
            if !self.replace(pool) {
                break;
            }
            evicted = true;
        }
        evicted
    }

    /// Drops the oldest ghost of a list; false if the list is empty.
    fn drop_ghost<P: Pool + ?Sized>(&mut self, ghosts: usize, pool: &mut P) -> bool {
        self.lists.pop(ghosts).map(|ghost| pool.forget(ghost)).is_some()
    }

    /// A miss on an id that is no ghost: makes room for `weight` more, in the directory too.
    fn miss<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        let evicted = self.make_room(weight, pool);
        let t1_and_b1 = self.lists.size(T1) + self.lists.size(B1);
        if self.ozen && evicted && t1_and_b1 != self.capacity {
            self.drop_ghost(B2, pool);
        }
        self.trim(weight, pool);
    }

    /// Keeps the bounds of the directory with `weight` more in T1: T1 and B1 within the capacity,
    /// all lists within twice that.
    fn trim<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.lists.size(T1) + self.lists.size(B1) > self.capacity.saturating_sub(weight)
            && self.drop_ghost(B1, pool)
        {}
        while self.lists.total() > (2 * self.capacity).saturating_sub(weight)
            && self.drop_ghost(B2, pool)
        {}
    }

    /// A ghost is requested: T1's target moves towards the list that lost the page.
    fn adapt(&mut self, ghosts: usize, weight: u64) {
        let (mine, other) = (self.lists.size(ghosts).max(1), self.lists.size(B1 + B2 - ghosts));
        let ratio = other as f64 / mine as f64;
        let step = weight as f64 * if self.ozen { ratio.floor() } else { ratio }.max(1.0);
        self.target = match ghosts {
            B1 => (self.target + step).min(self.capacity as f64),
            _ => (self.target - step).max(0.0),
        };
    }
}

impl Eviction for Car {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.referenced, ids, false);
        self.lists.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, kind, .. } = *request;
        let list = self.lists.list_of(id);
        if list.is_some_and(|list| list <= T2) {
            let counts = kind == Use::Read || (!self.read_hits_only && kind != Use::FirstUse);
            self.referenced[id as usize] |= counts;
            return Outcome::Hit;
        }
        if weight > self.capacity {
            return Outcome::Bypassed;
        }
        if let Some(ghosts) = list {
            self.make_room(weight, pool);
            self.adapt(ghosts, weight);
            self.lists.remove(id);
        } else {
            self.miss(weight, pool);
        }
        self.referenced[id as usize] = false;
        self.lists.push(if list.is_some() { T2 } else { T1 }, id, weight);
        self.trim(0, pool);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        if !self.replace(pool) {
            return false;
        }
        self.trim(0, pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity.min(CAPACITY_MAX);
        self.target = self.target.min(self.capacity as f64);
        self.make_room(0, pool);
        self.trim(0, pool);
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
