//! Which file has the next turn: cached bytes come first, then those that cost the least a byte,
//! then the files in the plain order.

use super::left::Left;
use super::price::Price;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// A file's turn among those that are read from devices: what costs less a byte first, then in the
/// order in which files were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) price: Price,
    pub(super) file: usize,
}

/// What a device charges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) latency: Duration,
    pub(super) price: Price,
}

/// A file is in a set as long as it has ranges of that kind. [`sort`](Self::sort) must follow each
/// change of its ranges.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Files with cached bytes to come.
    cached: BTreeSet<usize>,
    /// Files with absent ranges to come.
    absent: BTreeSet<Turn>,
    /// Files with slivers to be filled.
    slivers: BTreeSet<Turn>,
    /// The price by which a file is in those two.
    prices: HashMap<usize, Price>,
    /// Files to be read in the plain order.
    linear: VecDeque<usize>,
    /// What each device charges, by its number, looked up once.
    charges: HashMap<u64, Charge>,
    /// Whether a file lies on several levels, or in an archive.
    has_levels: bool,
}

impl Schedule {
    /// Puts a file into the sets of the kinds of ranges that it has left.
    pub(super) fn sort(&mut self, file: usize, left: &Left) {
        if let Some(price) = self.prices.remove(&file) {
            self.absent.remove(&Turn { price, file });
            self.slivers.remove(&Turn { price, file });
        }
        if left.cached.is_empty() {
            self.cached.remove(&file);
        } else {
            self.cached.insert(file);
        }
        let turn = Turn { price: left.price, file };
        for (set, ranges) in [(&mut self.absent, &left.absent), (&mut self.slivers, &left.slivers)]
        {
            if !ranges.is_empty() {
                set.insert(turn);
                self.prices.insert(file, turn.price);
            }
        }
    }

    /// Removes a file from these sets.
    pub(super) fn remove(&mut self, file: usize) {
        self.sort(file, &Left::default());
    }

    /// The file whose cached bytes come next.
    pub(super) fn next_cached(&self) -> Option<usize> {
        self.cached.first().copied()
    }

    /// The file to read from its device next. Holes count only when all cached bytes have been
    /// read.
    pub(super) fn next_absent(&self, cached_over: bool) -> Option<Turn> {
        let sliver = self.slivers.first().filter(|_| cached_over);
        self.absent.first().into_iter().chain(sliver).min().copied()
    }

    /// The first file that has anything to come from its device.
    pub(super) fn first_on_device(&self) -> Option<usize> {
        self.next_absent(true).map(|turn| turn.file)
    }

    /// The files that have anything to come from their devices.
    pub(super) fn on_device(&self) -> Vec<usize> {
        self.prices.keys().copied().collect()
    }

    /// Whether no cached bytes are to come of a file before this one.
    pub(super) fn is_next(&self, file: usize) -> bool {
        self.cached.first().is_none_or(|&first| file <= first)
    }

    pub(super) fn push_linear(&mut self, file: usize) {
        self.linear.push_back(file);
    }

    /// The next file in the plain order.
    pub(super) fn pop_linear(&mut self) -> Option<usize> {
        self.linear.pop_front()
    }

    /// What a device charges; `ask` finds it if it is not known yet.
    pub(super) fn charge(&mut self, device: u64, ask: impl FnOnce() -> Charge) -> Charge {
        *self.charges.entry(device).or_insert_with(ask)
    }

    /// A file lies on several levels, or in an archive.
    pub(super) fn note_levels(&mut self) {
        self.has_levels = true;
    }

    /// Whether files lie on several devices or levels.
    pub(super) fn devices_differ(&self) -> bool {
        self.has_levels || self.charges.len() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(ns: u64) -> Price {
        Price::of(Duration::from_nanos(ns), 1 << 20)
    }

    fn left(price_ns: u64, cached: u64, absent: u64, slivers: u64) -> Left {
        let mut left = Left::default();
        left.price = price(price_ns);
        left.cached.push(0..cached);
        left.absent.push(1000..1000 + absent);
        left.slivers.push(2000..2000 + slivers);
        left
    }

    #[test]
    fn cheap_bytes_come_first_and_slivers_once_the_cached_is_over() {
        let mut schedule = Schedule::default();
        let next = |schedule: &Schedule, cached_over| {
            schedule.next_absent(cached_over).map(|turn| turn.file)
        };
        schedule.sort(0, &left(900, 5, 5, 0));
        schedule.sort(1, &left(100, 5, 0, 5));
        schedule.sort(2, &left(100, 0, 5, 0));
        assert_eq!(schedule.next_cached(), Some(0));
        assert_eq!(next(&schedule, false), Some(2), "the sliver of file 1 waits");
        assert_eq!((next(&schedule, true), schedule.first_on_device()), (Some(1), Some(1)));
        assert!(schedule.is_next(0) && !schedule.is_next(1));
        schedule.sort(0, &left(10, 0, 5, 0));
        assert_eq!((schedule.next_cached(), next(&schedule, true)), (Some(1), Some(0)));
        assert_eq!(schedule.on_device().len(), 3);
        (0..3).for_each(|file| schedule.remove(file));
        assert_eq!((schedule.next_cached(), next(&schedule, true)), (None, None));
        assert!(schedule.is_next(7) && schedule.on_device().is_empty());
    }

    #[test]
    fn a_device_is_asked_about_once() {
        let mut schedule = Schedule::default();
        let charge = |ns| Charge { latency: Duration::from_nanos(ns), price: price(ns) };
        assert_eq!(schedule.charge(1, || charge(5)), charge(5));
        assert_eq!(schedule.charge(1, || unreachable!()), charge(5));
        assert!(!schedule.devices_differ());
        assert_eq!(schedule.charge(2, || charge(7)), charge(7));
        assert!(schedule.devices_differ());
    }
}
