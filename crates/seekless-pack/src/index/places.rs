//! Whether a directory lists its entries in the order in which they lie. Packs list their folders
//! first, so that tools that unpack make them before what they hold, and have them behind all
//! files: that order is put right without sorting.

use std::ops::Range;

/// The order of a directory's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// That of their places.
    Right,
    /// The first `moved` entries lie behind the `over` that follow them; else it is right.
    Moved { moved: usize, over: usize },
    /// Another one, or some entries overlap.
    Unknown,
}

/// Takes the places of entries in the order of the directory.
#[derive(Debug, Default)]
pub(super) struct Places {
    count: usize,
    /// Where the first entry begins, and the last one ends.
    begin: u64,
    free: u64,
    second: Option<Second>,
    is_unknown: bool,
}

/// What is known once an entry has begun before the end of the one before it.
#[derive(Debug)]
struct Second {
    /// How many entries came before it, and where they lie.
    moved: usize,
    place: Range<u64>,
    /// How many of the entries after them lie before them, once one lies behind them.
    over: Option<usize>,
}

impl Places {
    pub(super) fn add(&mut self, offset: u64, end: u64) {
        if self.count == 0 {
            self.begin = offset;
        }
        match &mut self.second {
            None if offset < self.free => {
                let place = self.begin..self.free;
                self.second = Some(Second { moved: self.count, place, over: None });
            }
            None => {}
            Some(_) if offset < self.free => self.is_unknown = true,
            Some(second) if second.over.is_none() && offset >= second.place.start => {
                self.is_unknown |= self.free > second.place.start || offset < second.place.end;
                second.over = Some(self.count - second.moved);
            }
            Some(_) => {}
        }
        self.count += 1;
        self.free = end;
    }

    /// Whether the order is known to be unknown, whatever follows.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// The order, of entries that must end at `end`.
    pub(super) fn order(&self, end: u64) -> Order {
        match &self.second {
            _ if self.is_unknown => Order::Unknown,
            None if self.free <= end => Order::Right,
            Some(Second { moved, over: Some(over), .. }) if self.free <= end => {
                Order::Moved { moved: *moved, over: *over }
            }
            Some(Second { moved, place, over: None })
                if self.free <= place.start && place.end <= end =>
            {
                Order::Moved { moved: *moved, over: self.count - moved }
            }
            _ => Order::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(places: &[Range<u64>]) -> Order {
        let mut found = Places::default();
        places.iter().for_each(|place| found.add(place.start, place.end));
        found.order(100)
    }

    #[test]
    fn entries_that_were_moved_as_one_are_found() {
        assert_eq!(order(&[]), Order::Right);
        assert_eq!(order(&[0..10, 10..20, 30..100]), Order::Right);
        let moved = |moved, over| Order::Moved { moved, over };
        assert_eq!(order(&[50..60, 60..70, 0..10, 10..50]), moved(2, 2));
        assert_eq!(order(&[50..60, 60..70, 0..10, 10..50, 70..80, 90..95]), moved(2, 2));
        assert_eq!(order(&[10..20, 0..10]), moved(1, 1));
    }

    #[test]
    fn what_overlaps_or_lies_otherwise_is_left_to_a_closer_look() {
        for places in [
            &[0..50, 50..101][..],
            &[50..60, 0..51],
            &[50..101, 0..50],
            &[50..60, 0..10, 59..70],
            &[50..60, 0..55, 60..70],
            &[50..60, 0..10, 5..20],
            &[50..60, 0..10, 60..101],
            &[50..60, 20..30, 0..10],
            &[50..60, 0..10, 70..80, 20..30],
        ] {
            assert_eq!(order(places), Order::Unknown, "{places:?}");
        }
    }
}
