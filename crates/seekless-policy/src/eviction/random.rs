//! Random: any page may leave, each with the same chance.

use super::{Eviction, Id, Needs, Outcome, Pool, Request};
use crate::sample::{Draws, Members};
use crate::weights::Weights;

/// Seed of [`Random::new`].
const SEED: u64 = 1;

/// Uniform random eviction (Belady 1966, "RAND").
///
/// - **Idea:** no history at all, so no pattern can defeat it on purpose.
/// - **Cost per request:** O(1); a hit reads one word.
/// - **Memory:** 4 bytes an id and 4 a resident page; 8 more an id once a weight other than 1 was seen. No ghosts.
/// - **Shines** on loops a little larger than the cache, where LRU and FIFO miss every request. **Fails** to keep what is
///   popular any longer than the rest.
///
/// Same seed, same victims. Weights: evicts until the newcomer fits, a heavy file with the same chance as a light one.
/// [`Use`](super::Use) and cost are ignored.
#[derive(Clone, Debug)]
pub struct Random {
    capacity: u64,
    used: u64,
    members: Members,
    draws: Draws,
    weights: Weights,
}

impl Random {
    /// An empty cache of `capacity` units of weight, with the default seed.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_seed(capacity, SEED)
    }

    /// An empty cache whose victims follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self { capacity, used: 0, members: Members::new(), draws: Draws::new(seed), weights: Weights::new() }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

impl Eviction for Random {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.members.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if self.members.contains(request.id) {
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.members.insert(request.id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.draws.pick(self.members.ids()) else {
            return false;
        };
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
