//! Linux 2.6.22, the readahead before Wu 2010: a current window and one ahead of it, and a call
//! for every read. Any read that does not follow the last one closes both windows.
//!
//! The kernel's loop over the pages of a read calls again at the page that the last call returned.
//! Here a marker on that page, or its miss, brings the call about. Where the page is already
//! cached, so that neither will come, the call is made at once: then a large read may ask for its
//! next window a little earlier than in the kernel.

use super::options::{Options, PAGE_BYTES};
use super::size;
use super::slab::Slab;
use super::{Ahead, Handle, PageNo, Read, Readahead, Trigger, Window};

/// A window that shrinks, since its pages were evicted before their use, keeps this many (16 KiB).
const PAGES_MIN: u64 = 4;
/// After this many pages in a row that were cached when asked for, the file counts as cached.
const CACHE_HITS_MAX: u64 = 256;

/// The windows of an open file.
#[derive(Debug, Default)]
struct State {
    /// The last page of the last read.
    previous: Option<PageNo>,
    first: PageNo,
    /// Pages of the current window; 0 without a window.
    pages: u64,
    /// The first page of the window ahead, if there is one.
    ahead_first: Option<PageNo>,
    /// The page after the window ahead, or after the last one that there was.
    ahead_end: PageNo,
    cache_hits: u64,
    /// A page that had been fetched was missing.
    missed: bool,
    /// The file is cached: readahead does nothing.
    in_cache: bool,
    /// The page at which the loop over the present read calls again.
    next: PageNo,
}

impl State {
    fn off(&mut self) {
        (self.first, self.pages, self.ahead_first) = (0, 0, None);
        (self.missed, self.in_cache) = (false, false);
    }

    /// Fetches pages. False if that switched readahead off, as all has been cached for long; or if
    /// the fetch may not wait and the device is congested.
    fn fetch(&mut self, window: Window, may_wait: bool, ahead: &mut dyn Ahead) -> bool {
        if !may_wait && ahead.congested() {
            return false;
        }
        if ahead.submit(window) > 0 {
            self.cache_hits = 0;
            return true;
        }
        self.cache_hits += u64::from(window.pages);
        if self.cache_hits >= CACHE_HITS_MAX {
            self.off();
            self.in_cache = true;
        }
        !self.in_cache
    }

    /// The size of the window ahead.
    fn next_pages(&mut self, max: u64) -> u64 {
        if std::mem::take(&mut self.missed) {
            return self.pages.saturating_sub(2).max(PAGES_MIN).min(max);
        }
        size::next(self.pages, max)
    }
}

/// A read as far as it is not done.
#[derive(Clone, Copy)]
struct Rest {
    /// The first page.
    first: PageNo,
    /// The page after the last.
    end: PageNo,
}

/// The readahead of Linux 2.6.22. It has no lead to set: what triggers the next window is a read
/// that reaches into the window ahead.
#[derive(Debug)]
pub struct Legacy {
    options: Options,
    files: Slab<State>,
}

impl Legacy {
    /// Knows no file yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { options, files: Slab::default() }
    }
}

impl Readahead for Legacy {
    fn open(&mut self, file: Handle) {
        self.files.open(file);
    }

    fn close(&mut self, file: Handle) {
        self.files.close(file);
    }

    fn on_read(&mut self, read: Read, ahead: &mut dyn Ahead) {
        let max = u64::from(self.options.max_pages.min(ahead.budget_pages()));
        if let Some(state) = self.files.get(read.file) {
            run(state, read.offset / PAGE_BYTES, end_page(read), max, ahead);
        }
    }

    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        let max = u64::from(self.options.max_pages.min(ahead.budget_pages()));
        let Some(state) = self.files.get(read.file) else { return };
        if page == state.next {
            run(state, page, end_page(read), max, ahead);
        }
        if why != Trigger::Marker && !ahead.cached(page) {
            (state.missed, state.in_cache, state.cache_hits) = (true, false, 0);
        }
    }
}

fn end_page(read: Read) -> PageNo {
    (read.offset + read.bytes).div_ceil(PAGE_BYTES)
}

/// Calls for the pages from `first` on, until a marker or a miss will bring the next call about.
fn run(state: &mut State, first: PageNo, end: PageNo, max: u64, ahead: &mut dyn Ahead) {
    let mut rest = Rest { first, end };
    loop {
        let marked = call(state, rest, max, ahead);
        if state.next >= end || marked == Some(state.next) || !ahead.cached(state.next) {
            return;
        }
        // Each call moves on by a page at least.
        rest.first = state.next.max(rest.first + 1);
    }
}

/// One call; sets [`State::next`]. Returns the page that got a marker.
fn call(state: &mut State, rest: Rest, max: u64, ahead: &mut dyn Ahead) -> Option<PageNo> {
    let (mut first, mut asked) = (rest.first, rest.end - rest.first);
    // A read that begins in the page where the last one ended: that page is there.
    if Some(first) == state.previous {
        asked -= 1;
        first += u64::from(asked > 0);
    }
    let sequential = state.previous.map_or(first == 0, |previous| first == previous + 1);
    state.previous = Some(first);
    state.next = first + 1;
    let pages = asked.min(max);
    if pages == 0 || state.in_cache {
        return None;
    }
    let mut last = first + pages - 1;
    state.next = last + 1;
    let mut marked = None;
    if !sequential {
        state.off();
        state.fetch(window(first, pages, None), true, ahead);
    } else if state.pages == 0 {
        (state.first, state.pages) = (first, size::first(pages, max));
        if state.fetch(window(first, state.pages, None), true, ahead) && asked >= max {
            marked = open_ahead(state, rest, last, true, max, ahead).1;
        }
    } else {
        let mut opened = true;
        if state.ahead_first.is_none() {
            (opened, marked) = open_ahead(state, rest, last, false, max, ahead);
        }
        let crossed = state.ahead_first.filter(|&ahead_first| opened && last >= ahead_first);
        if let Some(ahead_first) = crossed {
            (state.first, state.pages) = (ahead_first, state.ahead_end - ahead_first);
            marked = open_ahead(state, rest, last, false, max, ahead).1.or(marked);
        }
        if crossed.is_some() || !opened {
            last = last.min(state.ahead_end.saturating_sub(1)).max(first);
        }
    }
    state.previous = Some(last);
    state.next = last + 1;
    marked
}

/// Opens a window after the current one. Returns false if that failed, and the page that got a
/// marker.
fn open_ahead(
    state: &mut State,
    rest: Rest,
    last: PageNo,
    forced: bool,
    max: u64,
    ahead: &mut dyn Ahead,
) -> (bool, Option<PageNo>) {
    let pages = state.next_pages(max);
    let first = state.first + state.pages;
    (state.ahead_first, state.ahead_end) = (Some(first), first + pages);
    // The loop calls again at the page after `last`, if the read goes on there.
    let next = last.min(state.ahead_end - 1) + 1;
    let marker = (next < rest.end && (first..state.ahead_end).contains(&next))
        .then_some(next)
        .filter(|&next| !ahead.cached(next));
    let may_wait = forced || last >= first;
    let fetched = state.fetch(window(first, pages, marker), may_wait, ahead);
    if !fetched && !forced {
        state.ahead_first = None;
    }
    (fetched, marker.filter(|_| fetched))
}

fn window(first: PageNo, pages: u64, marker: Option<PageNo>) -> Window {
    Window { first, pages: u32::try_from(pages).unwrap_or(u32::MAX), marker }
}
