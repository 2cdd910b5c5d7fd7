//! Which stream a read belongs to: one that it continues, one that it joins, or a new one.

use super::discover::{self, Found};
use super::doubt::Doubt;
use super::file::{File, PROVEN_READS};
use super::limits::Limits;
use super::pace::Pace;
use super::span::{Facing, Span};
use super::stream::{Pattern, Stream};
use super::table::{NEAR_BYTES, Table};
use super::{ELEMENT_READS_MAX, LONG_PAGES_MIN, Streams, run, strided};
use crate::id::Id;
use crate::readahead::options::PAGE_BYTES;
use crate::readahead::{Ahead, Handle, PageNo, size};

impl Streams {
    /// Whether a strided stream reads on and on where it is. Then it is a run, not a stride: the
    /// first reads of streams that begin at equal distances look like one.
    pub(super) fn outgrows(&self, id: Id, read: Span) -> bool {
        let stream = self.table.get(id);
        let Pattern::Strided(stride) = stream.pattern else { return false };
        let read = read.facing(stream.facing);
        let bytes = read.end.saturating_sub(stream.run_start);
        run::continues(stream.last, read)
            && bytes > stride.element
            && bytes >= ELEMENT_READS_MAX * read.bytes()
    }

    /// A read is the next of a known stream.
    pub(super) fn advance(&mut self, file: Handle, id: Id, read: Span, gap_bytes: u64) -> Id {
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
    pub(super) fn doubt(table: &Table, id: Id, read: Span, state: &File, pages: u64) -> Doubt {
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
    pub(super) fn join(
        &mut self,
        file: Handle,
        id: Id,
        read: Span,
        doubt: Doubt,
        limits: &Limits,
    ) -> Id {
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
    pub(super) fn discovered(&mut self, file: Handle, id: Id, found: Found, limits: &Limits) -> Id {
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
    pub(super) fn begin(
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

    /// The stream for which a page of the file was fetched: the one that `is_it` accepts.
    pub(super) fn stream_of(
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
}

/// A stream that was unknown fetches its first window from its last read on.
fn begin_fetching(stream: &mut Stream, window: u64) {
    stream.pace = Pace::start(window);
    stream.front = stream.last.first_page();
    stream.windows = 0;
    stream.chain = 0;
}
