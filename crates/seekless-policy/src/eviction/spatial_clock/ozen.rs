//! The spatial clock as Ozen's program has it: the hand is a number into a sorted array that shifts beneath it.

use crate::eviction::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::key_order::KeyOrder;

/// Where the hand is. The array it points into is never built: all that its number does is kept as a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    /// At the place that this page now has.
    At(Id),
    /// This many places beyond the last page.
    Beyond(u64),
}

/// The spatial clock as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// The hand is an index into a sorted array. It moves on after an eviction although the array has closed up, so each
/// victim's successor is passed over; and a page that comes in below it shifts the array and sets it back by one page.
/// Only a read hit sets the bit. [`SpatialClock`](super::SpatialClock) is the algorithm.
///
/// Cost, memory and needs: as the algorithm's.
#[derive(Clone, Debug)]
pub struct SpatialClockOzen {
    capacity: u64,
    used: u64,
    array: KeyOrder,
    hand: Hand,
    referenced: Vec<bool>,
}

impl SpatialClockOzen {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, array: KeyOrder::new(), hand: Hand::Beyond(0), referenced: Vec::new() }
    }

    fn load(&mut self, request: &Request) {
        let id = request.id;
        self.array.insert(id, request.key);
        self.used += 1;
        self.hand = match self.hand {
            // The array is longer by one: what was just beyond its end is its last place.
            Hand::Beyond(0) => self.array.last().map_or(Hand::Beyond(0), Hand::At),
            Hand::Beyond(places) => Hand::Beyond(places - 1),
            Hand::At(page) if (self.array.key(id), id) < (self.array.key(page), page) => {
                self.array.before(page).map_or(Hand::At(page), Hand::At)
            }
            hand => hand,
        };
        // Index 0 of an empty array is the same as its first place.
        if self.used == 1 {
            self.hand = Hand::At(id);
        }
    }

    fn next(&self, page: Id) -> Hand {
        self.array.after(page).map_or(Hand::Beyond(0), Hand::At)
    }
}

impl Eviction for SpatialClockOzen {
    fn needs(&self) -> Needs {
        Needs { neighbours: true, unit_weights: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.referenced.len() {
            self.referenced.resize(ids as usize, false);
        }
        self.array.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.array.contains(id) {
            self.referenced[id as usize] |= request.kind == Use::Read;
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        if self.used >= self.capacity {
            self.evict_one(pool);
        }
        self.referenced[id as usize] = false;
        self.load(request);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        loop {
            let page = match self.hand {
                Hand::At(page) => page,
                Hand::Beyond(_) => match self.array.first() {
                    Some(first) => first,
                    None => return false,
                },
            };
            if std::mem::take(&mut self.referenced[page as usize]) {
                self.hand = self.next(page);
                continue;
            }
            // The successor moves into the victim's place, and the hand moves on from there.
            self.hand = match self.array.after(page) {
                Some(successor) => self.next(successor),
                None => Hand::Beyond(1),
            };
            self.array.remove(page);
            self.used -= 1;
            pool.evict(page);
            pool.forget(page);
            return true;
        }
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.used > capacity && self.evict_one(pool) {}
    }

    fn remove(&mut self, id: Id) {
        if !self.array.contains(id) {
            return;
        }
        self.hand = match self.hand {
            Hand::Beyond(places) => Hand::Beyond(places + 1),
            Hand::At(page) if (self.array.key(id), id) <= (self.array.key(page), page) => self.next(page),
            hand => hand,
        };
        self.array.remove(id);
        self.used -= 1;
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
