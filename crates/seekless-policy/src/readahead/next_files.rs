//! Which files of a list to fetch before they are opened.
//!
//! A program that reads the files of a folder, or of a list that it has announced, in order, waits
//! for at least one request a file: readahead within a file begins only once the file is read. The
//! list tells what comes next, so the starts of the next files are fetched while this one is read.

use super::options::Options;
use super::{PageNo, Window};
use seekless_device::Costs;

/// Files looked ahead at least, however few requests the device serves at once.
const FILES_MIN: usize = 8;
/// Files looked ahead at most.
const FILES_MAX: usize = 256;

/// The files of a list, and how far their starts have been fetched.
///
/// As many files are looked ahead as twice the requests that the device serves at once, 8 at least
/// and 256 at most; and together at most half of the budget, since the files that are read need the
/// rest. Of a file its first window is fetched; small files whole. Each is fetched once. A program
/// that leaves files out, or goes back, is followed. Memory: 4 bytes a file. Cost: a few steps for
/// each file of the list.
#[derive(Clone, Debug)]
pub struct NextFiles {
    /// The pages of each start.
    starts: Vec<u32>,
    /// The furthest file that was opened; `None` before the first.
    opened: Option<usize>,
    /// The first file that was neither opened nor fetched.
    next: usize,
    /// The pages of the starts from `opened` to `next`, both left out.
    waiting_pages: u64,
}

impl NextFiles {
    /// A list of files of so many pages each, in the order in which they will be opened.
    #[must_use]
    pub fn new(pages: impl IntoIterator<Item = PageNo>, options: Options) -> Self {
        let start = |pages: PageNo| u32::try_from(pages).unwrap_or(u32::MAX).min(options.max_pages);
        let starts = pages.into_iter().map(start).collect();
        Self { starts, opened: None, next: 0, waiting_pages: 0 }
    }

    /// The program opens the file at this place of the list. Returns what to fetch now: places in
    /// the list, each with the window at the start of that file.
    pub fn on_open(
        &mut self,
        place: usize,
        costs: Costs,
        budget_pages: u32,
    ) -> Vec<(usize, Window)> {
        self.go_to(place);
        let Some(opened) = self.opened else { return Vec::new() };
        let files = (2 * costs.depth as usize).clamp(FILES_MIN, FILES_MAX);
        let mut fetched = Vec::new();
        while self.next < self.starts.len() && self.next - opened <= files {
            let pages = self.starts[self.next];
            if self.waiting_pages + u64::from(pages) > u64::from(budget_pages / 2) {
                break;
            }
            if pages > 0 {
                fetched.push((self.next, Window { first: 0, pages, marker: None }));
            }
            self.waiting_pages += u64::from(pages);
            self.next += 1;
        }
        fetched
    }

    /// Nothing before `place` is waited for any more.
    fn go_to(&mut self, place: usize) {
        let last = self.starts.len();
        let before = self.opened.map_or(0, |opened| opened + 1);
        if place >= last || place < before {
            return;
        }
        let passed = &self.starts[before..=place];
        let fetched = self.next.saturating_sub(before).min(passed.len());
        self.waiting_pages -= passed[..fetched].iter().map(|&pages| u64::from(pages)).sum::<u64>();
        self.opened = Some(place);
        self.next = self.next.max(place + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readahead::Lead;
    use proptest::prelude::*;

    fn costs(depth: u32) -> Costs {
        Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth }
    }

    fn options() -> Options {
        Options { max_pages: 32, lead: Lead::Auto }
    }

    fn places(list: &mut NextFiles, place: usize, depth: u32, budget: u32) -> Vec<usize> {
        list.on_open(place, costs(depth), budget).into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn as_many_files_are_fetched_ahead_as_keep_the_device_busy() {
        let mut list = NextFiles::new([16; 100], options());
        assert_eq!(places(&mut list, 0, 1, u32::MAX), (1..=8).collect::<Vec<_>>());
        assert_eq!(places(&mut list, 1, 1, u32::MAX), [9]);
        assert_eq!(places(&mut list, 2, 8, u32::MAX), (10..=18).collect::<Vec<_>>());
    }

    #[test]
    fn the_files_ahead_take_half_of_the_budget() {
        let mut list = NextFiles::new([16; 100], options());
        assert_eq!(places(&mut list, 0, 32, 100), [1, 2, 3]);
        assert_eq!(places(&mut list, 1, 32, 100), [4]);
        assert_eq!(places(&mut list, 4, 32, 100), [5, 6, 7]);
    }

    #[test]
    fn a_large_file_is_fetched_for_one_window_and_an_empty_one_not_at_all() {
        let mut list = NextFiles::new([1, 5000, 0, 7], options());
        let window = |pages| Window { first: 0, pages, marker: None };
        assert_eq!(list.on_open(0, costs(1), 1000), [(1, window(32)), (3, window(7))]);
        assert_eq!(list.on_open(3, costs(1), 1000), []);
        assert_eq!(list.on_open(9, costs(1), 1000), [], "not in the list");
    }

    #[test]
    fn a_program_that_jumps_is_followed() {
        let mut list = NextFiles::new([16; 100], options());
        places(&mut list, 0, 1, 1000);
        assert_eq!(places(&mut list, 50, 1, 1000), (51..=58).collect::<Vec<_>>());
        assert_eq!(places(&mut list, 3, 1, 1000), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_file_is_fetched_twice_and_the_budget_holds(
            pages in prop::collection::vec(0u64..100, 1..60),
            opens in prop::collection::vec((0usize..70, 0u32..50, 0u32..500), 0..60),
        ) {
            let mut list = NextFiles::new(pages.clone(), options());
            let mut fetched = std::collections::BTreeSet::new();
            let mut furthest = 0;
            for (place, depth, budget) in opens {
                if place < pages.len() {
                    furthest = furthest.max(place);
                }
                let windows = list.on_open(place, costs(depth), budget);
                let grew = !windows.is_empty();
                for (place, window) in windows {
                    prop_assert!(fetched.insert(place), "{} twice", place);
                    prop_assert_eq!(u64::from(window.pages), pages[place].min(32));
                }
                let ahead = fetched.range(furthest + 1..).map(|&place| pages[place].min(32));
                prop_assert!(!grew || ahead.sum::<u64>() <= u64::from(budget / 2));
            }
        }
    }
}
