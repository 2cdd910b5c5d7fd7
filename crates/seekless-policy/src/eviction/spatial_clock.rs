//! Spatial clock: a clock whose hand moves over the device, not over time.

mod ozen;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::key_order::KeyOrder;
pub use ozen::SpatialClockOzen;

/// Sp.Clock (Kim, Ryu and Ramachandran, "What is a good buffer cache replacement scheme for mobile flash storage?",
/// SIGMETRICS 2012).
///
/// - **Idea:** CLOCK, but the pages stand on the circle in the order of their addresses, so that victims, and with them
///   the writes to the device, come in runs of neighbours.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(log n) to find its place, and amortised O(1) for the hand.
/// - **Memory:** 17 bytes an id and 16 to 32 a resident page. No ghosts.
/// - **Shines** where writes that are near each other are cheaper. **Fails** to favour the recent: a newcomer just before
///   the hand stays for a whole turn, one just after it leaves at once.
///
/// Needs keys that place neighbours together. The hand is at a page; when that page leaves, at the next. Pages only: it
/// refuses weights. [`Use::FirstUse`] does not set the bit. Cost is ignored. Ozen's program differs:
/// [`SpatialClockOzen`].
#[derive(Clone, Debug)]
pub struct SpatialClock {
    capacity: u64,
    used: u64,
    circle: KeyOrder,
    /// The page to look at next; none is the first of the circle.
    hand: Option<Id>,
    referenced: Vec<bool>,
}

impl SpatialClock {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, circle: KeyOrder::new(), hand: None, referenced: Vec::new() }
    }
}

impl Eviction for SpatialClock {
    fn needs(&self) -> Needs {
        Needs { neighbours: true, unit_weights: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.referenced.len() {
            self.referenced.resize(ids as usize, false);
        }
        self.circle.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.circle.contains(id) {
            if request.kind != Use::FirstUse {
                self.referenced[id as usize] = true;
            }
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        if self.used >= self.capacity {
            self.evict_one(pool);
        }
        self.used += 1;
        self.referenced[id as usize] = false;
        self.circle.insert(id, request.key);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(page) = self.hand.or(self.circle.first()) {
            self.hand = self.circle.after(page);
            if std::mem::take(&mut self.referenced[page as usize]) {
                continue;
            }
            self.remove(page);
            pool.evict(page);
            pool.forget(page);
            return true;
        }
        false
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.used > capacity && self.evict_one(pool) {}
    }

    fn remove(&mut self, id: Id) {
        if self.hand == Some(id) {
            self.hand = self.circle.after(id);
        }
        if self.circle.remove(id) {
            self.used -= 1;
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
