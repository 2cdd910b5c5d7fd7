//! SIEVE: a FIFO whose hand spares pages that were used since it last passed.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::column;
use crate::list::Lists;

const ALL: usize = 0;

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
pub type Sieve = Resident<SieveRule>;

/// The rule of [`Sieve`].
#[derive(Clone, Debug, Default)]
pub struct SieveRule {
    order: Lists<1>,
    /// Used since the hand passed, or since it entered.
    marked: Vec<bool>,
    /// Where the next search starts; `None` is the tail.
    hand: Option<Id>,
}

impl Rule for SieveRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.marked, ids, false);
        self.order.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.order.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.marked[request.id as usize] = true;
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.marked[request.id as usize] = false;
        self.order.push_front(ALL, request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let mut victim = self.hand.or_else(|| self.order.back(ALL))?;
        while std::mem::take(&mut self.marked[victim as usize]) {
            let next = self.order.before(victim).or_else(|| self.order.back(ALL));
            victim = next.unwrap_or(victim);
        }
        self.hand = Some(victim);
        Some(victim)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        if self.hand == Some(id) {
            self.hand = self.order.before(id);
        }
        self.order.unlink(id);
    }
}
