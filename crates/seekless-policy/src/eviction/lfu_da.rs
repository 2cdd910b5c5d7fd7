//! LFU-DA: LFU that ages, so that what was popular once does leave.

use super::frequency::{Change, Frequencies};
use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::heap::IndexedHeap;
use crate::weights::Weights;

/// Where a page stands in the queue to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// The paper's K: how often it was used, plus the cache's age at its last use.
    pub(super) key: u64,
    /// Number of the request that used it last: ties go to the least recently used.
    pub(super) last_use: u64,
}

/// LFU with dynamic aging (Arlitt, Cherkasova, Dilley, Friedrich and Jin, "Evaluating content management techniques for web
/// proxy caches", 2000).
///
/// - **Idea:** a page's key is its count plus the age of the cache at its last use; the age is the key of the last victim. So
///   a newcomer starts level with what has just left, and old counts are worth less and less.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** a hit O(1), a miss O(log of the number of different counts): pages of one count leave in the order
///   of their last use, so a queue for each count and a heap of the queues' heads suffice.
/// - **Memory:** 28 bytes an id and at most 60 a resident page; 8 more an id once a weight other than 1 was seen. No ghosts.
/// - **Shines** on popularity that drifts. **Fails** as LFU does on loops, and is close to LRU where most counts are small.
///
/// libCacheSim 0.3.5's `LFUDA` differs from this by 0.0006 to 0.021 of miss ratio on CloudPhysics (0.8356 where this has
/// 0.8315), although its `GDSF`, which is this policy when all weigh 1, agrees with it: its keys are updated otherwise than
/// the paper says. None of 400 other update rules that were tried gives its figures.
///
/// Weights: the key ignores them; evicts until the newcomer fits ([`Gdsf`](super::Gdsf) divides by them, and is this policy
/// when all weigh and cost 1). [`Use::FirstUse`] counts for nothing. Cost is ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct LfuDa {
    capacity: u64,
    used: u64,
    /// The key of the last victim.
    age: u64,
    requests: u64,
    pages: Frequencies,
    ranks: Vec<Rank>,
    /// The classes of [`Frequencies`] by the rank of their oldest; ranks only rise, so the heap learns of that at its root.
    heads: IndexedHeap<Rank>,
    weights: Weights,
}

impl LfuDa {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            age: 0,
            requests: 0,
            pages: Frequencies::new(),
            ranks: Vec::new(),
            heads: IndexedHeap::new(),
            weights: Weights::new(),
        }
    }

    /// What [`Gdsf`](super::Gdsf) takes over when it meets a first file that is no page.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(super) fn age(&self) -> u64 {
        self.age
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Rank and count of a page, if it is resident.
    pub(super) fn standing(&self, id: Id) -> Option<(Rank, u64)> {
        self.pages.contains(id).then(|| (self.ranks[id as usize], self.pages.frequency(id)))
    }

    /// Ranks a page that was used, and tells the heap of classes that came and went.
    #[inline]
    fn rank(&mut self, id: Id, change: Change) {
        let rank = Rank { key: self.age + self.pages.frequency(id), last_use: self.requests };
        self.ranks[id as usize] = rank;
        self.end_class(change);
        if let Some(class) = change.created {
            self.heads.grow(self.pages.class_limit());
            self.heads.push(class, rank);
        }
    }

    #[inline]
    fn end_class(&mut self, change: Change) {
        if let Some(class) = change.ended {
            self.heads.remove(class);
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
}

impl Eviction for LfuDa {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.ranks.len() {
            self.ranks.resize(ids as usize, Rank::default());
        }
        self.pages.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if self.pages.contains(request.id) {
            if request.kind != Use::FirstUse {
                let change = self.pages.count(request.id);
                self.rank(request.id, change);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        let change = self.pages.admit(request.id);
        self.rank(request.id, change);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let (pages, ranks) = (&self.pages, &self.ranks);
        let head = |class| pages.oldest(class).map_or(Rank::default(), |id| ranks[id as usize]);
        let Some(victim) = self.heads.settle_root(head).and_then(|(_, class)| pages.oldest(class)) else {
            return false;
        };
        self.age = self.ranks[victim as usize].key;
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
        if self.pages.contains(id) {
            let change = self.pages.remove(id);
            self.end_class(change);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
