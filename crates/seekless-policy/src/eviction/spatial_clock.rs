//! Spatial clock: a clock whose hand moves over the device, not over time.

mod ozen;

use super::resident::{Resident, Rule};
use super::{Id, Needs, Pool, Request};
use crate::arrays::column;
use crate::arrays::key_order::KeyOrder;
pub use ozen::SpatialClockOzen;

/// Sp.Clock (Kim, Ryu and Ramachandran, "What is a good buffer cache replacement scheme for mobile
/// flash storage?", SIGMETRICS 2012).
///
/// - **Idea:** CLOCK, but the pages stand on the circle in the order of their addresses. So
///   victims, and with them the writes to the device, come in runs of neighbours.
/// - **Cost per request:** a hit O(1), one byte written; a miss O(log n) to find its place, and
///   amortised O(1) for the hand.
/// - **Memory:** 17 bytes an id and 16 to 32 a resident page. No ghosts.
/// - **Shines** where neighbouring writes are cheaper. **Fails** to favour recent pages: a newcomer
///   just before the hand stays for a whole turn, one just after it leaves at once.
///
/// Needs keys that place neighbours together. The hand is at a page; when that page leaves, it
/// moves to the next. Pages only: it refuses weights. [`Use::FirstUse`](super::Use::FirstUse) does
/// not set the bit. Cost is ignored. Ozen's program differs: [`SpatialClockOzen`].
pub type SpatialClock = Resident<SpatialClockRule>;

/// The rule of [`SpatialClock`].
#[derive(Clone, Debug, Default)]
pub struct SpatialClockRule {
    circle: KeyOrder,
    /// The page to look at next; `None` is the first page of the circle.
    hand: Option<Id>,
    referenced: Vec<bool>,
}

impl Rule for SpatialClockRule {
    const NEEDS: Needs = Needs { neighbours: true, unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.referenced, ids, false);
        self.circle.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.circle.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.referenced[request.id as usize] = true;
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.referenced[request.id as usize] = false;
        self.circle.insert(request.id, request.key);
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        loop {
            let page = self.hand.or(self.circle.first())?;
            self.hand = self.circle.after(page);
            if !std::mem::take(&mut self.referenced[page as usize]) {
                return Some(page);
            }
        }
    }

    fn leave(&mut self, id: Id) {
        if self.hand == Some(id) {
            self.hand = self.circle.after(id);
        }
        self.circle.remove(id);
    }
}
