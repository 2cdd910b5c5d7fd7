//! SIEVE: a FIFO whose hand spares pages that were used since it last passed.

use super::one_list::{List, ListRule, OneList};
use super::resident::Resident;
use super::{Id, Pool, Request};
use crate::arrays::column;

/// SIEVE (Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is simpler than LRU", NSDI 2024),
/// algorithm 1.
///
/// - **Idea:** newcomers enter at the head of a FIFO. A hand goes from tail to head, clears the
///   mark of each used page, and evicts the first unmarked one. A spared page stays in place, so
///   unused newcomers leave fast and popular pages slowly.
/// - **Cost per request:** a hit sets one byte; a miss O(1) amortised.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on skewed popularity (web, key-value). **Fails** on scans and loops, and where
///   popularity moves: on block traces it keeps pages that were popular once.
///
/// The paper knows only objects of one size; for files each eviction is repeated until the newcomer
/// fits. [`Use::FirstUse`](super::Use::FirstUse) marks nothing. Cost is ignored. A hit keeps the
/// weight that was admitted.
pub type Sieve = Resident<OneList<SieveRule>>;

/// The rule of [`Sieve`].
#[derive(Clone, Debug, Default)]
pub struct SieveRule {
    /// Used since the hand passed, or since it entered.
    marked: Vec<bool>,
    /// Where the next search starts; `None` is the tail.
    hand: Option<Id>,
}

impl ListRule for SieveRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.marked, ids, false);
    }

    #[inline]
    fn hit(&mut self, _list: &mut List, request: &Request) {
        self.marked[request.id as usize] = true;
    }

    #[inline]
    fn entered(&mut self, request: &Request) {
        self.marked[request.id as usize] = false;
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, _pool: &P) -> Option<Id> {
        let mut victim = self.hand.or_else(|| list.back())?;
        while std::mem::take(&mut self.marked[victim as usize]) {
            victim = list.before(victim).or_else(|| list.back()).unwrap_or(victim);
        }
        self.hand = Some(victim);
        Some(victim)
    }

    #[inline]
    fn leaves(&mut self, list: &List, id: Id) {
        if self.hand == Some(id) {
            self.hand = list.before(id);
        }
    }
}
