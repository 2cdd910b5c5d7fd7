//! The part that S3-FIFO, QDLP and Clock2Q+ share: a small FIFO for probation, a large CLOCK, and
//! ghosts.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::segments::Segments;
use std::marker::PhantomData;

/// Resident, on probation.
const SMALL: usize = 0;
/// Resident, passed probation.
const MAIN: usize = 1;
/// Ghosts of ids that did not pass.
const GHOSTS: usize = 2;
/// So that percentages of it do not overflow.
const CAPACITY_MAX: u64 = u64::MAX / 256;
/// Shares are in millionths.
const WHOLE: u64 = 1_000_000;
/// A tenth.
const SMALL_SHARE: u64 = WHOLE / 10;

/// The parameters in which the policies differ. See [`S3Fifo`](super::S3Fifo),
/// [`Qdlp`](super::Qdlp) and [`Clock2QPlus`](super::Clock2QPlus).
pub trait Rules {
    /// The ghosts, in percent of the capacity.
    const GHOSTS_PERCENT: u64;
    /// The number of uses on probation with which an id passes.
    const PASS_AT: u8;
    /// The largest count of uses. The hand passes an id of the main queue that many times at most.
    const USES_MAX: u8;
    /// Whether newcomers for which the small queue has no room go to the main queue, until the
    /// first eviction.
    const FILLS_MAIN: bool;
    /// The newest part of the small queue in which uses do not count, in percent of it.
    const WINDOW_PERCENT: u64;
}

/// A small FIFO (a tenth of the cache), a main CLOCK for the rest, and ghosts, with the parameters
/// `R`. 10 bytes an id, 18 once a weight other than 1 was seen, 8 more with a correlation window.
#[derive(Clone, Debug)]
pub struct Probation<R> {
    rules: PhantomData<R>,
    capacity: u64,
    /// The room of the small queue, and that of the ghosts.
    small_room: u64,
    ghost_room: u64,
    /// Both in millionths of the capacity.
    small_share: u64,
    ghost_share: u64,
    /// The number of uses on probation with which an id passes.
    pass_at: u8,
    lists: Segments<3, 2>,
    /// The counted uses of each resident id.
    uses: Vec<u8>,
    /// The weight that had entered the small queue before each id, if there is a window.
    entered: Vec<u64>,
    /// The weight of all ids that ever entered the small queue.
    entered_in_all: u64,
    /// Whether anything had to leave yet.
    full: bool,
}

impl<R: Rules> Probation<R> {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_shares(capacity, SMALL_SHARE, R::GHOSTS_PERCENT * (WHOLE / 100), R::PASS_AT)
    }

    /// The same with a small queue of this share of the capacity, ghosts of so many capacities, and
    /// a number of uses with which an id passes.
    #[must_use]
    pub fn tuned(capacity: u64, small: f64, ghosts: f64, pass_at: u8) -> Self {
        let millionths = |share: f64| (share * WHOLE as f64).round() as u64;
        Self::with_shares(capacity, millionths(small).min(WHOLE), millionths(ghosts), pass_at)
    }

    fn with_shares(capacity: u64, small_share: u64, ghost_share: u64, pass_at: u8) -> Self {
        let mut policy = Self {
            rules: PhantomData,
            capacity: 0,
            small_room: 0,
            ghost_room: 0,
            small_share,
            ghost_share,
            pass_at,
            lists: Segments::new(),
            uses: Vec::new(),
            entered: Vec::new(),
            entered_in_all: 0,
            full: false,
        };
        policy.divide(capacity);
        policy
    }

    /// Divides a capacity.
    fn divide(&mut self, capacity: u64) {
        self.capacity = capacity.min(CAPACITY_MAX);
        let of = |share: u64| {
            let part = u128::from(self.capacity) * u128::from(share) / u128::from(WHOLE);
            part.try_into().unwrap_or(u64::MAX)
        };
        (self.small_room, self.ghost_room) = (of(self.small_share), of(self.ghost_share));
    }

    fn small_capacity(&self) -> u64 {
        self.small_room
    }

    fn ghost_capacity(&self) -> u64 {
        self.ghost_room
    }

    #[inline]
    fn hit(&mut self, id: Id, list: usize) {
        if R::WINDOW_PERCENT > 0 && list == SMALL && self.in_window(id) {
            return;
        }
        let uses = &mut self.uses[id as usize];
        *uses = (*uses + 1).min(R::USES_MAX);
    }

    /// Whether `id`, on probation, entered so recently that another use of it does not count yet.
    fn in_window(&self, id: Id) -> bool {
        let younger = self.entered_in_all - self.entered[id as usize];
        younger <= (self.small_capacity() * R::WINDOW_PERCENT).div_ceil(100)
    }

    fn admit(&mut self, request: &Request, was_ghost: bool) {
        let id = request.id;
        self.uses[id as usize] = 0;
        let with_it = self.lists.size(SMALL) + request.weight;
        let spills = R::FILLS_MAIN && !self.full && with_it > self.small_capacity();
        if was_ghost || spills {
            return self.lists.push(MAIN, id, request.weight);
        }
        if R::WINDOW_PERCENT > 0 {
            self.entered[id as usize] = self.entered_in_all;
            self.entered_in_all += request.weight;
        }
        self.lists.push(SMALL, id, request.weight);
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        let limit = self.capacity.saturating_sub(weight);
        self.full |= self.resident_weight() > limit;
        self.shrink_to(limit, pool);
    }

    /// Evicts the oldest id on probation that did not pass. Older ids, which passed, go to the main
    /// queue. False if all passed.
    fn evict_small<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(id) = self.lists.back(SMALL) {
            if self.uses[id as usize] >= self.pass_at {
                self.uses[id as usize] = 0;
                self.lists.move_to(MAIN, id);
                continue;
            }
            self.lists.move_to(GHOSTS, id);
            pool.evict(id);
            self.trim_ghosts(pool);
            return true;
        }
        false
    }

    /// Evicts the oldest unused id of the main queue. Older ids go round once more for each use.
    fn evict_main<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(id) = self.lists.back(MAIN) {
            let uses = &mut self.uses[id as usize];
            if *uses > 0 {
                *uses -= 1;
                self.lists.move_to(MAIN, id);
                continue;
            }
            self.lists.remove(id);
            pool.discard(id);
            return true;
        }
        false
    }

    fn trim_ghosts<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.lists.size(GHOSTS) > self.ghost_capacity() {
            let Some(ghost) = self.lists.pop(GHOSTS) else { return };
            pool.forget(ghost);
        }
    }
}

impl<R: Rules> Eviction for Probation<R> {
    fn grow(&mut self, ids: u32) {
        self.lists.grow(ids);
        column::grow(&mut self.uses, ids, 0);
        if R::WINDOW_PERCENT > 0 {
            column::grow(&mut self.entered, ids, 0);
        }
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let list = self.lists.list_of(request.id);
        if let Some(list @ (SMALL | MAIN)) = list {
            if request.kind != Use::FirstUse {
                self.hit(request.id, list);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.lists.remove(request.id); // from the ghosts
        self.make_room(request.weight, pool);
        self.admit(request, list.is_some());
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let small_first =
            self.lists.size(SMALL) >= self.small_capacity() || self.lists.is_empty(MAIN);
        (small_first && self.evict_small(pool)) || self.evict_main(pool) || self.evict_small(pool)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.divide(capacity);
        self.make_room(0, pool);
        self.trim_ghosts(pool);
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
