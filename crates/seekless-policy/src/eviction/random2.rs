//! Random2: of two pages drawn at random, the one unused for longer leaves.

mod ozen;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::sample::{Draws, Members};
use crate::weights::Weights;
pub use ozen::Random2Ozen;

/// Seed of [`Random2::new`].
const SEED: u64 = 2;

/// Power of two random choices (Mitzenmacher, Richa and Sitaraman 2000; for eviction Luu, "Caches: LRU v. random", 2014).
///
/// - **Idea:** random eviction cannot be fooled by loops, yet throws out hot pages; the older of two draws is rarely hot.
/// - **Cost per request:** O(1): a hit writes one number.
/// - **Memory:** 12 bytes an id and 4 a resident page; 8 more an id once a weight other than 1 was seen. No ghosts.
/// - **Shines** on loops a little larger than the cache, and where keeping an order is too dear. **Fails** against LRU
///   where recency is all there is.
///
/// The two draws differ unless only one page is resident. Same seed, same victims. Weights: evicts until the newcomer
/// fits, size has no part in it. [`Use::FirstUse`] does not count as use. Cost is ignored. Ozen's program evicts the
/// younger of the two: [`Random2Ozen`].
#[derive(Clone, Debug)]
pub struct Random2 {
    capacity: u64,
    used: u64,
    requests: u64,
    last_uses: Vec<u64>,
    members: Members,
    draws: Draws,
    weights: Weights,
}

impl Random2 {
    /// An empty cache of `capacity` units of weight, with the default seed.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_seed(capacity, SEED)
    }

    /// An empty cache whose victims follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self {
            capacity,
            used: 0,
            requests: 0,
            last_uses: Vec::new(),
            members: Members::new(),
            draws: Draws::new(seed),
            weights: Weights::new(),
        }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }

    /// The older of two different members, or the only one.
    #[inline]
    fn draw(&mut self) -> Option<Id> {
        let count = self.members.ids().len();
        if count < 2 {
            return self.members.ids().first().copied();
        }
        let first = self.draws.below(count);
        let second = (first + 1 + self.draws.below(count - 1)) % count;
        let (first, second) = (self.members.ids()[first], self.members.ids()[second]);
        let older = self.last_uses[first as usize] < self.last_uses[second as usize];
        Some(if older { first } else { second })
    }
}

impl Eviction for Random2 {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.last_uses.len() {
            self.last_uses.resize(ids as usize, 0);
        }
        self.members.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        self.requests += 1;
        if self.members.contains(id) {
            if request.kind != Use::FirstUse {
                self.last_uses[id as usize] = self.requests;
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(id, request.weight);
        self.last_uses[id as usize] = self.requests;
        self.members.insert(id);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.draw() else { return false };
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.members.remove(id) {
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
