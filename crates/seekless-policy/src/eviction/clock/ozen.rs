//! CLOCK as Ozen's program has it: newcomers go to the front of a line, not behind the hand.

use crate::arrays::column;
use crate::eviction::one_list::{List, ListRule, OneList};
use crate::eviction::resident::Resident;
use crate::eviction::{Id, Needs, Pool, Request, Use};

/// CLOCK as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// Pages stand in a line that the hand walks from front to back, again and again. A newcomer stands
/// at the very front wherever the hand is. So after each wrap the hand meets the newest page first
/// and evicts it, which is the opposite of CLOCK's purpose. Only a read hit sets the bit.
/// [`Clock`](super::Clock) is the algorithm of the literature.
///
/// Cost, memory: as CLOCK's. Pages only: it refuses weights. No ghosts.
pub type ClockOzen = Resident<OneList<ClockOzenRule>>;

/// The rule of [`ClockOzen`].
#[derive(Clone, Debug, Default)]
pub struct ClockOzenRule {
    /// The page to look at next; `None` at the end of the line.
    hand: Option<Id>,
    referenced: Vec<bool>,
}

impl ListRule for ClockOzenRule {
    const NEEDS: Needs = Needs { unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.referenced, ids, false);
    }

    #[inline]
    fn hit(&mut self, _list: &mut List, request: &Request) {
        self.referenced[request.id as usize] |= request.kind == Use::Read;
    }

    #[inline]
    fn entered(&mut self, request: &Request) {
        self.referenced[request.id as usize] = false;
    }

    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, _pool: &P) -> Option<Id> {
        loop {
            let page = self.hand.or_else(|| list.front())?;
            self.hand = list.after(page);
            if !std::mem::take(&mut self.referenced[page as usize]) {
                return Some(page);
            }
        }
    }

    fn leaves(&mut self, list: &List, id: Id) {
        if self.hand == Some(id) {
            self.hand = list.after(id);
        }
    }
}
