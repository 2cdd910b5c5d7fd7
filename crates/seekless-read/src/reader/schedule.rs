//! Which file has the next turn: cached bytes come first, then those on the cheapest device, then
//! the files in the plain order.

use super::left::Left;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// A file's turn among those that are read from devices: cheap devices first, then in the order in
/// which files were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    dearness_ns: u64,
    file: usize,
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
    /// Files to be read in the plain order.
    linear: VecDeque<usize>,
    /// The latency of each device, by its number, looked up once.
    dearness: HashMap<u64, u64>,
}

impl Schedule {
    /// Puts a file into the sets of the kinds of ranges that it has left.
    pub(super) fn sort(&mut self, file: usize, dearness_ns: u64, left: &Left) {
        let turn = Turn { dearness_ns, file };
        set(&mut self.cached, file, !left.cached.is_empty());
        set(&mut self.absent, turn, !left.absent.is_empty());
        set(&mut self.slivers, turn, !left.slivers.is_empty());
    }

    /// Removes a file from all sets.
    pub(super) fn remove(&mut self, file: usize, dearness_ns: u64) {
        self.sort(file, dearness_ns, &Left::default());
    }

    /// The file whose cached bytes come next.
    pub(super) fn next_cached(&self) -> Option<usize> {
        self.cached.first().copied()
    }

    /// The file to read from its device next. Holes count only when all cached bytes have been
    /// read.
    pub(super) fn next_absent(&self, cached_over: bool) -> Option<usize> {
        let sliver = self.slivers.first().filter(|_| cached_over);
        self.absent.first().into_iter().chain(sliver).min().map(|turn| turn.file)
    }

    /// The first file that has anything to come from its device.
    pub(super) fn first_on_device(&self) -> Option<usize> {
        self.next_absent(true)
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

    /// The latency of a device in nanoseconds; `ask` finds it if it is not known yet.
    pub(super) fn dearness_ns(&mut self, device: u64, ask: impl FnOnce() -> u64) -> u64 {
        *self.dearness.entry(device).or_insert_with(ask)
    }

    /// Whether files lie on several devices.
    pub(super) fn devices_differ(&self) -> bool {
        self.dearness.len() > 1
    }
}

fn set<T: Ord>(set: &mut BTreeSet<T>, key: T, is_in: bool) {
    if is_in {
        set.insert(key)
    } else {
        set.remove(&key)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(cached: u64, absent: u64, slivers: u64) -> Left {
        let mut left = Left::default();
        left.cached.push(0..cached);
        left.absent.push(1000..1000 + absent);
        left.slivers.push(2000..2000 + slivers);
        left
    }

    #[test]
    fn cheap_devices_come_first_and_slivers_once_the_cached_is_over() {
        let mut schedule = Schedule::default();
        schedule.sort(0, 900, &left(5, 5, 0));
        schedule.sort(1, 100, &left(5, 0, 5));
        schedule.sort(2, 100, &left(0, 5, 0));
        assert_eq!(schedule.next_cached(), Some(0));
        assert_eq!(schedule.next_absent(false), Some(2), "the sliver of file 1 waits");
        assert_eq!((schedule.next_absent(true), schedule.first_on_device()), (Some(1), Some(1)));
        assert!(schedule.is_next(0) && !schedule.is_next(1));
        schedule.sort(0, 900, &left(0, 5, 0));
        assert_eq!(schedule.next_cached(), Some(1));
        for file in [0, 1, 2] {
            let dearness_ns = if file == 0 { 900 } else { 100 };
            schedule.remove(file, dearness_ns);
        }
        assert_eq!((schedule.next_cached(), schedule.next_absent(true)), (None, None));
        assert!(schedule.is_next(7));
    }

    #[test]
    fn a_device_is_asked_about_once() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.dearness_ns(1, || 5), 5);
        assert_eq!(schedule.dearness_ns(1, || unreachable!()), 5);
        assert!(!schedule.devices_differ());
        assert_eq!(schedule.dearness_ns(2, || 7), 7);
        assert!(schedule.devices_differ());
    }
}
