//! W-TinyLFU: a small LRU window, and a main part. A page enters the main part only if it is used
//! more often than the page that it replaces.

mod climber;
pub(super) mod sketch;

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;
use climber::Climber;
use sketch::Sketch;

/// The window, by last use.
const WINDOW: usize = 0;
/// In the main part, not used since it entered.
const PROBATION: usize = 1;
/// In the main part, used since it entered.
const PROTECTED: usize = 2;
/// In no list.
const NOWHERE: u8 = u8::MAX;
/// So that shares of it do not overflow.
const CAPACITY_MAX: u64 = u64::MAX / 256;

/// W-TinyLFU (Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy",
/// ACM Transactions on Storage 2017, section 4). Except in [`WTinyLfu::fixed`] it has the hill
/// climbing of its successor (Einziger, Eytan, Friedman and Manes, "Adaptive software cache
/// management", Middleware 2018).
///
/// - **Idea:** newcomers enter an LRU window, at first 1 % of the cache. A page that leaves it
///   competes with the next victim of the main part (a segmented LRU, 80 % protected). The one with
///   the larger count in a frequency sketch stays. Every ten requests for each object the counts
///   are halved, and the window grows or shrinks by the change of the hit ratio.
/// - **Cost per request:** O(1) amortised, one cache line of the sketch.
/// - **Memory:** 17 bytes an id, 25 once a weight other than 1 was seen. The sketch takes 8 to 16
///   bytes a resident object; objects bound it, never bytes. No ghosts: the sketch remembers,
///   without names.
/// - **Shines** on skewed popularity; with climbing also on recency. **Fails** on loops, where all
///   counts are equal and the resident pages stay. Adapting takes tens of thousands of requests.
///
/// Weights: shares of the cache are weights; an object competes with one victim at a time. An
/// object heavier than the window competes at once, and may be bypassed. Keys of the sketch are
/// [`Request::key`], so a reused number inherits nothing. [`Use::FirstUse`] counts nothing and
/// promotes nothing. Cost is ignored. A hit keeps the weight that was admitted.
///
/// Caffeine also admits one warm loser in 128 at random, against adversaries; this policy does not.
/// libCacheSim 0.3.5's `WTinyLFU` is another policy: window hits do not count, its filter of fixed
/// size fills up, and counts are hardly ever halved. On CloudPhysics it misses 0.013 more to 0.038
/// less often, as a model of it explains (docs/reference/differences.md).
#[derive(Clone, Debug)]
pub struct WTinyLfu {
    capacity: u64,
    /// The largest weight of the window.
    window: u64,
    climber: Option<Climber>,
    sketch: Sketch,
    lists: Lists<3>,
    places: Vec<u8>,
    keys: Vec<u64>,
    sizes: [u64; 3],
    residents: u64,
    weights: Weights,
}

impl WTinyLfu {
    /// An empty cache of `capacity` units of weight, with a window that adapts.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { climber: Some(Climber::new()), ..Self::fixed(capacity) }
    }

    /// The same with a window that is always 1 %.
    #[must_use]
    pub fn fixed(capacity: u64) -> Self {
        let capacity = capacity.min(CAPACITY_MAX);
        Self {
            capacity,
            window: first_window(capacity),
            climber: None,
            sketch: Sketch::new(),
            lists: Lists::new(),
            places: Vec::new(),
            keys: Vec::new(),
            sizes: [0; 3],
            residents: 0,
            weights: Weights::new(),
        }
    }

    fn used(&self) -> u64 {
        self.sizes.iter().sum()
    }

    fn protected_capacity(&self) -> u64 {
        (self.capacity - self.window) * 4 / 5
    }

    #[inline]
    fn place(&mut self, list: usize, id: Id) {
        self.lists.push_front(list, id);
        self.places[id as usize] = list as u8;
        self.sizes[list] += self.weights.get(id);
    }

    #[inline]
    fn displace(&mut self, id: Id) {
        let list = self.places[id as usize] as usize;
        self.lists.unlink(id);
        self.places[id as usize] = NOWHERE;
        self.sizes[list] -= self.weights.get(id);
    }

    #[inline]
    fn hit(&mut self, id: Id, list: usize) {
        if list != PROBATION {
            return self.lists.move_to_front(list, id);
        }
        self.displace(id);
        self.place(PROTECTED, id);
        self.demote_protected();
    }

    fn demote_protected(&mut self) {
        while self.sizes[PROTECTED] > self.protected_capacity() {
            let Some(oldest) = self.lists.back(PROTECTED) else { return };
            self.displace(oldest);
            self.place(PROBATION, oldest);
        }
    }

    /// Counts a request in the sketch and the climber.
    #[inline]
    fn count(&mut self, request: &Request, hit: bool) {
        if request.kind == Use::FirstUse {
            return;
        }
        self.sketch.add(request.key);
        let sample = self.sketch.sample();
        if let Some(share) = self.climber.as_mut().and_then(|climber| climber.request(hit, sample))
        {
            self.resize_window(share);
        }
    }

    /// Grows or shrinks the window by a share of the capacity, and moves pages to the side on which
    /// they then belong. Evicts nothing.
    fn resize_window(&mut self, share: f64) {
        let change = (share.abs() * self.capacity as f64) as u64;
        let least = first_window(self.capacity).min(1);
        self.window = match share > 0.0 {
            true => (self.window + change).min(self.capacity - self.capacity / 5),
            false => self.window.saturating_sub(change).max(least),
        };
        self.demote_protected();
        let main = self.capacity - self.window;
        while self.sizes[PROBATION] + self.sizes[PROTECTED] > main {
            let Some(oldest) = self.main_victim() else { break };
            self.displace(oldest);
            self.place(WINDOW, oldest);
        }
        self.drain_window();
    }

    /// Moves the oldest pages of the window to the main part until the window fits its share.
    #[inline]
    fn drain_window(&mut self) {
        while self.sizes[WINDOW] > self.window {
            let Some(oldest) = self.lists.back(WINDOW) else { return };
            self.displace(oldest);
            self.place(PROBATION, oldest);
        }
    }

    fn main_victim(&self) -> Option<Id> {
        self.lists.back(PROBATION).or_else(|| self.lists.back(PROTECTED))
    }

    fn frequency(&self, id: Id) -> u64 {
        self.sketch.estimate(self.keys[id as usize])
    }

    fn evict<P: Pool + ?Sized>(&mut self, victim: Id, pool: &mut P) {
        self.remove(victim);
        pool.discard(victim);
    }

    /// Makes room for a newcomer that fits the window: the oldest page of the window competes.
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used() > self.capacity.saturating_sub(weight) {
            let window_overflows = self.sizes[WINDOW] + weight > self.window;
            let candidate = if window_overflows { self.lists.back(WINDOW) } else { None };
            match (candidate, self.main_victim()) {
                (Some(candidate), Some(victim))
                    if self.frequency(candidate) > self.frequency(victim) =>
                {
                    self.evict(victim, pool);
                    self.displace(candidate);
                    self.place(PROBATION, candidate);
                }
                (Some(loser), _) | (None, Some(loser)) => self.evict(loser, pool),
                (None, None) => match self.lists.back(WINDOW) {
                    Some(oldest) => self.evict(oldest, pool),
                    None => return,
                },
            }
        }
    }

    /// Makes room for a newcomer that is heavier than the window; false if it loses.
    fn compete<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> bool {
        let frequency = self.sketch.estimate(request.key);
        while self.used() > self.capacity - request.weight {
            let Some(victim) = self.main_victim().or_else(|| self.lists.back(WINDOW)) else {
                return true;
            };
            if frequency <= self.frequency(victim) {
                return false;
            }
            self.evict(victim, pool);
        }
        true
    }
}

/// The window at first: 1 %, at least 1.
fn first_window(capacity: u64) -> u64 {
    (capacity / 100).max(1).min(capacity)
}

impl Eviction for WTinyLfu {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.places, ids, NOWHERE);
        column::grow(&mut self.keys, ids, 0);
        self.lists.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, kind, .. } = *request;
        let place = self.places[id as usize];
        self.count(request, place != NOWHERE);
        if place != NOWHERE {
            if kind != Use::FirstUse {
                let list = self.places[id as usize] as usize;
                self.hit(id, list);
            }
            return Outcome::Hit;
        }
        if weight > self.capacity {
            return Outcome::Bypassed;
        }
        if weight > self.window {
            if !self.compete(request, pool) {
                return Outcome::Bypassed;
            }
        } else {
            self.make_room(weight, pool);
        }
        self.weights.set(id, weight);
        self.keys[id as usize] = request.key;
        self.place(if weight > self.window { PROBATION } else { WINDOW }, id);
        self.residents += 1;
        self.sketch.fit(self.residents);
        self.drain_window();
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.main_victim().or_else(|| self.lists.back(WINDOW)) else {
            return false;
        };
        self.evict(victim, pool);
        true
    }

    /// The window keeps its share of the cache.
    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        let capacity = capacity.min(CAPACITY_MAX);
        let scaled =
            u128::from(self.window) * u128::from(capacity) / u128::from(self.capacity.max(1));
        self.window = (scaled as u64).max(first_window(capacity)).min(capacity);
        self.capacity = capacity;
        while self.used() > self.capacity {
            if !self.evict_one(pool) {
                break;
            }
        }
        self.demote_protected();
        self.drain_window();
    }

    fn remove(&mut self, id: Id) {
        if self.places[id as usize] != NOWHERE {
            self.displace(id);
            self.residents -= 1;
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        (self.places[id as usize] != NOWHERE).then(|| self.weights.get(id))
    }

    fn reweigh(&mut self, request: &Request) {
        let place = self.places[request.id as usize];
        if place != NOWHERE {
            let size = &mut self.sizes[place as usize];
            *size = *size - self.weights.get(request.id) + request.weight;
            self.weights.set(request.id, request.weight);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used()
    }
}
