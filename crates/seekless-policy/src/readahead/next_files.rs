//! Which files of a list to fetch before they are opened.
//!
//! A program that reads the files of a folder, or of a list that it has announced, in order, waits
//! for at least one request a file: readahead within a file begins only once the file is read. The
//! list says which files come next, so their starts are fetched while this one is read.

use super::options::Options;
use super::{PageNo, Window};
use seekless_device::Costs;
use std::collections::VecDeque;

/// Files looked ahead at least, however few requests the device serves at once.
const FILES_MIN: usize = 8;
/// Files looked ahead at most.
const FILES_MAX: usize = 256;

/// The files of a list, and how far their starts have been fetched.
///
/// As many files are looked ahead as twice the requests that the device serves at once, 8 at least
/// and 256 at most; and together at most half of the budget, since the files that are read need the
/// rest. Of a file its first window is fetched; small files whole. Each is fetched once. A program
/// that leaves files out, or goes back, is followed. Memory: 4 bytes for each file that is fetched
/// and not opened. Cost: a few steps for each file of the list.
///
/// The size of a file need not be known before its turn: [`next`](Self::next) names it, and
/// [`fetch`](Self::fetch) is given its size.
#[derive(Clone, Debug)]
pub struct NextFiles {
    files: usize,
    options: Options,
    /// The place after the furthest file that was opened.
    begin: usize,
    /// The pages of the starts that were fetched, from the file at `begin` on.
    waiting: VecDeque<u32>,
    waiting_pages: u64,
}

impl NextFiles {
    /// A list of this many files. Of each at most the largest window of `options` is fetched.
    #[must_use]
    pub fn new(files: usize, options: Options) -> Self {
        Self { files, options, begin: 0, waiting: VecDeque::new(), waiting_pages: 0 }
    }

    /// The program opens the file at this place of the list: it waits for none before it any more.
    pub fn on_open(&mut self, place: usize) {
        if place >= self.files || place < self.begin {
            return;
        }
        let passed = (place + 1 - self.begin).min(self.waiting.len());
        self.waiting_pages -= self.waiting.drain(..passed).map(u64::from).sum::<u64>();
        self.begin = place + 1;
    }

    /// The place of the file to fetch now, if there is room for it.
    #[must_use]
    pub fn next(&self, costs: Costs, budget_pages: u32) -> Option<usize> {
        let files = (2 * costs.depth as usize).clamp(FILES_MIN, FILES_MAX);
        let place = self.begin + self.waiting.len();
        let has_room = self.waiting_pages < u64::from(budget_pages / 2);
        (place < self.files && self.waiting.len() < files && has_room).then_some(place)
    }

    /// The [`next`](Self::next) file has `pages` pages; 0 if it cannot be read. Returns what to
    /// fetch of it: no more than there is room for.
    pub fn fetch(&mut self, pages: PageNo, budget_pages: u32) -> Option<Window> {
        let room = u64::from(budget_pages / 2).saturating_sub(self.waiting_pages);
        let pages = pages.min(self.options.max_pages.into()).min(room) as u32;
        self.waiting.push_back(pages);
        self.waiting_pages += u64::from(pages);
        (pages > 0).then_some(Window { first: 0, pages, marker: None })
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

    /// The program opens the file at `place`: what is fetched then of files of `sizes` pages.
    fn open(
        list: &mut NextFiles,
        place: usize,
        (depth, budget): (u32, u32),
        sizes: &[PageNo],
    ) -> Vec<(usize, u32)> {
        list.on_open(place);
        let mut fetched = Vec::new();
        while let Some(next) = list.next(costs(depth), budget) {
            let window = list.fetch(sizes[next], budget);
            fetched.extend(window.map(|window| (next, window.pages)));
        }
        fetched
    }

    fn places(list: &mut NextFiles, place: usize, limits: (u32, u32)) -> Vec<usize> {
        open(list, place, limits, &[16; 100]).into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn as_many_files_are_fetched_ahead_as_keep_the_device_busy() {
        let mut list = NextFiles::new(100, options());
        assert_eq!(places(&mut list, 0, (1, u32::MAX)), (1..=8).collect::<Vec<_>>());
        assert_eq!(places(&mut list, 1, (1, u32::MAX)), [9]);
        assert_eq!(places(&mut list, 2, (8, u32::MAX)), (10..=18).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_file_is_fetched_before_any_is_opened() {
        let mut list = NextFiles::new(2, options());
        assert_eq!(list.next(costs(1), 1000), Some(0));
        assert_eq!(list.fetch(7, 1000), Some(Window { first: 0, pages: 7, marker: None }));
        assert_eq!(list.next(costs(1), 1000), Some(1));
    }

    #[test]
    fn the_files_ahead_take_half_of_the_budget() {
        let mut list = NextFiles::new(100, options());
        let mut open = |place| open(&mut list, place, (32, 100), &[16; 100]);
        assert_eq!(open(0), [(1, 16), (2, 16), (3, 16), (4, 2)]);
        assert_eq!(open(1), [(5, 16)]);
        assert_eq!(open(5), [(6, 16), (7, 16), (8, 16), (9, 2)]);
    }

    #[test]
    fn a_large_file_is_fetched_for_one_window_and_an_empty_one_not_at_all() {
        let mut list = NextFiles::new(4, options());
        let sizes = [1, 5000, 0, 7];
        assert_eq!(open(&mut list, 0, (1, 1000), &sizes), [(1, 32), (3, 7)]);
        assert_eq!(open(&mut list, 3, (1, 1000), &sizes), []);
        assert_eq!(open(&mut list, 9, (1, 1000), &sizes), [], "not in the list");
    }

    #[test]
    fn a_program_that_jumps_is_followed() {
        let mut list = NextFiles::new(100, options());
        places(&mut list, 0, (1, 1000));
        assert_eq!(places(&mut list, 50, (1, 1000)), (51..=58).collect::<Vec<_>>());
        assert_eq!(places(&mut list, 3, (1, 1000)), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_file_is_fetched_twice_and_the_budget_holds(
            pages in prop::collection::vec(0u64..100, 1..60),
            opens in prop::collection::vec((0usize..70, 0u32..50, 0u32..500), 0..60),
        ) {
            let mut list = NextFiles::new(pages.len(), options());
            let mut fetched = std::collections::BTreeMap::new();
            let mut furthest = 0;
            for (place, depth, budget) in opens {
                if place < pages.len() {
                    furthest = furthest.max(place);
                }
                let windows = open(&mut list, place, (depth, budget), &pages);
                let grew = !windows.is_empty();
                for (place, window) in windows {
                    prop_assert!(u64::from(window) <= pages[place].min(32));
                    prop_assert!(fetched.insert(place, window).is_none(), "{} twice", place);
                }
                let ahead: u32 = fetched.range(furthest + 1..).map(|(_, window)| window).sum();
                prop_assert!(!grew || ahead <= budget / 2);
            }
        }
    }
}
