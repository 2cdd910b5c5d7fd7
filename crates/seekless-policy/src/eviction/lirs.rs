//! LIRS: a page that was used twice at a short distance stays, however long ago that was.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;

/// The only list of the stack; its front is the most recent.
const STACK: usize = 0;
/// Resident pages outside the working set, by arrival or last use.
const COLD: usize = 0;
/// Ghosts, by eviction. All are in the stack.
const GHOSTS: usize = 1;
/// Pages outside the working set have a hundredth of the cache, as in the paper.
const COLD_SHARE: u64 = 100;

/// The status of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Unknown,
    /// In the working set: the paper's LIR block. Resident and in the stack.
    Low,
    /// The paper's resident HIR block, in the stack or not.
    Cold,
    /// The paper's non-resident HIR block, in the stack.
    Ghost,
}

/// LIRS, low inter-reference recency set (Jiang and Zhang, "LIRS: an efficient low inter-reference
/// recency set replacement policy to improve buffer cache performance", SIGMETRICS 2002), section
/// 3.
///
/// - **Idea:** the distance between the last two uses of a page (its inter-reference recency)
///   predicts the next better than the time since the last. A stack in order of use reaches down to
///   the oldest page of the working set (LIR). A page in the stack, resident or ghost, that is used
///   again has a smaller distance than that oldest page, and takes its place. All other pages (HIR)
///   pass through a queue of 1 % of the cache.
/// - **Cost per request:** O(1) amortised; pruning the stack takes off each entry once.
/// - **Memory:** 17 bytes an id; 25 once a weight other than 1 was seen.
/// - **Ghosts:** at most the capacity; the oldest ghost leaves first. The paper has no bound.
/// - **Shines** on loops and scans larger than the cache, block traces. **Fails** on pure recency
///   (a stack-like program) and when the working set changes: old LIR pages leave slowly.
///
/// The paper knows only pages. For files sizes are weights, and each step is repeated until it
/// fits. [`Use::FirstUse`] changes nothing. Cost is ignored. A hit keeps the weight that was
/// admitted.
#[derive(Clone, Debug)]
pub struct Lirs {
    capacity: u64,
    stack: Lists<1>,
    queues: Lists<2>,
    statuses: Vec<Status>,
    low_weight: u64,
    cold_weight: u64,
    /// A ghost weighs at least 1, so this bounds their number too.
    ghost_weight: u64,
    /// Whether an id was removed since the stack was pruned. Then its end may lie outside the
    /// working set.
    removed: bool,
    weights: Weights,
}

impl Lirs {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            stack: Lists::new(),
            queues: Lists::new(),
            statuses: Vec::new(),
            low_weight: 0,
            cold_weight: 0,
            ghost_weight: 0,
            removed: false,
            weights: Weights::new(),
        }
    }

    /// The largest weight of the working set.
    fn low_capacity(&self) -> u64 {
        self.capacity.saturating_sub((self.capacity / COLD_SHARE).max(1))
    }

    fn used(&self) -> u64 {
        self.low_weight + self.cold_weight
    }

    /// A use of a resident id.
    fn hit<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        let in_stack = self.stack.contains(id);
        match self.statuses[id as usize] {
            Status::Low => {
                let was_oldest = self.stack.back(STACK) == Some(id);
                self.stack.move_to_front(STACK, id);
                if was_oldest {
                    self.prune(pool);
                }
            }
            _ if in_stack => {
                self.displace(id);
                self.enter_low(id, pool);
            }
            _ => {
                self.stack.push_front(STACK, id);
                self.queues.move_to_front(COLD, id);
            }
        }
    }

    /// An unknown id joins the working set. The oldest pages leave the set until the new one fits.
    fn enter_low<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.stack.push_front(STACK, id);
        self.statuses[id as usize] = Status::Low;
        self.low_weight += self.weights.get(id);
        self.prune(pool); // the first of the working set ends the stack
        self.demote(pool);
    }

    /// An unknown id enters outside the working set.
    fn enter_cold(&mut self, id: Id) {
        self.stack.push_front(STACK, id);
        self.queue_cold(id);
    }

    fn queue_cold(&mut self, id: Id) {
        self.queues.push_front(COLD, id);
        self.statuses[id as usize] = Status::Cold;
        self.cold_weight += self.weights.get(id);
    }

    /// Moves the oldest pages out of the working set until it fits its share.
    fn demote<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.low_weight > self.low_capacity() {
            if !self.demote_one(pool) {
                return;
            }
        }
    }

    fn demote_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.prune(pool); // without a working set the stack has no end to speak of
        let Some(oldest) = self.stack.back(STACK) else { return false };
        self.displace(oldest);
        self.queue_cold(oldest);
        self.prune(pool);
        true
    }

    /// Cuts the stack below the oldest page of the working set. Pages there were used longer ago
    /// than any of the set.
    fn prune<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while let Some(oldest) = self.stack.back(STACK) {
            match self.statuses[oldest as usize] {
                Status::Low => return,
                Status::Ghost => self.forget(oldest, pool),
                _ => self.stack.unlink(oldest),
            }
        }
    }

    /// Prunes the stack after [`Eviction::remove`], which has no owner to notify of ghosts.
    #[inline]
    fn settle<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        if std::mem::take(&mut self.removed) {
            self.prune(pool);
        }
    }

    fn forget<P: Pool + ?Sized>(&mut self, ghost: Id, pool: &mut P) {
        self.displace(ghost);
        pool.forget(ghost);
    }

    fn trim_ghosts<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghost_weight > self.capacity {
            let Some(oldest) = self.queues.back(GHOSTS) else { return };
            self.forget(oldest, pool);
        }
    }

    /// Takes an id out of its lists. The caller prunes the stack if its end may have changed.
    fn displace(&mut self, id: Id) {
        let weight = self.weights.get(id);
        match self.statuses[id as usize] {
            Status::Unknown => return,
            Status::Low => self.low_weight -= weight,
            Status::Cold => self.cold_weight -= weight,
            Status::Ghost => self.ghost_weight -= weight.max(1),
        }
        if self.stack.contains(id) {
            self.stack.unlink(id);
        }
        if self.queues.contains(id) {
            self.queues.unlink(id);
        }
        self.statuses[id as usize] = Status::Unknown;
    }
}

impl Eviction for Lirs {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.statuses, ids, Status::Unknown);
        self.stack.grow(ids);
        self.queues.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.settle(pool);
        let Request { id, weight, kind, .. } = *request;
        let status = self.statuses[id as usize];
        if matches!(status, Status::Low | Status::Cold) {
            if kind != Use::FirstUse {
                self.hit(id, pool);
            }
            return Outcome::Hit;
        }
        if weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.displace(id);
        self.shrink_to(self.capacity - weight, pool);
        self.weights.set(id, weight);
        let fills = self.queues.is_empty(COLD) && self.low_weight + weight <= self.low_capacity();
        if fills || status == Status::Ghost {
            self.enter_low(id, pool);
        } else {
            self.enter_cold(id);
        }
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.settle(pool);
        if self.queues.is_empty(COLD) && !self.demote_one(pool) {
            return false;
        }
        let Some(victim) = self.queues.back(COLD) else { return false };
        let remembered = self.stack.contains(victim);
        if !remembered {
            self.displace(victim);
            pool.discard(victim);
            return true;
        }
        let weight = self.weights.get(victim);
        self.queues.unlink(victim);
        self.queues.push_front(GHOSTS, victim);
        self.statuses[victim as usize] = Status::Ghost;
        self.cold_weight -= weight;
        self.ghost_weight += weight.max(1);
        pool.evict(victim);
        self.trim_ghosts(pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.settle(pool);
        self.capacity = capacity;
        self.demote(pool);
        self.shrink_to(capacity, pool);
        self.trim_ghosts(pool);
    }

    fn remove(&mut self, id: Id) {
        self.displace(id);
        self.removed = true;
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        let status = self.statuses[id as usize];
        matches!(status, Status::Low | Status::Cold).then(|| self.weights.get(id))
    }

    fn reweigh(&mut self, request: &Request) {
        let sum = match self.statuses[request.id as usize] {
            Status::Low => &mut self.low_weight,
            Status::Cold => &mut self.cold_weight,
            Status::Ghost | Status::Unknown => return,
        };
        *sum = *sum - self.weights.get(request.id) + request.weight;
        self.weights.set(request.id, request.weight);
    }

    fn resident_weight(&self) -> u64 {
        self.used()
    }
}
