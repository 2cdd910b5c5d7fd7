//! MQ: a queue for each order of magnitude of use, and time limits after which pages sink.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;

/// The paper's m: queue k holds pages used 2^k to 2^(k+1) - 1 times, and the last queue all pages
/// used more often.
const QUEUES: usize = 8;
/// The paper's Qout: ghosts.
const OUT: usize = QUEUES;
const LISTS: usize = QUEUES + 1;
/// The weight of ghosts for each unit of capacity; the paper's choice.
const GHOSTS: u64 = 4;
/// The life time in [`Mq::new`], in requests for each page that the cache has room for.
const LIFE: u64 = 4;
/// The life time in [`Mq::fixed`], in requests.
const FIXED_LIFE: u64 = 10_000;
/// In no list.
const NOWHERE: u8 = u8::MAX;

/// Multi-queue (Zhou, Philbin and Li, "The multi-queue replacement algorithm for second level
/// buffer caches", USENIX 2001).
///
/// - **Idea:** below another cache reuse is far apart, and frequency says more than recency. Pages
///   stand in LRU queues by the logarithm of their count. A page that is not used within the life
///   time sinks one queue. Ghosts keep their counts.
/// - **Cost per request:** O(1): each request looks at the head of each queue once.
/// - **Memory:** 21 bytes an id; 29 once a weight other than 1 was seen.
/// - **Ghosts:** at most four times the capacity, as in the paper.
/// - **Shines** on second-level caches: servers below the cache of a client or a database.
///   **Fails** on bursts, whose counts rise fast and sink slowly.
///
/// The paper sets the life time to the peak temporal distance of the workload, which it measures.
/// In [`Mq::new`] it is four times the capacity, in requests. In [`Mq::fixed`] it is 10,000
/// requests at every capacity, libCacheSim's default; that reproduces its published figures on
/// CloudPhysics. A requested ghost leaves the list of ghosts before a victim enters it, so the
/// victim cannot push it out. For files sizes are weights, and the capacity in requests is the
/// number of files for which it has room at the mean size of those resident. [`Use::FirstUse`] does
/// not count. Cost is ignored.
#[derive(Clone, Debug)]
pub struct Mq {
    capacity: u64,
    /// Requests until a page sinks; `None` if that follows from the capacity.
    fixed_life: Option<u64>,
    /// The number of resident ids.
    resident: u32,
    resident_weight: u64,
    /// A ghost weighs at least 1, so this bounds their number too.
    ghost_weight: u64,
    weights: Weights,
    requests: u64,
    lists: Lists<LISTS>,
    /// Which list each id is in.
    places: Vec<u8>,
    counts: Vec<u32>,
    /// The request after which a page sinks.
    expiries: Vec<u64>,
}

impl Mq {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            fixed_life: None,
            resident: 0,
            resident_weight: 0,
            ghost_weight: 0,
            weights: Weights::new(),
            requests: 0,
            lists: Lists::new(),
            places: Vec::new(),
            counts: Vec::new(),
            expiries: Vec::new(),
        }
    }

    /// An empty cache of `capacity` units of weight whose life time is 10,000 requests.
    #[must_use]
    pub fn fixed(capacity: u64) -> Self {
        Self { fixed_life: Some(FIXED_LIFE), ..Self::new(capacity) }
    }

    /// Counts a use, and puts the page at the back of the queue for its count. `was_linked` says
    /// that it is in a queue or a ghost.
    #[inline]
    fn use_page(&mut self, id: Id, was_linked: bool) {
        let count = self.counts[id as usize].saturating_add(1);
        self.counts[id as usize] = count;
        self.place(id, (count.ilog2() as usize).min(QUEUES - 1), was_linked);
    }

    #[inline]
    fn place(&mut self, id: Id, queue: usize, was_linked: bool) {
        if was_linked {
            self.lists.move_to_front(queue, id);
        } else {
            self.lists.push_front(queue, id);
        }
        self.places[id as usize] = queue as u8;
        let life = self.fixed_life.unwrap_or_else(|| self.room_for().saturating_mul(LIFE));
        self.expiries[id as usize] = self.requests.saturating_add(life);
    }

    /// The number of ids for which the cache has room at the mean weight of those resident.
    #[inline]
    fn room_for(&self) -> u64 {
        let resident = u64::from(self.resident);
        if resident == self.resident_weight {
            return self.capacity;
        }
        let room = u128::from(self.capacity) * u128::from(resident);
        (room / u128::from(self.resident_weight.max(1))).try_into().unwrap_or(u64::MAX)
    }

    /// The paper's Adjust: the least recently used page of each queue sinks if its time is over.
    #[inline]
    fn adjust(&mut self) {
        for queue in 1..QUEUES {
            if let Some(oldest) = self.lists.back(queue)
                && self.expiries[oldest as usize] < self.requests
            {
                self.place(oldest, queue - 1, true);
            }
        }
    }

    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.resident_weight > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }

    /// Keeps the bound on ghosts.
    fn trim<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghost_weight > self.capacity.saturating_mul(GHOSTS) {
            let Some(ghost) = self.lists.back(OUT) else { return };
            self.remove(ghost);
            pool.forget(ghost);
        }
    }
}

impl Eviction for Mq {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.places, ids, NOWHERE);
        column::grow(&mut self.counts, ids, 0);
        column::grow(&mut self.expiries, ids, 0);
        self.lists.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        self.requests += 1;
        let place = self.places[id as usize];
        if (place as usize) < QUEUES {
            if request.kind != Use::FirstUse {
                self.use_page(id, true);
                self.adjust();
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        if place as usize == OUT {
            // Removed from the ghosts before the next victim enters them, which must not push out
            // this page's count.
            self.lists.unlink(id);
            self.ghost_weight -= self.weights.get(id).max(1);
        }
        self.make_room(request.weight, pool);
        self.use_page(id, false);
        self.weights.set(id, request.weight);
        self.resident += 1;
        self.resident_weight += request.weight;
        self.adjust();
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = (0..QUEUES).find_map(|queue| self.lists.back(queue)) else {
            return false;
        };
        self.lists.move_to_front(OUT, victim);
        self.places[victim as usize] = OUT as u8;
        let weight = self.weights.get(victim);
        self.resident -= 1;
        self.resident_weight -= weight;
        self.ghost_weight += weight.max(1);
        pool.evict(victim);
        self.trim(pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
        self.trim(pool);
    }

    fn remove(&mut self, id: Id) {
        let place = std::mem::replace(&mut self.places[id as usize], NOWHERE);
        if place == NOWHERE {
            return;
        }
        self.lists.unlink(id);
        self.counts[id as usize] = 0;
        let weight = self.weights.get(id);
        if place as usize == OUT {
            self.ghost_weight -= weight.max(1);
        } else {
            self.resident -= 1;
            self.resident_weight -= weight;
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        let is_resident = (self.places[id as usize] as usize) < QUEUES;
        is_resident.then(|| self.weights.get(id))
    }

    fn reweigh(&mut self, request: &Request) {
        let Some(weight) = self.weight_of(request.id) else { return };
        self.resident_weight = self.resident_weight - weight + request.weight;
        self.weights.set(request.id, request.weight);
    }

    fn resident_weight(&self) -> u64 {
        self.resident_weight
    }
}
