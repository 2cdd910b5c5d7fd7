//! What is fetched for a stream: its next window, when the reader comes near the end of the last
//! one or misses a page.

use super::limits::Limits;
use super::pace::Pace;
use super::run::Demand;
use super::span::{Facing, Span};
use super::stream::{Pattern, Stream};
use super::{AROUND_PAGES_MAX, Streams, dense, run, strided};
use crate::id::Id;
use crate::readahead::{Ahead, Handle, PageNo, Read, Window};

impl Streams {
    /// Fetches what a known stream needs next.
    pub(super) fn fetch(&mut self, id: Id, demand: Demand, ahead: &mut dyn Ahead) {
        let limits = self.limits(ahead);
        if limits.window == 0 || ahead.congested() {
            return;
        }
        if self.table.get(id).pattern == Pattern::Run
            && let Some(stride) = run::stride(self.table.get(id), &limits)
        {
            self.table.change(id, |stream| {
                stream.pattern = Pattern::Strided(stride);
                stream.pace = Pace::start(strided::first_window(stride, &limits));
            });
        }
        let mut stream = *self.table.get(id);
        let has_waits = std::mem::replace(&mut stream.waits, self.waits) != self.waits;
        let limits = if has_waits { limits.where_readers_wait() } else { limits };
        let windows = stream.windows;
        let (facing, end) = (stream.facing, stream.facing.end(ahead.pages()));
        let is_filled = match stream.pattern {
            Pattern::Strided(stride) => strided::gap_behind(&stream, stride)
                .is_some_and(|gap| facing.pages(gap).all(|page| ahead.cached(page))),
            _ => false,
        };
        let table = &mut self.table;
        let mut submit = |window| {
            let window = facing.window(window);
            table.note_window(id, window.first, window.pages);
            submit_in_pieces(window, &limits, ahead);
        };
        match stream.pattern {
            Pattern::Unknown => {}
            Pattern::Run => {
                run::plan(&mut stream, demand, end, &limits).into_iter().for_each(submit);
            }
            Pattern::Strided(stride) => {
                strided::plan(&mut stream, stride, demand, end, &limits, &mut submit, is_filled);
            }
        }
        if stream.windows == windows {
            stream.waits = self.table.get(id).waits;
        }
        *self.table.get_mut(id) = stream;
    }

    /// A page of a mapped file is missing. Reads of prefetched pages before it are not reported: if
    /// it lies behind the last of those pages, the run has come that far.
    pub(super) fn passed(&mut self, file: Handle, page: PageNo) {
        let is_behind = |stream: &Stream| {
            stream.pattern == Pattern::Run && stream.facing.page(page) == stream.front
        };
        for fetched in [page.checked_sub(1), Some(page + 1)].into_iter().flatten() {
            let is_it = |stream: &Stream| is_behind(stream) && stream.covers(fetched);
            if let Some(id) = self.stream_of(file, fetched, is_it) {
                self.table.change(id, |stream| stream.last = Span::of_page(stream.front - 1));
                return;
            }
        }
    }

    /// The reader is at a marker. If it came there without a read (the file is mapped), its run
    /// moves on to the marker.
    pub(super) fn reached(&mut self, file: Handle, page: PageNo, ahead: &mut dyn Ahead) {
        let Some(id) = self.stream_of(file, page, |stream| stream.covers(page)) else { return };
        let stream = self.table.get(id);
        let seen = stream.facing.page(page);
        if stream.pattern == Pattern::Run && seen > stream.last.last_page() {
            self.table.change(id, |stream| stream.last = Span::of_page(seen));
        }
        self.fetch(id, Demand { first: seen, end: seen + 1 }, ahead);
    }

    /// A page of a read is missing. If it was fetched once, it was lost before use, and its stream
    /// begins again there. Else the rest of the read is fetched.
    pub(super) fn missed(&mut self, read: Read, page: PageNo, ahead: &mut dyn Ahead) {
        if let Some(id) = self.stream_of(read.file, page, |stream| stream.fetched(page)) {
            let stream = self.table.get_mut(id);
            stream.pace.lost_a_page();
            let seen = stream.facing.page(page);
            stream.front = seen;
            self.fetch(id, Demand { first: seen, end: seen + 1 }, ahead);
        }
        if ahead.cached(page) {
            return;
        }
        let asked = (Span::of(read).last_page() + 1).saturating_sub(page).max(1);
        let largest = match self.options.max_pages {
            0 => u64::MAX,
            pages => pages.into(),
        };
        let pages = u32::try_from(asked.min(largest)).unwrap_or(u32::MAX);
        let mut window = Window { first: page, pages, marker: None };
        let largest = self.options.max_pages.into();
        if let Some(state) = self.files.get(read.file) {
            state.fetched_now = page..page + u64::from(pages);
            if let Some(hole) = dense::hole(page, state.around_halved, largest, ahead) {
                let end = hole.end.max(state.fetched_now.end);
                window.first = hole.start;
                window.pages = u32::try_from(end - hole.start).unwrap_or(pages);
            }
        }
        ahead.submit(window);
    }

    /// A fault that belongs to no stream is likely to have others around it, since a program maps
    /// what it does not read in order. The block around it is fetched, and a smaller one if blocks
    /// were wasted.
    pub(super) fn around(&mut self, file: Handle, page: PageNo, ahead: &mut dyn Ahead) {
        let limits = self.limits(ahead);
        let Some(state) = self.files.get(file) else { return };
        let largest = (limits.gap / 2).clamp(4, AROUND_PAGES_MAX).min(limits.window);
        let pages = largest >> state.around_halved;
        let pages = if ahead.congested() { 1 } else { pages.max(1) };
        let first = page / pages * pages;
        ahead.submit(Window { first, pages: pages as u32, marker: None });
        // No fault shows the reads in the block; the next one may be at either end of it.
        let Some(id) = state.current else { return };
        let last = Span::of_page(first.saturating_add(pages - 1));
        let block = Span { start: Span::of_page(first).start, end: last.end };
        self.table.change(id, |stream| {
            if !stream.is_known() {
                stream.turn(Facing::Forward);
                (stream.last, stream.run_start) = (block, block.start);
            }
        });
    }
}

/// Fetches a window in as many requests as are good for the device.
fn submit_in_pieces(window: Window, limits: &Limits, ahead: &mut dyn Ahead) {
    let piece = limits.piece(window.pages.into());
    let end = window.first + u64::from(window.pages);
    let mut first = window.first;
    while first < end {
        let pages = piece.min(end - first);
        let marker = window.marker.filter(|page| (first..first + pages).contains(page));
        ahead.submit(Window { first, pages: pages as u32, marker });
        first += pages;
    }
}
