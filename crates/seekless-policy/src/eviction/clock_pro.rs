//! CLOCK-Pro: LIRS with reference bits, and a share for cold pages that adapts.

mod ozen;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::column;
use crate::list::Lists;
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
/// - **Memory:** 17 bytes an id.
/// - **Ghosts:** at most as many as the capacity.
/// - **Shines** where LIRS does: loops larger than the cache, scans, weak locality, with hits as
///   cheap as CLOCK's. **Fails** where the hot pages change at once: it must see each new one
///   twice.
///
/// The paper's circle is a list here. Its back is the hot hand, its front is behind that, and a
/// hand that passes a page moves it to the front. Cold pages that are not on test need no place in
/// the list. They are only in the queue of resident cold pages, whose back is the cold hand. The
/// hot hand does not change their turn, as in LIRS. While the cache is not full pages enter hot, as
/// in LIRS. The share of cold pages starts at 1 %. Pages only: it refuses weights.
/// [`Use::FirstUse`] sets no bit. Cost is ignored. Ozen's program is different: [`ClockProOzen`].
#[derive(Clone, Debug)]
pub struct ClockPro {
    capacity: u64,
    /// The paper's m_c: frames for cold pages.
    cold_target: u64,
    /// Hot pages, and cold pages on test, resident or not. The back is hot if there are hot pages.
    clock: Lists<1>,
    /// Resident cold pages.
    cold: Lists<1>,
    flags: Vec<u8>,
    hot_pages: u64,
    cold_pages: u64,
    ghosts: u64,
    /// No page behind this one is on test.
    test_hand: Option<Id>,
}

impl ClockPro {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            cold_target: (capacity / 100).max(1),
            clock: Lists::new(),
            cold: Lists::new(),
            flags: Vec::new(),
            hot_pages: 0,
            cold_pages: 0,
            ghosts: 0,
            test_hand: None,
        }
    }

    fn has(&self, id: Id, flag: u8) -> bool {
        self.flags[id as usize] & flag != 0
    }

    /// Frames for hot pages; at least one where there are two frames.
    fn hot_target(&self) -> u64 {
        self.capacity.saturating_sub(self.cold_target)
    }

    fn raise_cold_target(&mut self) {
        self.cold_target = (self.cold_target + 1).min(self.capacity.saturating_sub(1)).max(1);
    }

    fn lower_cold_target(&mut self) {
        self.cold_target = self.cold_target.saturating_sub(1).max(1);
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
        self.prune(pool);
        while self.hot_pages > self.hot_target() && self.run_hot_hand(pool) {}
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
            self.cold_pages += 1;
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
            self.lower_cold_target();
        }
        if !self.has(page, RESIDENT) {
            self.ghosts -= 1;
            pool.forget(page);
        }
    }

    /// Ends the oldest tests until there are not too many ghosts.
    fn run_test_hand<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghosts > self.capacity {
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
            if self.cold_pages == 0 && !self.run_hot_hand(pool) {
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
                self.cold_pages -= 1;
                self.raise_cold_target();
                self.become_hot(page, pool);
            } else {
                self.cold.move_to_front(ALL, page);
                self.pass(page);
            }
        }
    }

    fn evict<P: Pool + ?Sized>(&mut self, page: Id, on_test: bool, pool: &mut P) {
        self.cold.unlink(page);
        self.cold_pages -= 1;
        self.flags[page as usize] = 0;
        pool.evict(page);
        if on_test {
            self.ghosts += 1;
            self.run_test_hand(pool);
        } else {
            pool.forget(page);
        }
    }

    fn miss<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        let was_on_test = self.clock.contains(id);
        if was_on_test {
            self.take_from_clock(id);
            self.ghosts -= 1;
            self.raise_cold_target();
        }
        let filling = self.resident_weight() < self.capacity;
        while self.resident_weight() >= self.capacity && self.run_cold_hand(pool) {}
        if was_on_test || (filling && self.hot_pages < self.hot_target()) {
            self.become_hot(id, pool);
            return;
        }
        self.flags[id as usize] = RESIDENT;
        self.cold.push_front(ALL, id);
        self.cold_pages += 1;
        self.pass(id);
    }
}

impl Eviction for ClockPro {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.flags, ids, 0);
        self.clock.grow(ids);
        self.cold.grow(ids);
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
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        self.miss(request.id, pool);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.run_cold_hand(pool)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        if self.resident_weight() == 0 && self.ghosts == 0 {
            self.cold_target = (capacity / 100).max(1);
        }
        self.capacity = capacity;
        self.cold_target = self.cold_target.min(capacity.saturating_sub(1)).max(1);
        while self.hot_pages > self.hot_target() && self.run_hot_hand(pool) {}
        while self.resident_weight() > capacity && self.run_cold_hand(pool) {}
        self.run_test_hand(pool);
    }

    fn remove(&mut self, id: Id) {
        if self.clock.contains(id) {
            self.take_from_clock(id);
            self.ghosts -= u64::from(!self.has(id, RESIDENT));
        }
        if self.cold.contains(id) {
            self.cold.unlink(id);
            self.cold_pages -= 1;
        }
        self.hot_pages -= u64::from(self.has(id, HOT));
        self.flags[id as usize] = 0;
    }

    fn resident_weight(&self) -> u64 {
        self.hot_pages + self.cold_pages
    }
}
