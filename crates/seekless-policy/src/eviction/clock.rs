//! CLOCK: nearly LRU's choice at FIFO's cost, with one bit a page.

mod ozen;

use super::one_list::{List, ListRule, OneList};
use super::resident::Resident;
use super::{Id, Pool, Request, Use};
use crate::arrays::column;
pub use ozen::ClockOzen;

/// CLOCK, or second chance (Corbató, "A paging experiment with the Multics system", 1968).
///
/// - **Idea:** pages stand on a circle, and a hit only sets a bit. The hand clears set bits as it
///   passes, and evicts the first page whose bit is clear. A newcomer stands just behind the hand,
///   so the hand reaches it last.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(1) amortised, since each bit
///   cleared was set by a hit.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hits must be cheap and parallel; near LRU everywhere. **Fails** where LRU
///   does: scans and loops.
///
/// The circle is a list here: its back is the hand, and its front is just behind the hand. Weights:
/// evicts until the newcomer fits. [`Use::FirstUse`] does not set the bit. Cost is ignored. Ozen's
/// program differs: [`ClockOzen`].
pub type Clock = Resident<OneList<ClockRule>>;

/// The rule of [`Clock`]. The list is the circle; the hand is at its back.
#[derive(Clone, Debug, Default)]
pub struct ClockRule {
    referenced: Vec<bool>,
    read_hits_only: bool,
}

impl Clock {
    /// Only a read hit sets the bit, as in Ozen's program. A page that is only written to looks
    /// unused.
    #[must_use]
    pub fn read_hits_only(capacity: u64) -> Self {
        let rule = ClockRule { read_hits_only: true, ..ClockRule::default() };
        Self::with_rule(capacity, OneList::of(rule))
    }
}

impl ListRule for ClockRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.referenced, ids, false);
    }

    #[inline]
    fn hit(&mut self, _list: &mut List, request: &Request) {
        if !self.read_hits_only || request.kind == Use::Read {
            self.referenced[request.id as usize] = true;
        }
    }

    #[inline]
    fn entered(&mut self, request: &Request) {
        self.referenced[request.id as usize] = false;
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, _pool: &P) -> Option<Id> {
        loop {
            let under_hand = list.back()?;
            if !std::mem::take(&mut self.referenced[under_hand as usize]) {
                return Some(under_hand);
            }
            list.move_to_front(under_hand);
        }
    }
}
