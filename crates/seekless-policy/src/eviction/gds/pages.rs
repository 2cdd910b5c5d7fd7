//! GreedyDual-Size while every page weighs and costs 1: an LRU list that notes the offset at each
//! use.

use crate::column;
use crate::eviction::resident::{Resident, Rule};
use crate::eviction::{Eviction, Id, Landlord, Pool, Request};
use crate::list::Lists;

const ALL: usize = 0;

/// A cache of pages that all weigh and cost 1.
pub(super) type Pages = Resident<PagesRule>;

/// The rule of [`Pages`]. The offset is a whole number: each eviction raises it by the credit that
/// the victim had left.
#[derive(Clone, Debug, Default)]
pub(super) struct PagesRule {
    /// Uses so far. Each use gives one page its place in the order.
    turn: u64,
    /// Rent that each page has paid so far.
    offset: u64,
    order: Lists<1>,
    /// The offset at the last use of each page.
    offsets: Vec<u64>,
}

impl PagesRule {
    #[inline]
    fn note_use(&mut self, id: Id) {
        self.turn += 1;
        self.offsets[id as usize] = self.offset;
    }
}

impl Rule for PagesRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.offsets, ids, 0);
        self.order.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.order.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.order.move_to_front(ALL, request.id);
        self.note_use(request.id);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.order.push_front(ALL, request.id);
        self.note_use(request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let victim = self.order.back(ALL)?;
        self.offset = self.offsets[victim as usize] + 1;
        Some(victim)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.order.unlink(id);
    }
}

/// A Landlord with the same resident pages, offsets and order.
pub(super) fn to_files(pages: &Pages, ids: u32, takes_back: bool) -> Landlord {
    let PagesRule { turn, offset, order, offsets } = pages.rule();
    let mut files = Landlord::resume(pages.capacity(), *offset, *turn, takes_back);
    files.grow(ids);
    for (id, last_use) in order.iter(ALL).zip((0..=*turn).rev()) {
        files.restore_page(id, offsets[id as usize] + 1, last_use);
    }
    files
}
