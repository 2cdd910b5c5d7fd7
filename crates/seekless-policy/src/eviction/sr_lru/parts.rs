//! The parts of SR-LRU, their limits and their history: shared with Cacheus.

use crate::arrays::column;
use crate::arrays::segments::Segments;
use crate::eviction::{Id, Request};

/// The scan-resistant part, which newcomers enter.
const SCAN: usize = 0;
/// The part for pages that were used again.
const REUSE: usize = 1;
/// Ghosts, the newest in front.
const HISTORY: usize = 2;

/// Marks of a page: it never had a hit; it came from the part for reuse.
const NEW: u8 = 1;
const DEMOTED: u8 = 2;

/// Whose rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::eviction) enum Form {
    /// The paper's.
    Paper,
    /// Those of libCacheSim 0.3.5. Each part begins with half of the capacity, and is full by
    /// itself. It loses the marks of a page that moves to the part for reuse, so that the
    /// scan-resistant part never shrinks. It never takes a page off the number of new ghosts.
    /// Limits move by at least 1 byte, whatever the size.
    Program,
}

/// Both parts and the history.
#[derive(Clone, Debug)]
pub(in crate::eviction) struct Parts {
    form: Form,
    capacity: u64,
    /// The most that each part may hold.
    scan_room: u64,
    reuse_room: u64,
    pages: Segments<3, 2>,
    marks: Vec<u8>,
    /// Demoted pages in the scan-resistant part, and new ones in the history.
    demoted: u64,
    new: u64,
}

impl Parts {
    pub(in crate::eviction) fn new(capacity: u64, form: Form) -> Self {
        let (scan_room, reuse_room) = match form {
            Form::Paper => (first_room(capacity), capacity - first_room(capacity)),
            Form::Program => (capacity / 2, capacity / 2),
        };
        Self {
            form,
            capacity,
            scan_room,
            reuse_room,
            pages: Segments::new(),
            marks: Vec::new(),
            demoted: 0,
            new: 0,
        }
    }

    pub(in crate::eviction) fn grow(&mut self, ids: u32) {
        self.pages.grow(ids);
        column::grow(&mut self.marks, ids, 0);
    }

    #[inline]
    pub(in crate::eviction) fn capacity(&self) -> u64 {
        self.capacity
    }

    #[inline]
    pub(in crate::eviction) fn is_resident(&self, id: Id) -> bool {
        self.pages.list_of(id).is_some_and(|list| list != HISTORY)
    }

    #[inline]
    pub(in crate::eviction) fn is_ghost(&self, id: Id) -> bool {
        self.pages.list_of(id) == Some(HISTORY)
    }

    /// The weight with which an id last entered.
    #[inline]
    pub(in crate::eviction) fn last_weight(&self, id: Id) -> u64 {
        self.pages.weight(id)
    }

    /// A use of a resident page.
    #[inline]
    pub(in crate::eviction) fn hit(&mut self, id: Id) {
        let was_in_scan = self.pages.list_of(id) == Some(SCAN);
        self.pages.move_to(REUSE, id);
        if was_in_scan {
            let marks = std::mem::take(&mut self.marks[id as usize]);
            if self.form == Form::Paper && marks & DEMOTED != 0 {
                self.shrink_scan(id);
                self.demoted -= 1;
            }
            self.demote();
        }
    }

    /// The part for reuse was too small for a page that is used now.
    fn shrink_scan(&mut self, id: Id) {
        let step = rounded(self.new, self.demoted).saturating_mul(self.pages.weight(id).max(1));
        self.scan_room = self.scan_room.saturating_sub(step).max(self.capacity.min(1));
        self.reuse_room = self.capacity - self.scan_room;
    }

    /// The scan-resistant part was too small for a ghost that is asked for now.
    fn grow_scan(&mut self, id: Id) {
        let step = match self.form {
            Form::Program => (self.demoted / self.new.max(1)).max(1),
            Form::Paper => {
                rounded(self.demoted, self.new).saturating_mul(self.pages.weight(id).max(1))
            }
        };
        let most = match self.form {
            Form::Program => self.pages.resident(),
            Form::Paper => self.capacity,
        };
        self.scan_room = self.scan_room.saturating_add(step).min(most.saturating_sub(1));
        self.reuse_room = self.capacity - self.scan_room;
    }

    /// Moves the overflow of the part for reuse to the other one.
    #[inline]
    fn demote(&mut self) {
        while self.pages.size(REUSE) > self.reuse_room {
            let Some(oldest) = self.pages.back(REUSE) else { return };
            self.pages.move_to(SCAN, oldest);
            self.marks[oldest as usize] = DEMOTED;
            self.demoted += 1;
        }
    }

    /// Whether an id may enter. In the program the part must be able to hold it.
    #[inline]
    pub(in crate::eviction) fn has_room_for(&self, id: Id, weight: u64) -> bool {
        if self.form == Form::Paper {
            return weight <= self.capacity;
        }
        weight <= if self.is_ghost(id) { self.reuse_room } else { self.scan_room }
    }

    /// Admits a page for which there is room: a ghost where pages are reused, any other as new.
    #[inline]
    pub(in crate::eviction) fn admit(&mut self, id: Id, weight: u64) {
        if self.pages.remove(id).is_none() {
            if self.form == Form::Paper && self.fills_reuse(weight) {
                return self.pages.push(REUSE, id, weight);
            }
            self.pages.push(SCAN, id, weight);
            self.marks[id as usize] = NEW;
            return;
        }
        let was_new = std::mem::take(&mut self.marks[id as usize]) & NEW != 0;
        self.pages.push(REUSE, id, weight);
        self.demote();
        if was_new {
            self.grow_scan(id);
            if self.form == Form::Paper {
                self.new -= 1;
            }
        }
    }

    /// Whether the cache is so empty that pages enter the part for reuse at once.
    #[inline]
    fn fills_reuse(&self, weight: u64) -> bool {
        let with_it = self.pages.size(REUSE).saturating_add(weight);
        self.pages.is_empty(SCAN) && with_it <= self.reuse_room
    }

    /// The page that leaves since the scan-resistant part holds too much. In the paper only the
    /// whole is bounded.
    #[inline]
    pub(in crate::eviction) fn overflow(&self) -> Option<Id> {
        if self.form == Form::Program && self.pages.size(SCAN) > self.scan_room {
            self.pages.back(SCAN)
        } else {
            None
        }
    }

    /// The page that leaves if there is no room.
    #[inline]
    pub(in crate::eviction) fn oldest(&self) -> Option<Id> {
        self.pages.back(SCAN).or_else(|| self.pages.back(REUSE))
    }

    /// Makes a resident page a ghost. The caller drops the ghosts that are too many next.
    #[inline]
    pub(in crate::eviction) fn move_to_history(&mut self, id: Id) {
        let marks = &mut self.marks[id as usize];
        self.new += u64::from(*marks & NEW != 0);
        self.demoted -= u64::from(*marks & DEMOTED != 0);
        *marks &= NEW;
        self.pages.move_to(HISTORY, id);
    }

    /// Drops the oldest ghost if there are too many.
    #[inline]
    pub(in crate::eviction) fn pop_ghost(&mut self) -> Option<Id> {
        if self.pages.size(HISTORY) < self.capacity.max(1) {
            return None;
        }
        let oldest = self.pages.back(HISTORY)?;
        self.remove(oldest);
        Some(oldest)
    }

    pub(in crate::eviction) fn remove(&mut self, id: Id) {
        let list = self.pages.remove(id);
        let marks = std::mem::take(&mut self.marks[id as usize]);
        self.demoted -= u64::from(marks & DEMOTED != 0);
        if list == Some(HISTORY) && self.form == Form::Paper {
            self.new -= u64::from(marks & NEW != 0);
        }
    }

    /// The parts keep their shares.
    pub(in crate::eviction) fn resize(&mut self, capacity: u64) {
        if capacity == self.capacity {
            return;
        }
        let share = u128::from(self.scan_room) * u128::from(capacity);
        self.scan_room = share.div_ceil(u128::from(self.capacity.max(1))) as u64;
        self.scan_room = self.scan_room.max(capacity.min(1)).min(capacity);
        self.reuse_room = capacity - self.scan_room;
        self.capacity = capacity;
        self.demote();
    }

    pub(in crate::eviction) fn weight_of(&self, id: Id) -> Option<u64> {
        self.pages.resident_weight_of(id)
    }

    pub(in crate::eviction) fn reweigh(&mut self, request: &Request) {
        self.pages.reweigh(request.id, request.weight);
    }

    #[inline]
    pub(in crate::eviction) fn resident_weight(&self) -> u64 {
        self.pages.resident()
    }
}

/// The scan-resistant part at first: 1 %, as in the authors' program.
fn first_room(capacity: u64) -> u64 {
    capacity.div_ceil(100)
}

/// A quotient to the nearest whole number, at least 1.
fn rounded(of: u64, by: u64) -> u64 {
    ((of as f64 / by.max(1) as f64).round() as u64).max(1)
}
