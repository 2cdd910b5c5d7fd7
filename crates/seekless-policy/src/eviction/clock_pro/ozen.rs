//! CLOCK-Pro as Ozen's program has it: a second chance that skips pages, without lasting hot pages,
//! ghosts or adaptation.

use crate::arrays::column;
use crate::arrays::list::Lists;
use crate::eviction::{Eviction, Id, Needs, Outcome, Pool, Request, Use};

const ALL: usize = 0;
/// Holds a frame.
const RESIDENT: u8 = 1;
const HOT: u8 = 2;
/// On test.
const TEST: u8 = 4;
/// Read again since a hand saw it.
const REFERENCED: u8 = 8;

fn is_resident_cold(flags: u8) -> bool {
    flags & (RESIDENT | HOT) == RESIDENT
}

/// CLOCK-Pro as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// Its slips act together:
///
/// - Each promotion demotes one hot page at once, so there is no hot page between requests.
/// - The test hand is guarded by the number of hot pages. Once three quarters of the cache were
///   loaded, it ends each newcomer's test at its arrival, so there are no new ghosts.
/// - The cold hand steps twice after it removes its page, so one page is passed over. The exception
///   is a first step that leaves the end of the list.
///
/// The share of cold pages is fixed. Only a read hit sets the bit. [`ClockPro`](super::ClockPro) is
/// the algorithm.
///
/// Cost per request O(1) amortised; memory 9 bytes an id; at most as many ghosts as the capacity.
/// Pages only.
#[derive(Clone, Debug)]
pub struct ClockProOzen {
    capacity: u64,
    resident: u64,
    ghosts: u64,
    list: Lists<1>,
    flags: Vec<u8>,
    hot_hand: Option<Id>,
    cold_hand: Option<Id>,
    test_hand: Option<Id>,
    /// His four counters, which do not always count what their names say.
    counted_hot: u64,
    counted_cold: u64,
    counted_test: u64,
    counted_ghosts: u64,
}

impl ClockProOzen {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            resident: 0,
            ghosts: 0,
            list: Lists::new(),
            flags: Vec::new(),
            hot_hand: None,
            cold_hand: None,
            test_hand: None,
            counted_hot: 0,
            counted_cold: 0,
            counted_test: 0,
            counted_ghosts: 0,
        }
    }

    fn has(&self, id: Id, flag: u8) -> bool {
        self.flags[id as usize] & flag != 0
    }

    /// One step on the circle.
    fn step(&self, id: Id) -> Option<Id> {
        self.list.after(id).or(self.list.front(ALL))
    }

    /// The next page on the circle whose flags `wanted` accepts, possibly this one again; `None` if
    /// there is no such page.
    fn seek(&self, from: Id, wanted: impl Fn(u8) -> bool) -> Option<Id> {
        let mut at = self.step(from)?;
        while !wanted(self.flags[at as usize]) {
            if at == from {
                return None;
            }
            at = self.step(at)?;
        }
        Some(at)
    }

    fn next_hot(&mut self) {
        let hand = self.hot_hand.filter(|_| self.counted_hot > 0);
        self.hot_hand = hand.and_then(|at| self.seek(at, |flags| flags & HOT != 0));
    }

    fn next_cold(&mut self) {
        self.cold_hand = match self.cold_hand {
            _ if self.counted_cold == 0 => None,
            Some(hand) => self.seek(hand, is_resident_cold),
            None => self.first_cold(),
        };
    }

    /// The resident cold page nearest to the front of the list.
    fn first_cold(&self) -> Option<Id> {
        self.list.iter(ALL).find(|&id| is_resident_cold(self.flags[id as usize]))
    }

    /// Guarded by the number of hot pages instead of that of pages on test: the slip that ends
    /// tests early.
    fn next_test(&mut self) {
        let hand = self.test_hand.filter(|_| self.counted_hot > 0);
        self.test_hand = hand.and_then(|at| self.seek(at, |flags| flags & TEST != 0));
    }

    /// Puts a page before the hot hand, else last, with these flags.
    fn insert(&mut self, id: Id, flags: u8) {
        match self.hot_hand {
            Some(hand) => self.list.insert_before(hand, id),
            None => self.list.push_back(ALL, id),
        }
        self.flags[id as usize] = flags;
        if flags & HOT != 0 {
            self.hot_hand = self.hot_hand.or(Some(id));
            self.counted_hot += 1;
        } else {
            self.cold_hand = self.cold_hand.or(Some(id));
            self.counted_cold += 1;
        }
        if flags & TEST != 0 {
            self.test_hand = self.test_hand.or(Some(id));
            self.counted_test += 1;
        }
    }

    fn unlink(&mut self, id: Id) {
        if self.has(id, HOT) {
            self.counted_hot -= 1;
            if self.hot_hand == Some(id) {
                self.next_hot();
            }
        } else {
            self.counted_cold -= u64::from(self.has(id, RESIDENT));
            if self.cold_hand == Some(id) {
                self.next_cold();
            }
        }
        if self.has(id, TEST) {
            self.counted_test = self.counted_test.saturating_sub(1);
            if self.test_hand == Some(id) {
                self.next_test();
            }
        }
        self.list.unlink(id);
        self.flags[id as usize] = 0;
    }

    fn promote<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.insert(id, RESIDENT | HOT);
        self.move_hot(pool);
    }

    fn move_hot<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while let Some(page) = self.hot_hand {
            if self.has(page, REFERENCED) {
                self.flags[page as usize] &= !REFERENCED;
                self.next_hot();
                continue;
            }
            self.flags[page as usize] &= !(HOT | TEST);
            self.counted_hot -= 1;
            self.counted_cold += 1;
            self.next_hot();
            if self.counted_ghosts >= self.capacity {
                self.move_test(pool);
            }
            return;
        }
    }

    fn move_test<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        let Some(page) = self.test_hand else { return };
        self.flags[page as usize] &= !TEST;
        self.next_test();
        if !self.has(page, RESIDENT) {
            self.drop_ghost(page, pool);
        }
    }

    fn drop_ghost<P: Pool + ?Sized>(&mut self, ghost: Id, pool: &mut P) {
        self.unlink(ghost);
        self.counted_ghosts = self.counted_ghosts.saturating_sub(1);
        self.ghosts -= 1;
        pool.forget(ghost);
    }

    /// His program never has this many ghosts. They occur after a change of the capacity, which it
    /// does not have.
    fn trim_ghosts<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.ghosts > self.capacity {
            let ghost = self.list.iter(ALL).find(|&id| !self.has(id, RESIDENT));
            let Some(ghost) = ghost else { return };
            self.drop_ghost(ghost, pool);
        }
    }

    /// Looks at one cold page: true if it was evicted.
    fn move_cold<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(page) = self.cold_hand.or_else(|| self.first_cold()) else {
            return false;
        };
        self.cold_hand = Some(page);
        let on_test = self.has(page, TEST);
        let evicted = !self.has(page, REFERENCED);
        if !evicted {
            self.unlink(page);
            if on_test {
                self.promote(page, pool);
            } else {
                self.insert(page, RESIDENT);
            }
        } else {
            self.evict(page, on_test, pool);
        }
        self.next_cold();
        evicted
    }

    fn evict<P: Pool + ?Sized>(&mut self, page: Id, on_test: bool, pool: &mut P) {
        self.flags[page as usize] &= !RESIDENT;
        self.counted_cold -= 1;
        self.resident -= 1;
        pool.evict(page);
        if on_test {
            self.ghosts += 1;
            self.counted_ghosts += 1;
            self.trim_ghosts(pool);
            return;
        }
        // His hand takes this step along the list, not around the circle. Past the last entry it is
        // nowhere, and `next_cold` then stops at the first entry instead of passing over it.
        self.cold_hand = self.list.after(page);
        self.unlink(page);
        pool.forget(page);
    }

    fn miss<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        while self.resident >= self.capacity && self.resident > 0 {
            self.move_cold(pool);
        }
        self.resident += 1;
        if self.list.contains(id) {
            // His program does not decrement its count of ghosts here.
            self.unlink(id);
            self.ghosts -= 1;
            self.promote(id, pool);
            return;
        }
        self.insert(id, RESIDENT | TEST);
        if self.counted_cold + self.counted_test >= self.capacity + self.capacity / 2 {
            self.move_test(pool);
        }
    }
}

impl Eviction for ClockProOzen {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.flags, ids, 0);
        self.list.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let flags = &mut self.flags[request.id as usize];
        if *flags & RESIDENT != 0 {
            if request.kind == Use::Read {
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
        while self.resident > 0 {
            if self.move_cold(pool) {
                return true;
            }
        }
        false
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.resident > capacity && self.evict_one(pool) {}
        self.trim_ghosts(pool);
    }

    fn remove(&mut self, id: Id) {
        if self.list.contains(id) {
            let resident = self.has(id, RESIDENT);
            self.resident -= u64::from(resident);
            self.ghosts -= u64::from(!resident);
            self.unlink(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.resident
    }
}
