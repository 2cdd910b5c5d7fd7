//! LFU: the page that was used least often leaves first. And CR-LFU, which differs in the ties.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::counts::Counts;

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
pub type Lfu = Resident<LfuRule<false>>;

/// Churn-resistant LFU (Rodriguez and others, "Learning cache replacement with CACHEUS", FAST
/// 2021).
///
/// - **Idea:** where more pages of equal count come in turn than the cache holds, LFU's order
///   among them is LRU's, and all of them miss. If the newest of them leaves instead, the others
///   stay and hit.
/// - **Ties:** the most recently used leaves first. That is all that differs from [`Lfu`].
/// - **Cost per request** and **memory:** those of [`Lfu`]. No ghosts; in
///   [`Cacheus`](super::Cacheus) ghosts keep their counts.
/// - **Shines** on loops and churn among pages of equal count. **Fails** as LFU does when
///   popularity changes, and on new pages that are soon used again.
///
/// Weights, cost and [`Use::FirstUse`](super::Use::FirstUse) as in [`Lfu`].
pub type CrLfu = Resident<LfuRule<true>>;

/// The rule of [`Lfu`], and with `NEWEST_FIRST` of [`CrLfu`]. A page that is not resident has the
/// count 0.
#[derive(Clone, Debug, Default)]
pub struct LfuRule<const NEWEST_FIRST: bool> {
    counts: Counts<NEWEST_FIRST>,
}

impl<const NEWEST_FIRST: bool> Rule for LfuRule<NEWEST_FIRST> {
    fn grow(&mut self, ids: u32) {
        self.counts.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.counts.count(id) != 0
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.counts.note_use(request.id);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.counts.enter(request.id, 1);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.counts.least()
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.counts.take_out(id);
        self.counts.clear(id);
    }
}
