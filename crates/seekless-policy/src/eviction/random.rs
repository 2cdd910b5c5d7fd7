//! Random: any page may leave, each with the same chance.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::sample::{Draws, Members};

/// Seed of [`Random::new`].
const SEED: u64 = 1;

/// Uniform random eviction (Belady 1966, "RAND").
///
/// - **Idea:** it uses no history, so no pattern of requests can be its worst case on purpose.
/// - **Cost per request:** O(1); a hit reads one word.
/// - **Memory:** 4 bytes an id and 4 a resident page; 8 more an id once a weight other than 1 was
///   seen. No ghosts.
/// - **Shines** on loops a little larger than the cache, where LRU and FIFO miss every request.
///   **Fails** to keep popular pages longer than others.
///
/// Same seed, same victims. Weights: evicts until the newcomer fits, a heavy file with the same
/// chance as a light one. [`Use`](super::Use) and cost are ignored.
pub type Random = Resident<RandomRule>;

/// The rule of [`Random`].
#[derive(Clone, Debug)]
pub struct RandomRule {
    members: Members,
    draws: Draws,
}

impl Default for RandomRule {
    fn default() -> Self {
        Self { members: Members::new(), draws: Draws::new(SEED) }
    }
}

impl Random {
    /// An empty cache whose victims follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self::with_rule(capacity, RandomRule { draws: Draws::new(seed), ..RandomRule::default() })
    }
}

impl Rule for RandomRule {
    fn grow(&mut self, ids: u32) {
        self.members.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.members.contains(id)
    }

    #[inline]
    fn hit(&mut self, _request: &Request) {}

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.members.insert(request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.draws.pick(self.members.ids())
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.members.remove(id);
    }
}
