//! GDSF: GreedyDual-Size with frequency; small, dear and often used files stay.

use super::{Eviction, Id, LfuDa, Needs, Outcome, Pool, Request, Use};
use crate::heap::IndexedHeap;
use crate::weights::Weights;

/// Keys are fixed-point numbers with this many binary places.
const KEY_BITS: u32 = 56;

/// Where a file stands in the queue to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// High and low half of the paper's K; two halves keep the alignment at 8 bytes.
    key: [u64; 2],
    /// Number of the request that used it last: ties go to the least recently used.
    last_use: u64,
}

impl Rank {
    fn new(key: u128, last_use: u64) -> Self {
        Self { key: [(key >> 64) as u64, key as u64], last_use }
    }

    fn key(self) -> u128 {
        u128::from(self.key[0]) << 64 | u128::from(self.key[1])
    }
}

/// GreedyDual-Size with frequency (Cherkasova, "Improving WWW proxies performance with greedy-dual-size-frequency caching
/// policy", 1998).
///
/// - **Idea:** K = L + uses × cost / weight, where L, the age of the cache, is the K of the last victim; the least K leaves.
/// - **Ties:** the least recently used leaves first. Fixed-point keys, so no rounding depends on the machine.
/// - **Cost per request:** a hit O(1) (the heap learns of the raised value when it reaches the root), a miss O(log n). While
///   every weight and cost is 1 it is [`LfuDa`] to the last victim, and runs as that.
/// - **Memory:** 32 bytes an id, 40 once a weight other than 1 was seen, and 32 a resident file; for pages as `LfuDa`. No
///   ghosts.
/// - **Shines** where requests count and sizes differ: web objects, assets. **Fails** on byte hit rates, and as LFU-DA does
///   where counts are small.
///
/// [`Use::FirstUse`] counts for nothing. A hit keeps the weight that was admitted and takes the request's cost; a key never
/// falls while its file is resident. Counts stop at 2^32.
#[derive(Clone, Debug)]
pub struct Gdsf {
    ids: u32,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Pages(LfuDa),
    Files(Files),
}

impl Gdsf {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { ids: 0, stage: Stage::Pages(LfuDa::new(capacity)) }
    }

    /// The first file that is no page: what is resident moves over with its keys. Once in a cache's life.
    #[cold]
    fn leave_pages(&mut self) {
        if let Stage::Pages(pages) = &self.stage {
            self.stage = Stage::Files(Files::from_pages(pages, self.ids));
        }
    }
}

/// Files of any weight and cost.
#[derive(Clone, Debug)]
struct Files {
    capacity: u64,
    used: u64,
    /// The key of the last victim.
    age: u128,
    requests: u64,
    ranks: Vec<Rank>,
    counts: Vec<u32>,
    queue: IndexedHeap<Rank>,
    weights: Weights,
}

impl Files {
    fn from_pages(pages: &LfuDa, ids: u32) -> Self {
        let mut files = Self {
            capacity: pages.capacity(),
            used: pages.resident_weight(),
            age: u128::from(pages.age()) << KEY_BITS,
            requests: pages.requests(),
            ranks: Vec::new(),
            counts: Vec::new(),
            queue: IndexedHeap::new(),
            weights: Weights::new(),
        };
        files.grow(ids);
        for id in 0..ids {
            if let Some((rank, count)) = pages.standing(id) {
                let rank = Rank::new(u128::from(rank.key) << KEY_BITS, rank.last_use);
                files.ranks[id as usize] = rank;
                files.counts[id as usize] = u32::try_from(count).unwrap_or(u32::MAX);
                files.queue.push(id, rank);
            }
        }
        files
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.ranks.len() {
            self.ranks.resize(ids as usize, Rank::default());
            self.counts.resize(ids as usize, 0);
        }
        self.queue.grow(ids);
        self.weights.grow(ids);
    }

    /// The paper's K. A weight of 0 counts as 1: it takes no room, yet must rank.
    #[inline]
    fn key(&self, count: u32, cost: u32, weight: u64) -> u128 {
        let credit = (u128::from(count) * u128::from(cost)) << KEY_BITS;
        let value = if weight <= 1 { credit } else { credit / u128::from(weight) };
        self.age.saturating_add(value)
    }

    fn hit(&mut self, request: &Request) {
        let at = request.id as usize;
        self.counts[at] = self.counts[at].saturating_add(1);
        let key = self.key(self.counts[at], request.cost, self.weights.get(request.id));
        self.ranks[at] = Rank::new(key.max(self.ranks[at].key()), self.requests);
    }

    fn admit(&mut self, request: &Request) {
        let at = request.id as usize;
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.counts[at] = 1;
        self.ranks[at] = Rank::new(self.key(1, request.cost, request.weight), self.requests);
        self.queue.push(request.id, self.ranks[at]);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if self.queue.contains(request.id) {
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

    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let ranks = &self.ranks;
        let Some((rank, victim)) = self.queue.settle_root(|id| ranks[id as usize]) else {
            return false;
        };
        self.age = rank.key();
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn remove(&mut self, id: Id) {
        if self.queue.remove(id) {
            self.used -= self.weights.get(id);
        }
    }
}

impl Eviction for Gdsf {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.ids = self.ids.max(ids);
        match &mut self.stage {
            Stage::Pages(pages) => pages.grow(ids),
            Stage::Files(files) => files.grow(ids),
        }
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if let Stage::Pages(pages) = &mut self.stage {
            if request.weight == 1 && request.cost == 1 {
                return pages.request(request, pool);
            }
            self.leave_pages();
        }
        match &mut self.stage {
            Stage::Pages(pages) => pages.request(request, pool),
            Stage::Files(files) => files.request(request, pool),
        }
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        match &mut self.stage {
            Stage::Pages(pages) => pages.evict_one(pool),
            Stage::Files(files) => files.evict_one(pool),
        }
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        match &mut self.stage {
            Stage::Pages(pages) => pages.set_capacity(capacity, pool),
            Stage::Files(files) => {
                files.capacity = capacity;
                files.make_room(0, pool);
            }
        }
    }

    fn remove(&mut self, id: Id) {
        match &mut self.stage {
            Stage::Pages(pages) => pages.remove(id),
            Stage::Files(files) => files.remove(id),
        }
    }

    fn resident_weight(&self) -> u64 {
        match &self.stage {
            Stage::Pages(pages) => pages.resident_weight(),
            Stage::Files(files) => files.used,
        }
    }
}
