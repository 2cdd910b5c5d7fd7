//! The ties that a plain binary heap has, as in libCacheSim.

use crate::arrays::column;
use crate::eviction::resident::{Resident, Rule};
use crate::eviction::{Id, Pool, Request};

const ABSENT: u32 = u32::MAX;

/// [`Size`](super::Size) as libCacheSim has it.
///
/// - **Idea:** that of [`Size`](super::Size).
/// - **Ties:** by the place in a binary heap, and uses do not count. Of files of one size it is
///   mostly the newest that leaves: it has taken the place of the last victim.
/// - **Cost per request:** a hit O(1) without a write, a miss O(log n).
/// - **Memory:** 4 bytes an id and 16 to 24 a resident file. No ghosts.
/// - **Shines** and **fails** as [`Size`](super::Size) does; of equal sizes it keeps the oldest.
///
/// [`Use`](crate::eviction::Use) and cost are ignored. A hit keeps the weight that was admitted.
pub type SizeHeap = Resident<SizeHeapRule>;

/// The rule of [`SizeHeap`].
#[derive(Clone, Debug, Default)]
pub struct SizeHeapRule {
    /// Weights and ids; the children of place `i` are at `2i + 1` and `2i + 2`.
    entries: Vec<(u64, Id)>,
    places: Vec<u32>,
}

impl SizeHeapRule {
    #[inline]
    fn put(&mut self, at: usize, entry: (u64, Id)) {
        self.entries[at] = entry;
        self.places[entry.1 as usize] = at as u32;
    }

    fn rise(&mut self, mut at: usize) {
        let moving = self.entries[at];
        while at > 0 {
            let parent = self.entries[(at - 1) / 2];
            if parent.0 >= moving.0 {
                break;
            }
            self.put(at, parent);
            at = (at - 1) / 2;
        }
        self.put(at, moving);
    }

    fn sink(&mut self, mut at: usize) {
        let moving = self.entries[at];
        while let Some(&left) = self.entries.get(2 * at + 1) {
            // Of equal children the left one.
            let (child, entry) = match self.entries.get(2 * at + 2) {
                Some(&right) if left.0 < right.0 => (2 * at + 2, right),
                _ => (2 * at + 1, left),
            };
            if moving.0 >= entry.0 {
                break;
            }
            self.put(at, entry);
            at = child;
        }
        self.put(at, moving);
    }
}

impl Rule for SizeHeapRule {
    const FIRST_USE_COUNTS: bool = true;
    const FOLDS_HITS: bool = true;

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.places, ids, ABSENT);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.places[id as usize] != ABSENT
    }

    #[inline]
    fn hit(&mut self, _request: &Request) {}

    #[inline]
    fn hit_times(&mut self, _request: &Request, _times: u32) {}

    fn enter(&mut self, request: &Request) {
        if self.entries.len() == self.entries.capacity() {
            // By half, not twofold, to save memory.
            self.entries.reserve_exact(self.entries.len() / 2 + 4);
        }
        self.entries.push((request.weight, request.id));
        self.rise(self.entries.len() - 1);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.entries.first().map(|entry| entry.1)
    }

    fn leave(&mut self, id: Id) {
        let at = std::mem::replace(&mut self.places[id as usize], ABSENT) as usize;
        let (weight, _) = self.entries.swap_remove(at);
        if at < self.entries.len() {
            if weight < self.entries[at].0 { self.rise(at) } else { self.sink(at) }
        }
    }

    fn reweigh(&mut self, request: &Request) {
        let at = self.places[request.id as usize] as usize;
        let before = std::mem::replace(&mut self.entries[at].0, request.weight);
        if before < request.weight { self.rise(at) } else { self.sink(at) }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        self.entries.get(self.places[id as usize] as usize).map_or(Some(0), |entry| Some(entry.0))
    }
}
