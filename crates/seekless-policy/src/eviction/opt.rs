//! OPT: the page whose next use is farthest leaves first. The owner gives it the future.

use super::{Eviction, Id, NEVER, Needs, Outcome, Pool, Request};
use crate::arrays::bits::BitTree;
use crate::arrays::column;
use crate::arrays::queues::Queues;

/// Positions of the trace that share a queue.
const QUEUE_POSITIONS: u64 = 64;
/// The queue of pages that are never used again.
const DONE: u32 = 0;
/// Most queues. Later positions share the last queue, which is then slow and still exact.
const QUEUES_MAX: u64 = 1 << 26;

/// The optimum for pages (Belady, "A study of replacement algorithms for a virtual-storage
/// computer", 1966, MIN; Mattson, Gecsei, Slutz and Traiger 1970, OPT).
///
/// - **Idea:** evict the page whose next use is farthest. No policy that must keep each page it
///   reads has fewer misses.
/// - **Bypass:** [`Opt::with_bypass`] may also leave the newcomer out, if its own next use is the
///   farthest. That is the bound for a cache that need not keep what it reads, such as a file cache
///   or a processor's cache.
/// - **Cost per request:** O(1) for traces up to 2^32 requests. Pages whose next uses lie within 64
///   positions share a queue. A tree of bits finds the last queue in a few steps, and at most 64
///   pages are looked at.
/// - **Memory:** 20 bytes an id, and for each 64 requests of the trace 8 bytes and a bit. No
///   ghosts.
/// - **Shines** as the bound that every report should show. **Fails** in practice: no real cache
///   knows the future.
///
/// Needs [`Request::next_use`], the position of the next request for the same page, and never
/// guesses it. All weights must be equal, whatever they are: the optimum for files of different
/// sizes is NP-hard, see [`BeladySize`](super::BeladySize).
/// Only pages without a next use can be equal; then the least recently used leaves first.
/// [`Use`](super::Use) and cost are ignored.
#[derive(Clone, Debug)]
pub struct Opt {
    capacity: u64,
    /// The number of resident pages.
    resident: u64,
    /// The weight of each.
    weight: u64,
    may_bypass: bool,
    /// Pages by next use, [`QUEUE_POSITIONS`] positions a queue after [`DONE`].
    queues: Queues,
    queue_limit: u32,
    /// Queues that hold pages.
    busy: BitTree,
    next_uses: Vec<u64>,
}

impl Opt {
    /// An empty cache of `capacity` units of weight that keeps each page it reads.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        let mut opt = Self {
            capacity,
            resident: 0,
            weight: 1,
            may_bypass: false,
            queues: Queues::new(),
            queue_limit: 0,
            busy: BitTree::new(),
            next_uses: Vec::new(),
        };
        opt.grow_queues(DONE);
        opt
    }

    /// An empty cache that leaves out a page whose next use is the farthest.
    #[must_use]
    pub fn with_bypass(capacity: u64) -> Self {
        Self { may_bypass: true, ..Self::new(capacity) }
    }

    fn grow_queues(&mut self, queue: u32) {
        if queue >= self.queue_limit {
            self.queue_limit = (queue + 1).next_power_of_two();
            self.queues.grow_queues(self.queue_limit);
            self.busy.grow(self.queue_limit as usize);
        }
    }

    /// Puts a page that is in no queue into the queue of its next use.
    #[inline]
    fn attach(&mut self, id: Id, next_use: u64) {
        let queue = if next_use == NEVER {
            DONE
        } else {
            (next_use / QUEUE_POSITIONS + 1).min(QUEUES_MAX) as u32
        };
        self.grow_queues(queue);
        self.next_uses[id as usize] = next_use;
        if self.queues.is_empty(queue) {
            self.busy.insert(queue as usize);
        }
        self.queues.push(queue, id);
    }

    #[inline]
    fn detach(&mut self, id: Id, queue: u32) {
        self.queues.unlink(id);
        if self.queues.is_empty(queue) {
            self.busy.remove(queue as usize);
        }
    }

    /// The page whose next use is farthest.
    #[inline]
    fn farthest(&self) -> Option<Id> {
        if let Some(done) = self.queues.oldest(DONE) {
            return Some(done);
        }
        let queue = self.busy.last()? as u32;
        let mut pages = self.queues.iter(queue);
        let mut farthest = pages.next()?;
        for id in pages {
            if self.next_uses[id as usize] > self.next_uses[farthest as usize] {
                farthest = id;
            }
        }
        Some(farthest)
    }

    #[inline]
    fn evict<P: Pool + ?Sized>(&mut self, victim: Id, pool: &mut P) {
        self.remove(victim);
        pool.discard(victim);
    }
}

impl Eviction for Opt {
    fn needs(&self) -> Needs {
        Needs { next_use: true, equal_weights: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.next_uses, ids, NEVER);
        self.queues.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, next_use, .. } = *request;
        if let Some(queue) = self.queues.queue_of(id) {
            self.detach(id, queue);
            self.attach(id, next_use);
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.weight = request.weight;
        if self.resident_weight() > self.capacity.saturating_sub(self.weight) {
            let Some(victim) = self.farthest() else { return Outcome::Bypassed };
            if self.may_bypass && next_use >= self.next_uses[victim as usize] {
                return Outcome::Bypassed;
            }
            self.evict(victim, pool);
        }
        self.resident += 1;
        self.attach(id, next_use);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.farthest() else {
            return false;
        };
        self.evict(victim, pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
    }

    fn remove(&mut self, id: Id) {
        if let Some(queue) = self.queues.queue_of(id) {
            self.detach(id, queue);
            self.resident -= 1;
        }
    }

    fn foresee(&mut self, id: Id, next_use: u64) {
        if let Some(queue) = self.queues.queue_of(id) {
            self.detach(id, queue);
            self.attach(id, next_use);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.resident * self.weight
    }
}
