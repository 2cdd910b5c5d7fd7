//! LFU: the page that was used least often leaves first.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::list::Lists;

/// The list of newcomers.
const NEW: usize = 0;

/// How often a page was used, and the number of its last use, in two halves so that a rank takes 12
/// bytes. A page without uses is not resident.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    uses: u32,
    last_use: [u32; 2],
}

/// Least frequently used, counted while resident (folklore).
///
/// - **Idea:** keep the pages used most often since they entered. A page that left starts again at
///   1.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** a hit O(1) and one cache line. A miss O(1) while there are pages used
///   once: those are in a list, by arrival. A page that was used again moves from there to a heap,
///   which reads later uses when the page reaches its root: O(log n) amortised.
/// - **Memory:** 24 bytes an id and at most 24 a resident page; 8 more an id once a weight other
///   than 1 was seen. No ghosts.
/// - **Shines** on popularity that stays. **Fails** when popularity changes: pages that were
///   popular once never leave, and newcomers push each other out. [`LfuDa`](super::LfuDa) mends
///   that.
///
/// Lists for each count (Shah, Mitra and Matani, "An O(1) algorithm for implementing the LFU cache
/// eviction scheme", 2010) never cost more than O(1). But each hit writes to the neighbours in two
/// lists, which is slower here.
///
/// Weights: the count alone decides; evicts until the newcomer fits.
/// [`Use::FirstUse`](super::Use::FirstUse) does not count. Cost is ignored. A hit keeps the weight
/// that was admitted. Counts stop at 2^32.
pub type Lfu = Resident<LfuRule>;

/// The rule of [`Lfu`].
#[derive(Clone, Debug, Default)]
pub struct LfuRule {
    /// Uses so far, of all pages.
    turn: u64,
    ranks: Vec<Rank>,
    /// Pages that had been used once when they were last looked at, newest first.
    new: Lists<1>,
    /// Pages used more often, by a rank that they had earlier.
    often: IndexedHeap<Rank>,
}

impl LfuRule {
    #[inline]
    fn note_use(&mut self, id: Id) {
        self.turn += 1;
        let rank = &mut self.ranks[id as usize];
        let uses = rank.uses.saturating_add(1);
        *rank = Rank { uses, last_use: [(self.turn >> 32) as u32, self.turn as u32] };
    }
}

impl Rule for LfuRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.ranks, ids, Rank::default());
        self.new.grow(ids);
        self.often.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.ranks[id as usize].uses != 0
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.note_use(request.id);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.note_use(request.id);
        self.new.push_front(NEW, request.id);
    }

    /// The oldest page used once; else the page of least rank.
    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        while let Some(oldest) = self.new.back(NEW) {
            let rank = self.ranks[oldest as usize];
            if rank.uses == 1 {
                return Some(oldest);
            }
            self.new.unlink(oldest);
            self.often.push(oldest, rank);
        }
        let ranks = &self.ranks;
        self.often.settle_root(|id| ranks[id as usize]).map(|(_, id)| id)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.ranks[id as usize] = Rank::default();
        if self.new.contains(id) {
            self.new.unlink(id);
        } else {
            self.often.remove(id);
        }
    }
}
