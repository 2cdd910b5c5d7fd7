//! GreedyDual-Size while every page weighs and costs 1: an LRU list that notes the offset at each use.

use crate::eviction::{Id, Landlord, Outcome, Pool, Request, Use};
use crate::list::Lists;

const ALL: usize = 0;

/// Pages of credit 1. The offset is a whole number then: it grows by what the victim had left.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    pub(super) capacity: u64,
    pub(super) used: u64,
    pub(super) requests: u64,
    /// Rent that each page has paid so far.
    pub(super) offset: u64,
    order: Lists<1>,
    /// The offset at the last use of each page.
    offsets: Vec<u64>,
}

impl Pages {
    pub(super) fn new(capacity: u64) -> Self {
        let (order, offsets) = (Lists::new(), Vec::new());
        Self { capacity, used: 0, requests: 0, offset: 0, order, offsets }
    }

    pub(super) fn grow(&mut self, ids: u32) {
        if ids as usize > self.offsets.len() {
            self.offsets.resize(ids as usize, 0);
        }
        self.order.grow(ids);
    }

    #[inline]
    pub(super) fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        self.requests += 1;
        if self.order.contains(id) {
            if request.kind != Use::FirstUse {
                self.order.move_to_front(ALL, id);
                self.offsets[id as usize] = self.offset;
            }
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        self.shrink_to(self.capacity - 1, pool);
        self.used += 1;
        self.order.push_front(ALL, id);
        self.offsets[id as usize] = self.offset;
        Outcome::Admitted
    }

    #[inline]
    pub(super) fn shrink_to<P: Pool + ?Sized>(&mut self, pages: u64, pool: &mut P) {
        while self.used > pages && self.evict_one(pool) {}
    }

    #[inline]
    pub(super) fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.order.back(ALL) else {
            return false;
        };
        self.offset = self.offsets[victim as usize] + 1;
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    pub(super) fn remove(&mut self, id: Id) {
        if self.order.contains(id) {
            self.order.unlink(id);
            self.used -= 1;
        }
    }

    /// A Landlord that goes on from here: what is resident, with the offsets, and with numbers of requests that keep the order.
    pub(super) fn to_files(&self, ids: u32, takes_back: bool) -> Landlord {
        let mut files = Landlord::resume(self.capacity, self.offset, self.requests, ids, takes_back);
        for (id, last_use) in self.order.iter(ALL).zip((0..=self.requests).rev()) {
            files.restore_page(id, self.offsets[id as usize] + 1, last_use);
        }
        files
    }
}
