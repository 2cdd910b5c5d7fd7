//! The spatial clock as Ozen's program has it: the hand is a number into a sorted array that shifts
//! beneath it.

use crate::arrays::column;
use crate::arrays::key_order::KeyOrder;
use crate::eviction::resident::{Resident, Rule};
use crate::eviction::{Id, Needs, Pool, Request, Use};

/// The place of the hand. The array into which it points is never built; a neighbouring page stands
/// for the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    /// At this page, wherever it moves.
    At(Id),
    /// This many places beyond the last page.
    Beyond(u64),
}

/// The spatial clock as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// The hand is an index into a sorted array. After an eviction it moves on although the array has
/// closed up, so it passes over each victim's successor. A page that enters below it shifts the
/// array, which sets the hand back by one page. Only a read hit sets the bit.
/// [`SpatialClock`](super::SpatialClock) is the algorithm.
///
/// Cost, memory and needs: as the algorithm's.
pub type SpatialClockOzen = Resident<SpatialClockOzenRule>;

/// The rule of [`SpatialClockOzen`].
#[derive(Clone, Debug)]
pub struct SpatialClockOzenRule {
    array: KeyOrder,
    hand: Hand,
    referenced: Vec<bool>,
}

impl Default for SpatialClockOzenRule {
    fn default() -> Self {
        Self { array: KeyOrder::new(), hand: Hand::Beyond(0), referenced: Vec::new() }
    }
}

impl SpatialClockOzenRule {
    fn next(&self, page: Id) -> Hand {
        self.array.after(page).map_or(Hand::Beyond(0), Hand::At)
    }

    /// The place of the hand after `id` entered.
    fn shifted(&self, id: Id) -> Hand {
        match self.hand {
            // Index 0 of an empty array is the same as its first place.
            _ if self.array.first() == self.array.last() => Hand::At(id),
            // The array is longer by one: the place just beyond its end is now its last.
            Hand::Beyond(0) => self.array.last().map_or(Hand::Beyond(0), Hand::At),
            Hand::Beyond(places) => Hand::Beyond(places - 1),
            Hand::At(page) if (self.array.key(id), id) < (self.array.key(page), page) => {
                self.array.before(page).map_or(Hand::At(page), Hand::At)
            }
            hand => hand,
        }
    }
}

impl Rule for SpatialClockOzenRule {
    const NEEDS: Needs = Needs { neighbours: true, unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.referenced, ids, false);
        self.array.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.array.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.referenced[request.id as usize] |= request.kind == Use::Read;
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.referenced[request.id as usize] = false;
        self.array.insert(request.id, request.key);
        self.hand = self.shifted(request.id);
    }

    /// The hand moves to the successor of the victim. [`Rule::leave`] moves it on once more.
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        loop {
            let page = match self.hand {
                Hand::At(page) => page,
                Hand::Beyond(_) => self.array.first()?,
            };
            self.hand = self.next(page);
            if !std::mem::take(&mut self.referenced[page as usize]) {
                return Some(page);
            }
        }
    }

    fn leave(&mut self, id: Id) {
        self.hand = match self.hand {
            Hand::Beyond(places) => Hand::Beyond(places + 1),
            Hand::At(page) if (self.array.key(id), id) <= (self.array.key(page), page) => {
                self.next(page)
            }
            hand => hand,
        };
        self.array.remove(id);
    }
}
