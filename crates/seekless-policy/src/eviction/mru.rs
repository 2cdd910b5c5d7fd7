//! MRU: the page used last leaves first.

use super::one_list::{List, ListRule, OneList};
use super::resident::Resident;
use super::{Id, Pool, Request};

/// Most recently used (Chou and DeWitt, "An evaluation of buffer management strategies for
/// relational database systems", VLDB 1985).
///
/// - **Idea:** in a loop the page used last comes back last, so it is the one to give up.
/// - **Ties:** none; pages are in the order of their last use.
/// - **Cost per request:** O(1); a miss evicts from the front until the newcomer fits.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on loops that are larger than the cache: it keeps all but one place of a part of
///   the loop. **Fails** on everything else, since what it kept first it keeps for ever.
///
/// [`Use::FirstUse`](super::Use::FirstUse) promotes nothing. Cost is ignored. A hit keeps the
/// weight that was admitted.
pub type Mru = Resident<OneList<MruRule>>;

/// The rule of [`Mru`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MruRule;

impl ListRule for MruRule {
    const FOLDS_HITS: bool = true;

    #[inline]
    fn hit(&mut self, list: &mut List, request: &Request) {
        list.move_to_front(request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, _pool: &P) -> Option<Id> {
        list.front()
    }
}
