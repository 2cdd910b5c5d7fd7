//! What S3-FIFO, QDLP and Clock2Q+ share: a small FIFO on probation, a large CLOCK, and ghosts of what failed.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;
use crate::weights::Weights;
use std::marker::PhantomData;

/// On probation, resident.
const SMALL: usize = 0;
/// Passed, resident.
const MAIN: usize = 1;
/// Ghosts of what failed.
const GHOSTS: usize = 2;
/// In no list.
const NOWHERE: u8 = u8::MAX;
/// Percentages of it must be numbers.
const CAPACITY_MAX: u64 = u64::MAX / 256;

/// Which of the policies it is. See [`S3Fifo`](super::S3Fifo), [`Qdlp`](super::Qdlp) and [`Clock2QPlus`](super::Clock2QPlus).
pub trait Rules {
    /// Ghosts, in percent of the capacity.
    const GHOSTS_PERCENT: u64;
    /// Uses on probation that let an id pass.
    const PASS_AT: u8;
    /// Uses that are counted, at most: passes of the hand that an id of the main queue survives.
    const USES_MAX: u8;
    /// Until something has to leave for the first time, newcomers that the small queue has no room for go to the main one.
    const FILLS_MAIN: bool;
    /// Newest part of the small queue, in percent of it, where uses do not count.
    const WINDOW_PERCENT: u64;
}

/// A small FIFO (a tenth of the cache), a main CLOCK for the rest, ghosts; `R` says the rest.
///
/// 10 bytes an id, 18 once a weight other than 1 was seen, 8 more with a correlation window.
#[derive(Clone, Debug)]
pub struct Probation<R> {
    rules: PhantomData<R>,
    capacity: u64,
    lists: Lists<3>,
    /// Which list each id is in.
    places: Vec<u8>,
    /// Uses counted of each resident id.
    uses: Vec<u8>,
    /// Weight of each list. A ghost weighs at least 1, so that there is a bound on their number.
    sizes: [u64; 3],
    /// Weight that entered the small queue before each id, if there is a window.
    entered: Vec<u64>,
    /// Weight that ever entered the small queue.
    entered_in_all: u64,
    /// Something has had to leave.
    full: bool,
    weights: Weights,
}

impl<R: Rules> Probation<R> {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            rules: PhantomData,
            capacity: capacity.min(CAPACITY_MAX),
            lists: Lists::new(),
            places: Vec::new(),
            uses: Vec::new(),
            sizes: [0; 3],
            entered: Vec::new(),
            entered_in_all: 0,
            full: false,
            weights: Weights::new(),
        }
    }

    fn small_capacity(&self) -> u64 {
        self.capacity / 10
    }

    fn ghost_capacity(&self) -> u64 {
        self.capacity * R::GHOSTS_PERCENT / 100
    }

    fn used(&self) -> u64 {
        self.sizes[SMALL] + self.sizes[MAIN]
    }

    #[inline]
    fn weight_in(&self, list: usize, id: Id) -> u64 {
        let weight = self.weights.get(id);
        if list == GHOSTS { weight.max(1) } else { weight }
    }

    #[inline]
    fn place(&mut self, list: usize, id: Id) {
        self.lists.push_front(list, id);
        self.places[id as usize] = list as u8;
        self.sizes[list] += self.weight_in(list, id);
    }

    #[inline]
    fn displace(&mut self, id: Id) {
        let list = self.places[id as usize] as usize;
        self.lists.unlink(id);
        self.places[id as usize] = NOWHERE;
        self.sizes[list] -= self.weight_in(list, id);
    }

    #[inline]
    fn hit(&mut self, id: Id, list: usize) {
        if R::WINDOW_PERCENT > 0 && list == SMALL && self.in_window(id) {
            return;
        }
        let uses = &mut self.uses[id as usize];
        *uses = (*uses + 1).min(R::USES_MAX);
    }

    /// Whether `id`, on probation, came so lately that another use of it says nothing yet.
    fn in_window(&self, id: Id) -> bool {
        let younger = self.entered_in_all - self.entered[id as usize];
        younger <= (self.small_capacity() * R::WINDOW_PERCENT).div_ceil(100)
    }

    fn admit(&mut self, request: &Request, was_ghost: bool) {
        let id = request.id;
        self.weights.set(id, request.weight);
        self.uses[id as usize] = 0;
        let spills =
            R::FILLS_MAIN && !self.full && self.sizes[SMALL] + request.weight > self.small_capacity();
        if was_ghost || spills {
            return self.place(MAIN, id);
        }
        if R::WINDOW_PERCENT > 0 {
            self.entered[id as usize] = self.entered_in_all;
            self.entered_in_all += request.weight;
        }
        self.place(SMALL, id);
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used() > self.capacity.saturating_sub(weight) {
            self.full = true;
            if !self.evict_one(pool) {
                return;
            }
        }
    }

    /// Evicts the oldest on probation that did not pass; those before it that did go to the main queue. False if all passed.
    fn evict_small<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(id) = self.lists.back(SMALL) {
            self.displace(id);
            if self.uses[id as usize] >= R::PASS_AT {
                self.uses[id as usize] = 0;
                self.place(MAIN, id);
                continue;
            }
            self.place(GHOSTS, id);
            pool.evict(id);
            self.trim_ghosts(pool);
            return true;
        }
        false
    }

    /// Evicts the oldest of the main queue that was not used; those before it go round once more for each use.
    fn evict_main<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(id) = self.lists.back(MAIN) {
            let uses = &mut self.uses[id as usize];
            if *uses > 0 {
                *uses -= 1;
                self.lists.move_to_front(MAIN, id);
                continue;
            }
            self.displace(id);
            pool.evict(id);
            pool.forget(id);
            return true;
        }
        false
    }

    fn trim_ghosts<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.sizes[GHOSTS] > self.ghost_capacity() {
            let Some(ghost) = self.lists.back(GHOSTS) else { return };
            self.displace(ghost);
            pool.forget(ghost);
        }
    }
}

impl<R: Rules> Eviction for Probation<R> {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.places.len() {
            self.places.resize(ids as usize, NOWHERE);
            self.uses.resize(ids as usize, 0);
            if R::WINDOW_PERCENT > 0 {
                self.entered.resize(ids as usize, 0);
            }
        }
        self.lists.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let place = self.places[request.id as usize];
        if place as usize <= MAIN {
            if request.kind != Use::FirstUse {
                self.hit(request.id, place as usize);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        let was_ghost = place as usize == GHOSTS;
        if was_ghost {
            self.displace(request.id);
        }
        self.make_room(request.weight, pool);
        self.admit(request, was_ghost);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let small_first = self.sizes[SMALL] >= self.small_capacity() || self.lists.is_empty(MAIN);
        (small_first && self.evict_small(pool)) || self.evict_main(pool) || self.evict_small(pool)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity.min(CAPACITY_MAX);
        self.make_room(0, pool);
        self.trim_ghosts(pool);
    }

    fn remove(&mut self, id: Id) {
        if self.places[id as usize] != NOWHERE {
            self.displace(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used()
    }
}
