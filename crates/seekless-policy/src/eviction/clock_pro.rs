//! CLOCK-Pro: LIRS with reference bits, and a share for cold pages that adapts.

mod ozen;

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::arrays::weights::Weights;
pub use ozen::ClockProOzen;

const ALL: usize = 0;
/// Holds a frame.
const RESIDENT: u8 = 1;
/// Reused within a shorter distance than the cold pages. Always resident.
const HOT: u8 = 2;
/// Hit since a hand saw it.
const REFERENCED: u8 = 4;

/// CLOCK-Pro (Jiang, Chen and Zhang, "CLOCK-Pro: an effective improvement of the CLOCK
/// replacement", USENIX ATC 2005).
///
/// - **Idea:** a page is hot if its reuse distance is short. A newcomer is cold and on *test*. If
///   it is used again before it is older than every hot page, it becomes hot, and the least
///   recently used hot page becomes cold. A page evicted on test stays as a ghost until its test
///   ends. Reuse within the test raises the share of cold pages; a test that ends without reuse
///   lowers it.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(1) amortised.
/// - **Memory:** 17 bytes an id; 25 once a weight other than 1 was seen.
/// - **Ghosts:** at most the capacity.
/// - **Shines** where LIRS does: loops larger than the cache, scans, weak locality, with hits as
///   cheap as CLOCK's. **Fails** where the hot pages change at once: it must see each new one
///   twice.
///
/// The paper's circle is a list here. Its back is the hot hand, its front is behind that, and a
/// hand that passes a page moves it to the front. Cold pages that are not on test need no place in
/// the list. They are only in the queue of resident cold pages, whose back is the cold hand. The
/// hot hand does not change their turn, as in LIRS. While the cache is not full pages enter hot, as
/// in LIRS. The share of cold pages starts at 1 %. The paper knows only pages. For files sizes are
/// weights: the share of cold files moves by the size of the file that was reused or was not, and
/// each step is repeated until it fits. [`Use::FirstUse`] sets no bit. Cost is ignored. Ozen's
/// program is different: [`ClockProOzen`].
#[derive(Clone, Debug)]
pub struct ClockPro {
    capacity: u64,
    /// The paper's m_c: the weight that cold pages may have.
    cold_target: u64,
    /// Hot pages, and cold pages on test, resident or not. The back is hot if there are hot pages.
    clock: Lists<1>,
    /// Resident cold pages.
    cold: Lists<1>,
    flags: Vec<u8>,
    /// How many there are. They may weigh nothing.
    hot_pages: u32,
    hot_weight: u64,
    cold_weight: u64,
    /// A ghost weighs at least 1, so this bounds their number too.
    ghost_weight: u64,
    weights: Weights,
    /// No page behind this one is on test.
    test_hand: Option<Id>,
}

impl ClockPro {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            cold_target: (capacity / 100).max(1),
            clock: Lists::new(),
            cold: Lists::new(),
            flags: Vec::new(),
            hot_pages: 0,
            hot_weight: 0,
            cold_weight: 0,
            ghost_weight: 0,
            weights: Weights::new(),
            test_hand: None,
        }
    }

    fn has(&self, id: Id, flag: u8) -> bool {
        self.flags[id as usize] & flag != 0
    }

    /// The weight that hot pages may have; that of one page where there is room for two.
    fn hot_target(&self) -> u64 {
        self.capacity.saturating_sub(self.cold_target)
    }

    /// A page was used again within its test.
    fn raise_cold_target(&mut self, page: Id) {
        let raised = self.cold_target.saturating_add(self.weights.get(page));
        self.cold_target = raised.min(self.capacity.saturating_sub(1)).max(1);
    }

    /// The test of a page ended without use.
    fn lower_cold_target(&mut self, page: Id) {
        self.cold_target = self.cold_target.saturating_sub(self.weights.get(page)).max(1);
    }

    fn take_from_clock(&mut self, id: Id) {
        if self.test_hand == Some(id) {
            self.test_hand = self.clock.before(id);
        }
        self.clock.unlink(id);
    }

    /// Moves a page to the front of the clock, or puts it there.
    fn pass(&mut self, id: Id) {
        if self.clock.contains(id) {
            self.take_from_clock(id);
        }
        self.clock.push_front(ALL, id);
        self.test_hand = self.test_hand.or(Some(id));
    }

    fn become_hot<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.pass(id);
        self.flags[id as usize] = RESIDENT | HOT;
        self.hot_pages += 1;
        self.hot_weight += self.weights.get(id);
        self.prune(pool);
        self.cool(pool);
    }

    /// Makes hot pages cold until the rest fits its share.
    fn cool<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.hot_weight > self.hot_target() && self.run_hot_hand(pool) {}
    }

    /// Makes the least recently used hot page cold; false if there is no hot page.
    fn run_hot_hand<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while self.hot_pages > 0 {
            // The page at the back may have been removed since.
            self.prune(pool);
            let Some(page) = self.clock.back(ALL) else { return false };
            if self.has(page, REFERENCED) {
                self.flags[page as usize] &= !REFERENCED;
                self.pass(page);
                continue;
            }
            self.take_from_clock(page);
            self.flags[page as usize] = RESIDENT;
            self.cold.push_front(ALL, page);
            self.hot_pages -= 1;
            self.hot_weight -= self.weights.get(page);
            self.cold_weight += self.weights.get(page);
            self.prune(pool);
            return true;
        }
        false
    }

    /// Brings a hot page to the back. A cold page older than every hot page has failed its test.
    fn prune<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.hot_pages > 0 {
            match self.clock.back(ALL) {
                Some(page) if !self.has(page, HOT) => self.end_test(page, pool),
                _ => return,
            }
        }
    }

    /// Ends the test of a cold page without reuse; a ghost is forgotten.
    fn end_test<P: Pool + ?Sized>(&mut self, page: Id, pool: &mut P) {
        self.take_from_clock(page);
        if !self.has(page, REFERENCED) {
            self.lower_cold_target(page);
        }
        if !self.has(page, RESIDENT) {
            self.ghost_weight -= self.weights.get(page).max(1);
            pool.forget(page);
        }
    }

    /// Ends the oldest tests until there are not too many ghosts.
    fn run_test_hand<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghost_weight > self.capacity {
            let Some(page) = self.test_hand else { return };
            if self.has(page, HOT) {
                self.test_hand = self.clock.before(page);
            } else {
                self.end_test(page, pool);
            }
        }
    }

    /// Evicts the first cold page that was not hit. Cold pages that were hit become hot if on test;
    /// the others start a new test.
    fn run_cold_hand<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        loop {
            if self.cold.is_empty(ALL) && !self.run_hot_hand(pool) {
                return false;
            }
            let Some(page) = self.cold.back(ALL) else { return false };
            let on_test = self.clock.contains(page);
            if !self.has(page, REFERENCED) {
                self.evict(page, on_test, pool);
                return true;
            }
            self.flags[page as usize] &= !REFERENCED;
            if on_test {
                self.cold.unlink(page);
                self.cold_weight -= self.weights.get(page);
                self.raise_cold_target(page);
                self.become_hot(page, pool);
            } else {
                self.cold.move_to_front(ALL, page);
                self.pass(page);
            }
        }
    }

    fn evict<P: Pool + ?Sized>(&mut self, page: Id, on_test: bool, pool: &mut P) {
        self.cold.unlink(page);
        self.cold_weight -= self.weights.get(page);
        self.flags[page as usize] = 0;
        pool.evict(page);
        if on_test {
            self.ghost_weight += self.weights.get(page).max(1);
            self.run_test_hand(pool);
        } else {
            pool.forget(page);
        }
    }

    fn miss<P: Pool + ?Sized>(&mut self, id: Id, weight: u64, pool: &mut P) {
        let was_on_test = self.clock.contains(id);
        if was_on_test {
            self.take_from_clock(id);
            self.ghost_weight -= self.weights.get(id).max(1);
        }
        self.weights.set(id, weight);
        if was_on_test {
            self.raise_cold_target(id);
        }
        let room = self.capacity - weight;
        let filling = self.resident_weight() <= room;
        while self.resident_weight() > room && self.run_cold_hand(pool) {}
        if was_on_test || (filling && self.hot_weight + weight <= self.hot_target()) {
            self.become_hot(id, pool);
            return;
        }
        self.flags[id as usize] = RESIDENT;
        self.cold.push_front(ALL, id);
        self.cold_weight += weight;
        self.pass(id);
    }
}

impl Eviction for ClockPro {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.flags, ids, 0);
        self.clock.grow(ids);
        self.cold.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let flags = &mut self.flags[request.id as usize];
        if *flags & RESIDENT != 0 {
            if request.kind != Use::FirstUse {
                *flags |= REFERENCED;
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.miss(request.id, request.weight, pool);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.run_cold_hand(pool)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        if self.resident_weight() == 0 && self.ghost_weight == 0 {
            self.cold_target = (capacity / 100).max(1);
        }
        self.capacity = capacity;
        self.cold_target = self.cold_target.min(capacity.saturating_sub(1)).max(1);
        self.cool(pool);
        while self.resident_weight() > capacity && self.run_cold_hand(pool) {}
        self.run_test_hand(pool);
    }

    fn remove(&mut self, id: Id) {
        let weight = self.weights.get(id);
        if self.clock.contains(id) {
            self.take_from_clock(id);
            if !self.has(id, RESIDENT) {
                self.ghost_weight -= weight.max(1);
            }
        }
        if self.cold.contains(id) {
            self.cold.unlink(id);
            self.cold_weight -= weight;
        }
        if self.has(id, HOT) {
            self.hot_pages -= 1;
            self.hot_weight -= weight;
        }
        self.flags[id as usize] = 0;
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.has(id, RESIDENT).then(|| self.weights.get(id))
    }

    fn reweigh(&mut self, request: &Request) {
        let Some(weight) = self.weight_of(request.id) else { return };
        let sum =
            if self.has(request.id, HOT) { &mut self.hot_weight } else { &mut self.cold_weight };
        *sum = *sum - weight + request.weight;
        self.weights.set(request.id, request.weight);
    }

    fn resident_weight(&self) -> u64 {
        self.hot_weight + self.cold_weight
    }
}
