//! Random2 as Ozen's program has it: of the two draws, the page used more recently leaves.

use crate::eviction::{Eviction, Id, Needs, Outcome, Pool, Request};
use crate::lehmer::Lehmer;

/// In no place.
const ABSENT: u64 = u64::MAX;

/// Random2 as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// Evicts the *younger* of its two picks, which turns the policy round: on a scan that repeats, throwing out the newest
/// page is right, and his Random2 wins there for that reason alone. [`Random2`](super::Random2) is the algorithm.
///
/// Pages stand in the order in which they were loaded, which the draws index, so a miss is O(n) here. Pages only. No
/// ghosts. The generator is his: [`Lehmer`] with the standard library's default seed.
#[derive(Clone, Debug)]
pub struct Random2Ozen {
    capacity: u64,
    requests: u64,
    /// Number of the request that used each id last; [`ABSENT`] if it is not resident.
    last_uses: Vec<u64>,
    pages: Vec<Id>,
    draws: Lehmer,
}

impl Random2Ozen {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, requests: 0, last_uses: Vec::new(), pages: Vec::new(), draws: Lehmer::default() }
    }

    fn draw(&mut self) -> Option<usize> {
        let count = self.pages.len() as u32;
        if count < 2 {
            return (count == 1).then_some(0);
        }
        let first = self.draws.below(count) as usize;
        let second = loop {
            let drawn = self.draws.below(count) as usize;
            if drawn != first {
                break drawn;
            }
        };
        let last_use = |at: usize| self.last_uses[self.pages[at] as usize];
        Some(if last_use(first) > last_use(second) { first } else { second })
    }
}

impl Eviction for Random2Ozen {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.last_uses.len() {
            self.last_uses.resize(ids as usize, ABSENT);
        }
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        let last_use = &mut self.last_uses[request.id as usize];
        if *last_use != ABSENT {
            *last_use = self.requests;
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        if self.resident_weight() >= self.capacity {
            self.evict_one(pool);
        }
        self.last_uses[request.id as usize] = self.requests;
        self.pages.push(request.id);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(at) = self.draw() else { return false };
        let victim = self.pages.remove(at);
        self.last_uses[victim as usize] = ABSENT;
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.resident_weight() > capacity && self.evict_one(pool) {}
    }

    fn remove(&mut self, id: Id) {
        if std::mem::replace(&mut self.last_uses[id as usize], ABSENT) != ABSENT {
            self.pages.retain(|&page| page != id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.pages.len() as u64
    }
}
