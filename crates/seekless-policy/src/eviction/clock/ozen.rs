//! CLOCK as Ozen's program has it: newcomers go to the front of a line, not behind the hand.

use crate::eviction::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;

const ALL: usize = 0;

/// CLOCK as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// Pages stand in a line that the hand walks from front to back, and then again from the front. Newcomers stand at the
/// very front wherever the hand is, so after each wrap it meets the newest page first and evicts it: the opposite of what
/// CLOCK is for. Only a read hit sets the bit. [`Clock`](super::Clock) is the algorithm of the literature.
///
/// Cost, memory: as CLOCK's. Pages only: it refuses weights. No ghosts.
#[derive(Clone, Debug)]
pub struct ClockOzen {
    capacity: u64,
    used: u64,
    line: Lists<1>,
    /// The page to look at next; none at the end of the line.
    hand: Option<Id>,
    referenced: Vec<bool>,
}

impl ClockOzen {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, line: Lists::new(), hand: None, referenced: Vec::new() }
    }
}

impl Eviction for ClockOzen {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.referenced.len() {
            self.referenced.resize(ids as usize, false);
        }
        self.line.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.line.contains(id) {
            self.referenced[id as usize] |= request.kind == Use::Read;
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        if self.used >= self.capacity {
            self.evict_one(pool);
        }
        self.used += 1;
        self.referenced[id as usize] = false;
        self.line.push_front(ALL, id);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(page) = self.hand.or(self.line.front(ALL)) {
            self.hand = self.line.after(page);
            if std::mem::take(&mut self.referenced[page as usize]) {
                continue;
            }
            self.remove(page);
            pool.evict(page);
            pool.forget(page);
            return true;
        }
        false
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.used > self.capacity && self.evict_one(pool) {}
    }

    fn remove(&mut self, id: Id) {
        if !self.line.contains(id) {
            return;
        }
        if self.hand == Some(id) {
            self.hand = self.line.after(id);
        }
        self.line.unlink(id);
        self.used -= 1;
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
