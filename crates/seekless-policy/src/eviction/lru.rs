//! LRU: the page used longest ago leaves first.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::list::Lists;

const ALL: usize = 0;

/// Least recently used (folklore; analysed by Mattson, Gecsei, Slutz and Traiger, "Evaluation
/// techniques for storage hierarchies", 1970).
///
/// - **Idea:** the past use of a page predicts its next one; pages are sorted by last use.
/// - **Cost per request:** O(1); a miss evicts from the back until the newcomer fits.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on recency: stacks, loops that fit. **Fails** on scans, on loops a little larger
///   than the cache, and where one large file pushes out hundreds of small ones.
///
/// [`Use::FirstUse`](super::Use::FirstUse) promotes nothing. Cost is ignored. A hit keeps the
/// weight that was admitted.
pub type Lru = Resident<LruRule>;

/// The rule of [`Lru`].
#[derive(Clone, Debug, Default)]
pub struct LruRule {
    order: Lists<1>,
}

impl Rule for LruRule {
    fn grow(&mut self, ids: u32) {
        self.order.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.order.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.order.move_to_front(ALL, request.id);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.order.push_front(ALL, request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.order.back(ALL)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.order.unlink(id);
    }
}
