//! LFU-DA: LFU that ages, so that pages which were popular once do leave. And the part that it
//! shares with GDSF: all but the worth of a use.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::ranking::Ranking;
use crate::arrays::weights::Weights;
use std::marker::PhantomData;

/// LFU with dynamic aging (Arlitt, Cherkasova, Dilley, Friedrich and Jin, "Evaluating content
/// management techniques for web proxy caches", 2000).
///
/// - **Idea:** a page's key is its count plus the age of the cache at its last use. The age is the
///   key of the last victim. So a newcomer starts level with the last victim, and old counts lose
///   their worth.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** a hit O(1) and one cache line. A miss O(1) apart from the moves of a
///   radix heap, a few for each page.
/// - **Memory:** 32 bytes an id, 40 once a weight other than 1 was seen, and 4 to 20 a resident
///   page. No ghosts.
/// - **Shines** on popularity that drifts. **Fails** as LFU does on loops, and is close to LRU
///   where most counts are small.
///
/// libCacheSim 0.3.5's `LFUDA` is another policy. There a hit adds the age to the page's key,
/// instead of setting the key to count plus age. The age also rises when a hit takes the last page
/// of the least key. A model of that policy gives libCacheSim's figures for CloudPhysics at all
/// five sizes (0.8356, 0.8218, 0.8020, 0.7261, 0.6271). They differ from the figures of this policy
/// by 0.0006 to 0.021. libCacheSim's `GDSF` equals this policy when all weigh 1, and agrees with
/// it.
///
/// Weights: the key ignores them; evicts until the newcomer fits. [`Gdsf`](super::Gdsf) divides by
/// them, and equals this policy when every weight and cost is 1.
/// [`Use::FirstUse`](super::Use::FirstUse) does not count. Cost is ignored. A hit keeps the weight
/// that was admitted. Counts stop at 2^32.
pub type LfuDa = Aged<Uses>;

/// The worth of a file beyond the age of the cache.
pub trait Worth {
    /// The worth of a file of this weight, used `count` times, by a request of this cost.
    fn worth(count: u32, cost: u32, weight: u64) -> u128;
}

/// The worth of [`LfuDa`]: the number of uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses;

impl Worth for Uses {
    #[inline]
    fn worth(count: u32, _cost: u32, _weight: u64) -> u128 {
        u128::from(count)
    }
}

/// A cache that ranks pages by the worth that `W` gives them, plus the age of the cache at their
/// last use. See [`LfuDa`] and [`Gdsf`](super::Gdsf).
pub(super) type Aged<W> = Resident<AgedRule<W>>;

/// The rule of [`Aged`].
#[derive(Clone, Debug, Default)]
pub struct AgedRule<W> {
    worth: PhantomData<W>,
    /// The key of the last victim.
    age: u128,
    /// Pages by the paper's K; beside it their number of uses.
    ranking: Ranking<u32>,
    /// Stored here, since a hit needs them.
    weights: Weights,
}

impl<W: Worth> AgedRule<W> {
    /// The paper's K of a page that is used now.
    #[inline]
    fn key(&self, count: u32, cost: u32, weight: u64) -> u128 {
        self.age.saturating_add(W::worth(count, cost, weight))
    }
}

impl<W: Worth> Rule for AgedRule<W> {
    fn grow(&mut self, ids: u32) {
        self.ranking.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.ranking.contains(id)
    }

    /// The key of a page never falls.
    #[inline]
    fn hit(&mut self, request: &Request) {
        let (known, count) = self.ranking.get(request.id);
        let count = count.saturating_add(1);
        let key = self.key(count, request.cost, self.weights.get(request.id));
        self.ranking.raise(request.id, key.max(known), count);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        let key = self.key(1, request.cost, request.weight);
        self.weights.set(request.id, request.weight);
        self.ranking.insert(request.id, key, 1);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let (key, victim) = self.ranking.take_least()?;
        self.age = key;
        Some(victim)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.ranking.remove(id);
    }

    /// The key of a page that grows falls, to what its uses so far are worth now.
    fn reweigh(&mut self, request: &Request) {
        let (known, count) = self.ranking.get(request.id);
        self.weights.set(request.id, request.weight);
        let key = self.key(count, request.cost, request.weight);
        if key < known {
            self.ranking.lower(request.id, key, count);
        }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.weights.get(id))
    }
}
