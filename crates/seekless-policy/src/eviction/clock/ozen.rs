//! CLOCK as Ozen's program has it: newcomers go to the front of a line, not behind the hand.

use crate::column;
use crate::eviction::resident::{Resident, Rule};
use crate::eviction::{Id, Needs, Pool, Request, Use};
use crate::list::Lists;

const ALL: usize = 0;

/// CLOCK as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// Pages stand in a line that the hand walks from front to back, again and again. A newcomer stands
/// at the very front wherever the hand is. So after each wrap the hand meets the newest page first
/// and evicts it, which is the opposite of CLOCK's purpose. Only a read hit sets the bit.
/// [`Clock`](super::Clock) is the algorithm of the literature.
///
/// Cost, memory: as CLOCK's. Pages only: it refuses weights. No ghosts.
pub type ClockOzen = Resident<ClockOzenRule>;

/// The rule of [`ClockOzen`].
#[derive(Clone, Debug, Default)]
pub struct ClockOzenRule {
    line: Lists<1>,
    /// The page to look at next; `None` at the end of the line.
    hand: Option<Id>,
    referenced: Vec<bool>,
}

impl Rule for ClockOzenRule {
    const NEEDS: Needs = Needs { unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.referenced, ids, false);
        self.line.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.line.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.referenced[request.id as usize] |= request.kind == Use::Read;
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.referenced[request.id as usize] = false;
        self.line.push_front(ALL, request.id);
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        loop {
            let page = self.hand.or(self.line.front(ALL))?;
            self.hand = self.line.after(page);
            if !std::mem::take(&mut self.referenced[page as usize]) {
                return Some(page);
            }
        }
    }

    fn leave(&mut self, id: Id) {
        if self.hand == Some(id) {
            self.hand = self.line.after(id);
        }
        self.line.unlink(id);
    }
}
