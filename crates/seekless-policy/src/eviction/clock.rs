//! CLOCK: LRU's choice at FIFO's price, with one bit a page.

mod ozen;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;
use crate::weights::Weights;
pub use ozen::ClockOzen;

const ALL: usize = 0;

/// CLOCK, or second chance (Corbató, "A paging experiment with the Multics system", 1968).
///
/// - **Idea:** pages stand on a circle; a hit only sets a bit. The hand clears set bits as it passes and evicts the first
///   page whose bit is clear; the newcomer stands just behind the hand, so it is looked at last.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(1) amortised, since each bit cleared was set by a hit.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hits must be cheap and parallel; near LRU everywhere. **Fails** where LRU does: scans and loops.
///
/// Here the circle is a list whose back is the hand and whose front is just behind it. Weights: evicts until the newcomer
/// fits. [`Use::FirstUse`] does not set the bit. Cost is ignored. Ozen's program differs: [`ClockOzen`].
#[derive(Clone, Debug)]
pub struct Clock {
    capacity: u64,
    used: u64,
    circle: Lists<1>,
    referenced: Vec<bool>,
    weights: Weights,
    read_hits_only: bool,
}

impl Clock {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            circle: Lists::new(),
            referenced: Vec::new(),
            weights: Weights::new(),
            read_hits_only: false,
        }
    }

    /// Only a read hit sets the bit, as in Ozen's program; a page that is only written to looks unused.
    #[must_use]
    pub fn read_hits_only(capacity: u64) -> Self {
        Self { read_hits_only: true, ..Self::new(capacity) }
    }

    #[inline]
    fn counts(&self, kind: Use) -> bool {
        kind == Use::Read || (!self.read_hits_only && kind != Use::FirstUse)
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

impl Eviction for Clock {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.referenced.len() {
            self.referenced.resize(ids as usize, false);
        }
        self.circle.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.circle.contains(id) {
            if self.counts(request.kind) {
                self.referenced[id as usize] = true;
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(id, request.weight);
        self.referenced[id as usize] = false;
        self.circle.push_front(ALL, id);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(under_hand) = self.circle.back(ALL) {
            if std::mem::take(&mut self.referenced[under_hand as usize]) {
                self.circle.move_to_front(ALL, under_hand);
                continue;
            }
            self.remove(under_hand);
            pool.evict(under_hand);
            pool.forget(under_hand);
            return true;
        }
        false
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.circle.contains(id) {
            self.circle.unlink(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
