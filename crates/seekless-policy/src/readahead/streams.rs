//! Readahead from a table of streams: it finds forward, backward, strided and sparse streams among
//! reads in any order, and weighs each window by what the device charges.

mod crowd;
mod deltas;
mod dense;
mod discover;
mod doubt;
mod file;
mod index;
mod limits;
mod pace;
mod run;
mod span;
mod stream;
mod stride;
mod strided;
mod table;
#[cfg(test)]
mod tests;

use self::crowd::Crowd;
use self::discover::Found;
use self::doubt::Doubt;
use self::file::{File, PROVEN_READS};
use self::limits::Limits;
use self::pace::Pace;
use self::run::Demand;
use self::span::{Facing, Span};
use self::stream::{Pattern, Step, Stream};
use self::table::{NEAR_BYTES, Place, Table};
use super::options::{Options, PAGE_BYTES};
use super::slab::Slab;
use super::{Ahead, Fate, Handle, PageNo, Read, Readahead, Trigger, Window, size};
use crate::id::Id;

/// A strided stream whose element grows to so many reads is a run.
const ELEMENT_READS_MAX: u64 = 8;
/// Streams that are remembered at once, over all files.
const STREAMS_MAX: usize = 1 << 14;
/// A single read is a run if it is longer than a window and than 128 KiB.
const LONG_PAGES_MIN: u64 = 32;
/// The pages around a fault that belongs to no stream: at most 64 KiB.
const AROUND_PAGES_MAX: u64 = 16;
/// The read-around of faults is halved at most so often.
const AROUND_HALVED_MAX: u8 = 4;

/// Readahead from a table of streams.
///
/// - **Idea:** a table remembers the last reads of each stream. A read is matched to a stream by
///   the page in which the stream's next read should begin, else by nearness; so the reads of a
///   stream need not follow each other in time. Two reads that adjoin are a run, forward or
///   backward. Two equal distances are a stride, by majority vote over the last eight. Four small
///   steps in one direction are a sparse run. The more reads of no stream lie between, the more
///   reads must agree, unless the last reads adjoined each other far more often than by chance. A
///   read that fits no stream begins one, of which nothing is fetched: so a random read fetches
///   nothing but in a dense part, and no stream is changed by it. A run follows its reader over a
///   gap only after two reads there.
/// - **Windows** start at the size that Linux has, larger where requests are dear, and larger still
///   where the file's other streams went on. They grow as in Linux up to eight times the bytes that
///   a request costs, and to 16 times if readers wait for any stream on a device that serves one
///   request at a time. Beyond that they grow only when the reader waits. They are halved when
///   pages are evicted before use. A window is at most the option's, and at most the budget over
///   twice the streams that are active. The lead is the whole window, and less when the reader does
///   not wait. A window is cut into as many requests as the device serves at once, but none of less
///   than 128 KiB, or that takes less time than its request.
/// - **Gaps** of strides are read too where that costs less than the requests it saves, of the
///   device or of the processor, and where other streams read them: several threads that take turns
///   at one run look like as many strides. Elsewhere each element is a request, and as many are in
///   flight as the device serves at once. Where runs are all of one length or several
///   times it, no window goes past it, and a run is fetched whole.
/// - **Dense parts:** where three pages of eight around a random read are cached, the hole that it
///   falls into is filled, up to 64 KiB, unless these take longer than the request.
/// - **Cost:** a read compares at most 21 streams, whatever their number; mostly one or two. A page
///   of a stream costs nothing but its share of a window.
/// - **Memory:** about 330 bytes a stream, at most 16,384 streams; 300 bytes an open file. The
///   oldest stream makes room for a new one; random reads cannot push out known streams.
/// - **Shines** on backward, strided and many interleaved streams. **Fails** where the next place
///   depends on what was read (trees, hash tables), on runs of two or three reads, and on streams
///   that interleave within less than their stride: it then sees one sparse run.
///
/// Sources: OpenZFS zfetch (streams by expected block, windows that grow when the reader caught
/// up), Leap (Al Maruf and Chowdhury 2020: the vote), Li, Shen and Papathanasiou 2007 (windows from
/// the cost of a request), Linux (sizes, reads around faults). The numbers in the files are chosen
/// by reasoning and on the modelled devices of the tests, not fitted to traces.
#[derive(Debug)]
pub struct Streams {
    options: Options,
    files: Slab<File>,
    table: Table,
    crowd: Crowd,
    /// The number of reads so far.
    reads: u64,
    /// The number of openings so far.
    openings: u64,
    /// How often a reader came to a page of any stream before its fetch had ended; it wraps.
    waits: u16,
}

impl Streams {
    /// Knows no file yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::with_streams(options, STREAMS_MAX)
    }

    /// Remembers at most `streams_max` streams.
    fn with_streams(options: Options, streams_max: usize) -> Self {
        Self {
            options,
            files: Slab::default(),
            table: Table::new(streams_max),
            crowd: Crowd::default(),
            reads: 0,
            openings: 0,
            waits: 0,
        }
    }

    fn limits(&self, ahead: &dyn Ahead) -> Limits {
        Limits::new(self.options, self.crowd.active(), ahead)
    }

    /// Takes note of a read, and fetches what its stream needs.
    fn see(&mut self, file: Handle, read: Span, ahead: &mut dyn Ahead) {
        self.reads += 1;
        let limits = self.limits(ahead);
        let Some(state) = self.files.get(file) else { return };
        let (opening, current) = (state.opening, state.current);
        let id = match self.table.find(opening, current, read) {
            Place::On(id, Step::Within) => id,
            Place::On(id, Step::Next { gap_bytes }) => {
                let doubt = Self::doubt(&self.table, id, read, state, ahead.pages());
                match run::is_next_by_chance(self.table.get(id), gap_bytes, doubt) {
                    true => self.begin(file, read, Some(id), &limits, ahead),
                    false if self.outgrows(id, read) => {
                        let id = self.advance(file, id, read, gap_bytes);
                        let facing = self.table.get(id).facing;
                        self.discovered(file, id, Found::Run { facing, gap_bytes: 0 }, &limits)
                    }
                    false => self.advance(file, id, read, gap_bytes),
                }
            }
            Place::Joins(id) => {
                let doubt = Self::doubt(&self.table, id, read, state, ahead.pages());
                match discover::belongs(self.table.get(id), read, doubt) {
                    true => self.join(file, id, read, doubt, &limits),
                    false => self.begin(file, read, None, &limits, ahead),
                }
            }
            Place::Alone { near } => self.begin(file, read, near, &limits, ahead),
        };
        let Some(state) = self.files.get(file) else { return };
        state.current = Some(id);
        if self.table.get(id).is_known() {
            let stream = self.table.get_mut(id);
            self.crowd.read(stream);
            let read = read.facing(stream.facing);
            let demand = Demand { first: read.first_page(), end: read.last_page() + 1 };
            state.fetched_now = stream.facing.pages(demand.first.max(stream.front)..demand.end);
            if stream.pattern == Pattern::Run && demand.end > stream.stop {
                let is_left = current != Some(id);
                let further = state.run_went_on(stream.run_bytes(), is_left);
                stream.stop = further.map_or(PageNo::MAX, |pages| {
                    stream.stop + (demand.end - stream.stop).next_multiple_of(pages)
                });
            }
            self.fetch(id, demand, ahead);
        }
    }

    /// Whether a strided stream reads on and on where it is. Then it is a run, not a stride: the
    /// first reads of streams that begin at equal distances look like one.
    fn outgrows(&self, id: Id, read: Span) -> bool {
        let stream = self.table.get(id);
        let Pattern::Strided(stride) = stream.pattern else { return false };
        let read = read.facing(stream.facing);
        let bytes = read.end.saturating_sub(stream.run_start);
        run::continues(stream.last, read)
            && bytes > stride.element
            && bytes >= ELEMENT_READS_MAX * read.bytes()
    }

    /// A read is the next of a known stream.
    fn advance(&mut self, file: Handle, id: Id, read: Span, gap_bytes: u64) -> Id {
        let now = self.reads;
        let Some(state) = self.files.get(file) else { return id };
        let chain = self.table.change(id, |stream| {
            let read = read.facing(stream.facing);
            match stream.pattern {
                Pattern::Strided(stride) => {
                    stream.pattern = Pattern::Strided(strided::advance(stream, stride, read));
                }
                _ => run::advance(stream, read, gap_bytes),
            }
            (stream.moved, stream.stray_reads) = (now, state.stray_reads);
            stream.chain = stream.chain.saturating_add(1);
            stream.chain
        });
        if chain == PROVEN_READS {
            state.stream_proven();
        }
        if chain >= PROVEN_READS {
            state.learn_window(self.table.get(id).pace.window());
        }
        id
    }

    /// How likely it is that a read fits a stream by chance.
    fn doubt(table: &Table, id: Id, read: Span, state: &File, pages: u64) -> Doubt {
        Doubt {
            reads_between: state.stray_reads.wrapping_sub(table.get(id).stray_reads),
            places: pages / read.pages(),
            file_bytes: pages.saturating_mul(PAGE_BYTES),
            wrong: state.wrong(),
            recent: state.recent(),
            unknown: table.unknown(),
        }
    }

    /// A read adjoins an unknown stream, or is near it. Returns the stream that it is of now.
    fn join(&mut self, file: Handle, id: Id, read: Span, doubt: Doubt, limits: &Limits) -> Id {
        if let Some(parent) = self.sparse_parent(id, read) {
            return self.follow(file, parent, id, Some(read));
        }
        let Some(state) = self.files.get(file) else { return id };
        if discover::adjoins(self.table.get(id), read) {
            state.read_adjoined();
        }
        state.stray_reads = state.stray_reads.wrapping_add(1);
        let (now, stray_reads) = (self.reads, state.stray_reads);
        let found = self.table.change(id, |stream| {
            (stream.moved, stream.stray_reads) = (now, stray_reads);
            discover::take(stream, read, doubt)
        });
        match found {
            Some(found) => self.discovered(file, id, found, limits),
            None => id,
        }
    }

    /// An unknown stream turned out to be something.
    fn discovered(&mut self, file: Handle, id: Id, found: Found, limits: &Limits) -> Id {
        if let Found::Run { facing, .. } = found
            && let Some(parent) = self.ended_parent(file, id, facing)
        {
            return self.follow(file, parent, id, None);
        }
        let Some(state) = self.files.get(file) else { return id };
        let asked = self.table.get(id).last.pages();
        let window = state.first_window(size::first(asked, limits.window), limits);
        state.stream_discovered();
        let run_pages = state.run_pages();
        self.table.change(id, |stream| match found {
            Found::Run { facing, gap_bytes } => {
                stream.turn(facing);
                (stream.pattern, stream.gap_bytes) = (Pattern::Run, gap_bytes);
                begin_fetching(stream, window);
                let start = stream.run_start / PAGE_BYTES;
                stream.stop = run_pages.map_or(PageNo::MAX, |pages| start + pages);
            }
            Found::Strided { facing, stride } => {
                stream.turn(facing);
                stream.pattern = Pattern::Strided(stride);
                begin_fetching(stream, strided::first_window(stride, limits));
            }
        });
        id
    }

    /// A read fits no stream: it begins one. At the start of a file, and where all of the last
    /// streams were runs of one length, it is taken for a run; so is a read that is longer than a
    /// window.
    fn begin(
        &mut self,
        file: Handle,
        read: Span,
        near: Option<Id>,
        limits: &Limits,
        ahead: &dyn Ahead,
    ) -> Id {
        let Some(state) = self.files.get(file) else { return 0 };
        state.stream_began(read.first_page());
        state.stray_reads = state.stray_reads.wrapping_add(1);
        let opening = state.opening;
        let parent = near.or(state.current).map(|id| self.table.seen(id));
        let mut stream = Stream::begin(opening, read, parent);
        (stream.moved, stream.stray_reads) = (self.reads, state.stray_reads);
        let id = self.table.add(stream);
        let seen = self.table.seen(id);
        let table = &self.table;
        state.strays.push(seen, read, |seen| table.is_as_seen(seen));
        let is_start = read.first_page() == 0 && !ahead.cached(0);
        let is_long = limits.window > 0 && read.pages() > limits.window.max(LONG_PAGES_MIN);
        let facing = Facing::Forward;
        if is_start || is_long || state.trusts_a_single_read(limits) {
            let id = self.discovered(file, id, Found::Run { facing, gap_bytes: 0 }, limits);
            if is_long {
                self.table.get_mut(id).stop = read.last_page() + 1;
            }
            return id;
        }
        let doubt = Doubt { wrong: state.wrong(), ..Doubt::default() };
        match state.strays.delta(doubt.votes() + 1) {
            Some(delta) if delta.unsigned_abs() > NEAR_BYTES => {
                self.discovered(file, id, discover::strided(delta, read), limits)
            }
            _ => id,
        }
    }

    /// The run that an unknown stream continues after a gap: it was not read since the stream
    /// began, and lies a little before it. Of a run that lies elsewhere the file learns that it
    /// ended.
    fn ended_parent(&mut self, file: Handle, id: Id, facing: Facing) -> Option<Id> {
        let child = self.table.get(id);
        let seen = child.parent.filter(|&seen| self.table.is_as_seen(seen))?;
        let parent = self.table.get(seen.id);
        if parent.file != child.file || parent.pattern != Pattern::Run {
            return None;
        }
        if parent.gap_bytes == 0 && parent.facing == Facing::Forward {
            let (bytes, reads) = (parent.run_bytes(), parent.chain);
            self.files.get(file)?.learn_run(bytes, reads);
        }
        let (child, parent) = (self.table.get(id), self.table.get(seen.id));
        let start = child.last.facing(child.facing).facing(facing).start;
        let gap_bytes = start.checked_sub(parent.last.end)?;
        (parent.facing == facing && gap_bytes <= NEAR_BYTES).then_some(seen.id)
    }

    /// The run that skipped twice: once to an unknown stream of one read, and once more to `read`.
    fn sparse_parent(&self, id: Id, read: Span) -> Option<Id> {
        let child = self.table.get(id);
        let seen = child.parent.filter(|&seen| self.table.is_as_seen(seen))?;
        let parent = self.table.get(seen.id);
        let facing = parent.facing;
        let (first, second) = (child.last.facing(child.facing).facing(facing), read.facing(facing));
        let gap = |from: Span, to: Span| to.start.checked_sub(from.end);
        let is_near = |gap: Option<u64>| gap.is_some_and(|bytes| bytes <= NEAR_BYTES);
        (parent.file == child.file
            && parent.pattern == Pattern::Run
            && child.chain == 0
            && !run::continues(first, second)
            && is_near(gap(parent.last, first))
            && is_near(gap(first, second)))
        .then_some(seen.id)
    }

    /// A run goes on where an unknown stream is, which is forgotten; `skipped` is a further read
    /// behind a gap.
    fn follow(&mut self, file: Handle, parent: Id, child: Id, skipped: Option<Span>) -> Id {
        let now = self.reads;
        let child_now = *self.table.get(child);
        self.table.drop(child);
        let usual = self.files.get(file).and_then(|state| state.run_pages());
        self.table.change(parent, |run| {
            let last = child_now.last.facing(child_now.facing).facing(run.facing);
            let is_same_way = child_now.facing == run.facing;
            let start = if is_same_way { child_now.run_start } else { last.start };
            let gap_bytes = start.saturating_sub(run.last.end);
            run::jump(run, start, last, usual);
            if let Some(read) = skipped {
                run::jump_again(run, gap_bytes, read.facing(run.facing));
            }
            run.moved = now;
        });
        parent
    }

    /// Fetches what a known stream needs next.
    fn fetch(&mut self, id: Id, demand: Demand, ahead: &mut dyn Ahead) {
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

    /// The stream for which a page of the file was fetched, as `is_it` tells.
    fn stream_of(
        &mut self,
        file: Handle,
        page: PageNo,
        is_it: impl Fn(&Stream) -> bool,
    ) -> Option<Id> {
        let state = self.files.get(file)?;
        let is_current = |id: &Id| {
            let stream = self.table.get(*id);
            stream.file == state.opening && is_it(stream)
        };
        let current = state.current.filter(is_current);
        current.or_else(|| self.table.of_page(state.opening, page, is_it))
    }

    /// A page of a mapped file is missing. Nothing tells that pages before it were read which had
    /// been fetched: where it lies behind the last of them, the run has come to there.
    fn passed(&mut self, file: Handle, page: PageNo) {
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
    fn reached(&mut self, file: Handle, page: PageNo, ahead: &mut dyn Ahead) {
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
    fn missed(&mut self, read: Read, page: PageNo, ahead: &mut dyn Ahead) {
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
    fn around(&mut self, file: Handle, page: PageNo, ahead: &mut dyn Ahead) {
        let limits = self.limits(ahead);
        let Some(state) = self.files.get(file) else { return };
        let largest = (limits.gap / 2).clamp(4, AROUND_PAGES_MAX).min(limits.window);
        let pages = largest >> state.around_halved;
        let pages = if ahead.congested() { 1 } else { pages.max(1) };
        let first = page / pages * pages;
        ahead.submit(Window { first, pages: pages as u32, marker: None });
        // No fault tells of the reads in the block; the next one may be at either end of it.
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

/// A stream that was unknown fetches its first window from its last read on.
fn begin_fetching(stream: &mut Stream, window: u64) {
    stream.pace = Pace::start(window);
    stream.front = stream.last.first_page();
    stream.windows = 0;
    stream.chain = 0;
}

impl Readahead for Streams {
    fn open(&mut self, file: Handle) {
        self.openings += 1;
        self.files.open(file);
        if let Some(state) = self.files.get(file) {
            state.opening = self.openings;
        }
    }

    fn close(&mut self, file: Handle) {
        self.files.close(file);
    }

    fn on_read(&mut self, read: Read, ahead: &mut dyn Ahead) {
        self.see(read.file, Span::of(read), ahead);
    }

    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        match why {
            Trigger::Miss => self.missed(read, page, ahead),
            Trigger::Marker => self.reached(read.file, page, ahead),
            Trigger::Fault => {
                self.passed(read.file, page);
                self.see(read.file, Span::of_page(page), ahead);
                if !ahead.cached(page) {
                    self.around(read.file, page, ahead);
                }
            }
        }
    }

    fn on_fate(&mut self, file: Handle, page: PageNo, fate: Fate) {
        match fate {
            Fate::InTime => {
                if self.files.get(file).is_some_and(|state| state.around_halved > 0)
                    && self.stream_of(file, page, |stream| stream.fetched(page)).is_none()
                    && let Some(state) = self.files.get(file)
                {
                    state.around_halved -= 1;
                }
            }
            Fate::Late => {
                let Some(state) = self.files.get(file) else { return };
                if state.fetched_now.contains(&page) {
                    return;
                }
                if let Some(id) = self.stream_of(file, page, |stream| stream.fetched(page)) {
                    self.waits = self.waits.wrapping_add(1);
                    self.table.get_mut(id).pace.caught_up();
                }
            }
            Fate::Wasted => {
                if let Some(id) = self.stream_of(file, page, |stream| stream.waits_for(page)) {
                    self.table.get_mut(id).pace.lost_a_page();
                } else if let Some(state) = self.files.get(file) {
                    state.around_halved = (state.around_halved + 1).min(AROUND_HALVED_MAX);
                }
            }
        }
    }
}
