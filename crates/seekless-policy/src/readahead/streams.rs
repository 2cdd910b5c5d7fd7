//! Readahead from a table of streams: it finds forward, backward, strided and sparse streams among
//! reads in any order, and weighs each window by what the device charges.

mod crowd;
mod deltas;
mod dense;
mod discover;
mod doubt;
mod fetching;
mod file;
mod index;
mod limits;
mod matching;
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
use self::file::File;
use self::limits::Limits;
use self::run::Demand;
use self::span::Span;
use self::stream::{Pattern, Step};
use self::table::{Place, Table};
use super::options::Options;
use super::slab::Slab;
use super::{Ahead, Fate, Handle, PageNo, Read, Readahead, Trigger};

/// A strided stream whose element grows to this many reads is a run.
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
///   read that fits no stream begins one without a fetch: so a random read fetches only in a dense
///   part, and changes no stream. A run follows its reader over a gap only after two reads there.
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
