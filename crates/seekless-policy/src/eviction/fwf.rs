//! FWF: when something does not fit, everything leaves.

use super::resident::{Exit, Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::list::Lists;

const ALL: usize = 0;

/// Flush when full (Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", 1988).
///
/// - **Idea:** a phase ends when the cache is full, and the next begins empty. It uses no knowledge
///   of pages, and still no deterministic policy has a better competitive ratio. Landlord and LRU
///   are compared with this bound.
/// - **Cost per request:** O(1) amortised; a flush visits each resident id once.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where phases share nothing, and as a lower bound for others. **Fails** everywhere
///   else.
///
/// Weights: flushes when the newcomer does not fit, and when a smaller capacity holds less than is
/// resident. A flush and [`Eviction::evict_one`](super::Eviction::evict_one) take the oldest first.
/// [`Use`](super::Use) and cost are ignored.
pub type Fwf = Resident<FwfRule>;

/// The rule of [`Fwf`].
#[derive(Clone, Debug, Default)]
pub struct FwfRule {
    phase: Lists<1>,
}

impl Rule for FwfRule {
    fn grow(&mut self, ids: u32) {
        self.phase.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.phase.contains(id)
    }

    #[inline]
    fn hit(&mut self, _request: &Request) {}

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.phase.push_front(ALL, request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.phase.back(ALL)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.phase.unlink(id);
    }

    #[inline]
    fn evict_for_room<P: Pool + ?Sized>(&mut self, exit: &mut Exit<'_, P>) -> bool {
        let mut evicted = false;
        while let Some(victim) = self.phase.back(ALL) {
            exit.evict(self, victim);
            evicted = true;
        }
        evicted
    }
}
