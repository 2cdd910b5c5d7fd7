//! LRU: the page used longest ago leaves first.

use super::Request;
use super::one_list::{List, ListRule, OneList};
use super::resident::Resident;

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
pub type Lru = Resident<OneList<LruRule>>;

/// The rule of [`Lru`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LruRule;

impl ListRule for LruRule {
    const FOLDS_HITS: bool = true;

    #[inline]
    fn hit(&mut self, list: &mut List, request: &Request) {
        list.move_to_front(request.id);
    }
}
