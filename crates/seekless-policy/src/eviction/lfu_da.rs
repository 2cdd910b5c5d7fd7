//! LFU-DA: LFU that ages, so that what was popular once does leave. And what it shares with GDSF: all but the worth of a use.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::ranking::Ranking;
use crate::weights::Weights;
use std::marker::PhantomData;

/// LFU with dynamic aging (Arlitt, Cherkasova, Dilley, Friedrich and Jin, "Evaluating content management techniques for web
/// proxy caches", 2000).
///
/// - **Idea:** a page's key is its count plus the age of the cache at its last use; the age is the key of the last victim. So
///   a newcomer starts level with what has just left, and old counts are worth less and less.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** a hit O(1) and one cache line; a miss O(1) but for the moves of a radix heap, a few for each page:
///   the least key never falls, and what rises is noticed when it is met.
/// - **Memory:** 32 bytes an id, 40 once a weight other than 1 was seen, and 4 to 20 a resident page. No ghosts.
/// - **Shines** on popularity that drifts. **Fails** as LFU does on loops, and is close to LRU where most counts are small.
///
/// libCacheSim 0.3.5's `LFUDA` is another policy: a hit there adds the age to the page's key instead of setting it to count
/// plus age, and the age also rises when a hit takes the last page of the least key. A model of that gives its figures for
/// CloudPhysics at all five sizes (0.8356, 0.8218, 0.8020, 0.7261, 0.6271), which differ from these by 0.0006 to 0.021; its
/// `GDSF`, which is this policy when all weigh 1, agrees with this one.
///
/// Weights: the key ignores them; evicts until the newcomer fits ([`Gdsf`](super::Gdsf) divides by them, and is this policy
/// when all weigh and cost 1). [`Use::FirstUse`](super::Use::FirstUse) counts for nothing. Cost is ignored. A hit keeps the weight that was admitted.
/// Counts stop at 2^32.
pub type LfuDa = Aged<Uses>;

/// What a file is worth beyond the cache's age.
pub trait Worth {
    /// Of a file of this weight that was used so often, by a request of this cost.
    fn worth(count: u32, cost: u32, weight: u64) -> u128;
}

/// The worth of [`LfuDa`]: how often it was used.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses;

impl Worth for Uses {
    #[inline]
    fn worth(count: u32, _cost: u32, _weight: u64) -> u128 {
        u128::from(count)
    }
}

/// A cache whose pages are worth what `W` says plus its age at their last use. See [`LfuDa`] and [`Gdsf`](super::Gdsf).
pub type Aged<W> = Resident<AgedRule<W>>;

/// The rule of [`Aged`].
#[derive(Clone, Debug, Default)]
pub struct AgedRule<W> {
    worth: PhantomData<W>,
    /// The key of the last victim.
    age: u128,
    /// Pages by the paper's K, and beside it how often each was used.
    ranking: Ranking<u32>,
    /// Kept here since a hit needs them.
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

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.weights.get(id))
    }
}
