//! LFU-DA: LFU that ages, so that what was popular once does leave. And what it shares with GDSF: all but the worth of a use.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::radix::{Key, RadixQueue};
use crate::weights::Weights;
use std::marker::PhantomData;

/// The last use of an id that is not resident.
const ABSENT: u64 = u64::MAX;

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
/// when all weigh and cost 1). [`Use::FirstUse`] counts for nothing. Cost is ignored. A hit keeps the weight that was admitted.
/// Counts stop at 2^32.
pub type LfuDa = Aged<Uses>;

/// What a file is worth beyond the cache's age.
pub trait Worth {
    /// Of a file of this weight that was used so often, by a request of this cost.
    fn worth(count: u32, cost: u32, weight: u64) -> u128;
}

/// The worth of [`LfuDa`]: how often it was used.
#[derive(Clone, Copy, Debug)]
pub struct Uses;

impl Worth for Uses {
    #[inline]
    fn worth(count: u32, _cost: u32, _weight: u64) -> u128 {
        u128::from(count)
    }
}

/// What is known of an id: the paper's K, in two halves to keep the alignment at 8 bytes.
#[derive(Clone, Copy, Debug)]
struct Page {
    key: [u64; 2],
    /// Number of the request that used it last: ties go to the least recently used.
    last_use: u64,
    count: u32,
}

const UNSEEN: Page = Page { key: [0; 2], last_use: ABSENT, count: 0 };

impl Page {
    #[inline]
    fn new(key: u128, last_use: u64, count: u32) -> Self {
        Self { key: [(key >> 64) as u64, key as u64], last_use, count }
    }

    #[inline]
    fn number(&self) -> u128 {
        u128::from(self.key[0]) << 64 | u128::from(self.key[1])
    }

    /// None for an id that is not resident.
    #[inline]
    fn key(&self) -> Option<Key> {
        (self.last_use != ABSENT).then(|| (self.number(), self.last_use))
    }
}

/// A cache whose pages are worth what `W` says plus its age at their last use. See [`LfuDa`] and [`Gdsf`](super::Gdsf).
#[derive(Clone, Debug)]
pub struct Aged<W> {
    worth: PhantomData<W>,
    capacity: u64,
    used: u64,
    /// The key of the last victim.
    age: u128,
    requests: u64,
    pages: Vec<Page>,
    queue: RadixQueue,
    residents: usize,
    weights: Weights,
}

impl<W: Worth> Aged<W> {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            worth: PhantomData,
            capacity,
            used: 0,
            age: 0,
            requests: 0,
            pages: Vec::new(),
            queue: RadixQueue::new(),
            residents: 0,
            weights: Weights::new(),
        }
    }

    /// The paper's K of a page that is used now.
    #[inline]
    fn key(&self, count: u32, cost: u32, weight: u64) -> u128 {
        self.age.saturating_add(W::worth(count, cost, weight))
    }

    /// Its key never falls.
    #[inline]
    fn hit(&mut self, request: &Request) {
        let page = self.pages[request.id as usize];
        let count = page.count.saturating_add(1);
        let key = self.key(count, request.cost, self.weights.get(request.id));
        self.pages[request.id as usize] = Page::new(key.max(page.number()), self.requests, count);
    }

    #[inline]
    fn admit(&mut self, request: &Request) {
        let key = self.key(1, request.cost, request.weight);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.pages[request.id as usize] = Page::new(key, self.requests, 1);
        self.queue.push(request.id, (key, self.requests));
        self.residents += 1;
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.pages[id as usize].last_use = ABSENT;
        self.residents -= 1;
        self.used -= self.weights.get(id);
    }
}

impl<W: Worth> Eviction for Aged<W> {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.pages.len() {
            self.pages.resize(ids as usize, UNSEEN);
        }
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if self.pages[request.id as usize].last_use != ABSENT {
            if request.kind != Use::FirstUse {
                self.hit(request);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.admit(request);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let pages = &self.pages;
        let Some(((key, _), victim)) = self.queue.pop(|id| pages[id as usize].key()) else {
            return false;
        };
        self.age = key;
        self.leave(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    /// Entries of what was removed stay in the queue until there are more of them than residents.
    fn remove(&mut self, id: Id) {
        if self.pages[id as usize].last_use == ABSENT {
            return;
        }
        self.leave(id);
        if self.queue.len() > 2 * self.residents + 64 {
            let pages = &self.pages;
            self.queue.tidy(|id| pages[id as usize].key());
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
