//! FRD: a small LRU filters newcomers, and a large one orders pages by their reuse distance.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::list::Lists;

const ALL: usize = 0;
/// Where an id is. A page of the filter may have a block of history in the main stack too.
const NOWHERE: u8 = 0;
const FILTER: u8 = 1;
const MAIN: u8 = 2;
const GHOST: u8 = 3;
/// The filter is this part of the capacity, as in the paper: 10 %.
const FILTER_PART: u64 = 10;

/// FRD, "filtering by reuse distance" (Park and Park, "FRD: a filtering based buffer cache
/// algorithm that considers both frequency and reuse distance", MSST 2017).
///
/// - **Idea:** most pages are used once, or again after a long time. Newcomers pass through a small
///   LRU, the filter, and leave a block of history in the main stack. Only a request for a page of
///   which history is left, after it was evicted, brings it to the main stack. History below the
///   oldest resident page of that stack is dropped: a reuse distance as long as that is no use.
/// - **Ties:** none; both stacks are in the order of use.
/// - **Cost per request:** O(1) amortised.
/// - **Memory:** 17 bytes an id.
/// - **Ghosts:** at most the capacity. The paper has no bound but the prune of the stack.
/// - **Shines** on scans and on pages of moderate reuse distance. **Fails** when popularity moves
///   fast: a page must be evicted once before it can stay.
///
/// For pages only. At first the main part is filled, then the filter, and pages that came first
/// stay in the main stack. [`Use::FirstUse`] promotes nothing. Cost is ignored.
#[derive(Clone, Debug)]
pub struct Frd {
    capacity: u64,
    filter_room: u64,
    filter: Lists<1>,
    /// Resident pages of the main part, and history, the latest use in front.
    stack: Lists<1>,
    places: Vec<u8>,
    filtered: u64,
    main: u64,
    ghosts: u64,
}

impl Frd {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            filter_room: filter_room(capacity),
            filter: Lists::new(),
            stack: Lists::new(),
            places: Vec::new(),
            filtered: 0,
            main: 0,
            ghosts: 0,
        }
    }

    #[inline]
    fn put_in_front(&mut self, id: Id) {
        if self.stack.contains(id) {
            self.stack.move_to_front(ALL, id);
        } else {
            self.stack.push_front(ALL, id);
        }
    }

    #[inline]
    fn hit(&mut self, id: Id) {
        if self.places[id as usize] == FILTER {
            self.filter.move_to_front(ALL, id);
            self.put_in_front(id);
        } else {
            self.stack.move_to_front(ALL, id);
        }
    }

    /// Drops the history below the oldest resident page of the main part.
    #[inline]
    fn prune<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while let Some(bottom) = self.stack.back(ALL) {
            match self.places[bottom as usize] {
                MAIN => return,
                GHOST => self.drop_ghost(bottom, pool),
                _ => self.stack.unlink(bottom),
            }
        }
    }

    fn drop_ghost<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.stack.unlink(id);
        self.places[id as usize] = NOWHERE;
        self.ghosts -= 1;
        pool.forget(id);
    }

    /// Keeps the ghosts within the capacity: the oldest is dropped.
    fn bound_ghosts<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        let mut at = self.stack.back(ALL);
        while self.ghosts > self.capacity {
            let Some(id) = at else { return };
            at = self.stack.before(id);
            if self.places[id as usize] == GHOST {
                self.drop_ghost(id, pool);
            }
        }
    }

    fn evict_filter<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.filter.back(ALL) else { return false };
        self.filter.unlink(victim);
        self.filtered -= 1;
        if self.stack.contains(victim) {
            self.places[victim as usize] = GHOST;
            self.ghosts += 1;
            pool.evict(victim);
            self.bound_ghosts(pool);
        } else {
            self.places[victim as usize] = NOWHERE;
            pool.discard(victim);
        }
        true
    }

    fn evict_main<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.prune(pool);
        let Some(victim) = self.stack.back(ALL) else { return false };
        self.stack.unlink(victim);
        self.places[victim as usize] = NOWHERE;
        self.main -= 1;
        pool.discard(victim);
        self.prune(pool);
        true
    }

    /// A page of which history is left.
    fn return_ghost<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.stack.unlink(id);
        self.places[id as usize] = NOWHERE;
        self.ghosts -= 1;
        if self.filtered + self.main >= self.capacity {
            _ = self.evict_main(pool) || self.evict_filter(pool);
        }
        self.stack.push_front(ALL, id);
        self.places[id as usize] = MAIN;
        self.main += 1;
    }

    fn enter<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        if self.main < self.capacity - self.filter_room {
            self.put_in_front(id);
            self.places[id as usize] = MAIN;
            self.main += 1;
            return;
        }
        let is_full = self.filtered + self.main >= self.capacity;
        if is_full {
            _ = self.evict_filter(pool) || self.evict_main(pool);
            self.put_in_front(id);
        }
        self.filter.push_front(ALL, id);
        self.places[id as usize] = FILTER;
        self.filtered += 1;
    }
}

fn filter_room(capacity: u64) -> u64 {
    capacity.div_ceil(FILTER_PART)
}

impl Eviction for Frd {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        self.filter.grow(ids);
        self.stack.grow(ids);
        column::grow(&mut self.places, ids, NOWHERE);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        let place = self.places[id as usize];
        if place == FILTER || place == MAIN {
            if request.kind != Use::FirstUse {
                self.hit(id);
                self.prune(pool);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        if place == GHOST {
            self.return_ghost(id, pool);
        } else {
            self.enter(id, pool);
        }
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.evict_filter(pool) || self.evict_main(pool)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.filter_room = filter_room(capacity);
        self.shrink_to(capacity, pool);
        self.bound_ghosts(pool);
    }

    fn remove(&mut self, id: Id) {
        let place = std::mem::replace(&mut self.places[id as usize], NOWHERE);
        if self.stack.contains(id) {
            self.stack.unlink(id);
        }
        match place {
            FILTER => {
                self.filter.unlink(id);
                self.filtered -= 1;
            }
            MAIN => self.main -= 1,
            GHOST => self.ghosts -= 1,
            _ => {}
        }
    }

    fn resident_weight(&self) -> u64 {
        self.filtered + self.main
    }
}
