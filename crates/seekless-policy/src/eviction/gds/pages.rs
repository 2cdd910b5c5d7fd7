//! GreedyDual-Size while every page weighs and costs 1: an LRU list that notes the offset at each
//! use.

use crate::arrays::column;
use crate::eviction::one_list::{List, ListRule, OneList};
use crate::eviction::resident::Resident;
use crate::eviction::{Eviction, Id, Landlord, Pool, Request};

/// A cache of pages that all weigh and cost 1.
pub(super) type Pages = Resident<OneList<PagesRule>>;

/// The rule of [`Pages`]. The offset is a whole number: each eviction raises it by the credit that
/// the victim had left.
#[derive(Clone, Debug, Default)]
pub(super) struct PagesRule {
    /// Uses so far. Each use gives one page its place in the order.
    turn: u64,
    /// Rent that each page has paid so far.
    offset: u64,
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

impl ListRule for PagesRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.offsets, ids, 0);
    }

    #[inline]
    fn hit(&mut self, list: &mut List, request: &Request) {
        list.move_to_front(request.id);
        self.note_use(request.id);
    }

    #[inline]
    fn entered(&mut self, request: &Request) {
        self.note_use(request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, _pool: &P) -> Option<Id> {
        let victim = list.back()?;
        self.offset = self.offsets[victim as usize] + 1;
        Some(victim)
    }
}

/// A Landlord with the same resident pages, offsets and order.
pub(super) fn to_files(pages: &Pages, ids: u32, takes_back: bool) -> Landlord {
    let PagesRule { turn, offset, offsets } = pages.rule().rule();
    let mut files = Landlord::resume(pages.capacity(), *offset, *turn, takes_back);
    files.grow(ids);
    for (id, last_use) in pages.rule().list().iter().zip((0..=*turn).rev()) {
        files.restore_page(id, offsets[id as usize] + 1, last_use);
    }
    files
}
