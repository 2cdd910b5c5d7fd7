//! The streams of all files: a bounded table, and what finds a stream for a read without looking
//! at the others.
//!
//! Two indexes lead to a stream: the page in which its next read should begin, and the regions of
//! 1 MiB in which its last read and its last window lie.

use super::discover;
use super::index::{Index, key};
use super::span::{BOTH, Facing, Span};
use super::stream::{Pattern, Seen, Step, Stream};
use super::{run, strided};
use crate::arrays::list::Lists;
use crate::id::Id;
use crate::readahead::PageNo;
use crate::readahead::options::PAGE_BYTES;

/// Reads are near each other within this distance, in bytes.
pub(super) const NEAR_BYTES: u64 = 1 << 20;
const REGION_PAGES: u64 = NEAR_BYTES / PAGE_BYTES;

/// Streams before the table first grows.
const STREAMS_MIN: usize = 64;
/// Unknown streams make room for others while they are more than a quarter of what the table may
/// hold: then random reads cannot push out the streams that are known, nor spread the table over
/// more memory than the processor has near.
const UNKNOWN_SHARE: usize = 4;

const UNKNOWN: usize = 0;
const KNOWN: usize = 1;

/// The kinds of keys.
const REGION: u64 = 2;

/// The most streams that one look-up compares: the current one, those whose next read begins in
/// this page in either direction, and those of three regions.
#[cfg(test)]
pub(super) const LOOKED_AT_MAX: usize = 1 + (2 + 3) * super::index::WAYS;

/// What a read is to the streams of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is a step of a known stream.
    On(Id, Step),
    /// It adjoins an unknown stream, or is near one.
    Joins(Id),
    /// It is far from every unknown stream, and no step of a known one. A known one may be near.
    Alone { near: Option<Id> },
}

/// The streams of all files.
#[derive(Debug)]
pub(super) struct Table {
    streams: Vec<Stream>,
    /// The unknown and the known streams, the one that was read last first.
    order: Lists<2>,
    unknown: usize,
    starts: Index,
    regions: Index,
    /// How many streams the indexes are made for.
    room: usize,
    streams_max: usize,
    /// Streams compared by the last look-up.
    #[cfg(test)]
    pub(super) looked_at: std::cell::Cell<usize>,
}

impl Table {
    /// A table of at most `streams_max` streams.
    pub(super) fn new(streams_max: usize) -> Self {
        let streams_max = streams_max.max(2);
        let room = STREAMS_MIN.min(streams_max);
        Self {
            streams: Vec::new(),
            order: Lists::new(),
            unknown: 0,
            starts: Index::new(2 * room),
            regions: Index::new(2 * room),
            room,
            streams_max,
            #[cfg(test)]
            looked_at: Default::default(),
        }
    }

    pub(super) fn get(&self, id: Id) -> &Stream {
        &self.streams[id as usize]
    }

    /// For changes that leave the file, the pattern and the place of the stream as they are.
    pub(super) fn get_mut(&mut self, id: Id) -> &mut Stream {
        &mut self.streams[id as usize]
    }

    /// Streams with only a few known reads, over all files.
    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// How the stream stands now.
    pub(super) fn seen(&self, id: Id) -> Seen {
        Seen { id, moved: self.get(id).moved }
    }

    /// Whether the stream was not read since.
    pub(super) fn is_as_seen(&self, seen: Seen) -> bool {
        self.get(seen.id).moved == seen.moved
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }

    /// Adds an unknown stream; the oldest one makes room for it if the table is full.
    pub(super) fn add(&mut self, stream: Stream) -> Id {
        let id = self.vacant();
        self.streams[id as usize] = stream;
        self.order.push_front(UNKNOWN, id);
        self.unknown += 1;
        self.enter(id);
        id
    }

    /// Forgets a stream.
    pub(super) fn drop(&mut self, id: Id) {
        self.leave(id);
        self.take_out(id);
        let stream = self.get_mut(id);
        (stream.file, stream.moved, stream.pattern) = (0, 0, Pattern::Unknown);
        self.order.push_back(UNKNOWN, id);
        self.unknown += 1;
    }

    /// Changes what may lead to a stream, and makes it the one that was read last.
    pub(super) fn change<T>(&mut self, id: Id, change: impl FnOnce(&mut Stream) -> T) -> T {
        self.leave(id);
        self.take_out(id);
        let result = change(self.get_mut(id));
        let list = if self.get(id).is_known() { KNOWN } else { UNKNOWN };
        self.order.push_front(list, id);
        self.unknown += usize::from(list == UNKNOWN);
        self.enter(id);
        result
    }

    /// Lets the pages of a window lead to the stream that fetched them.
    pub(super) fn note_window(&mut self, id: Id, first: PageNo, pages: u32) {
        let file = self.get(id).file;
        let last = (first + u64::from(pages).max(1) - 1) / REGION_PAGES;
        for region in first / REGION_PAGES..=last {
            self.regions.insert(key(file, REGION, region), id);
        }
    }

    /// The stream for which `page` was fetched: the one that `is_it` accepts.
    pub(super) fn of_page(
        &self,
        file: u64,
        page: PageNo,
        is_it: impl Fn(&Stream) -> bool,
    ) -> Option<Id> {
        let mut ids = self.regions.find(key(file, REGION, page / REGION_PAGES));
        ids.find(|&id| self.get(id).file == file && is_it(self.get(id)))
    }

    /// Matches a read with the stream that it continues, if any. `current` is the stream of the
    /// last read.
    pub(super) fn find(&self, file: u64, current: Option<Id>, read: Span) -> Place {
        #[cfg(test)]
        self.looked_at.set(0);
        let current = current.filter(|&id| self.look(id, file).is_some());
        if let Some(id) = current
            && let Some(step @ Step::Next { gap_bytes: 0 }) = step(self.get(id), read)
        {
            return Place::On(id, step);
        }
        self.expecting(file, read).unwrap_or_else(|| self.near(file, read))
    }

    /// A stream whose next read should begin where the read begins.
    fn expecting(&self, file: u64, read: Span) -> Option<Place> {
        let mut adjoined = None;
        for facing in BOTH {
            let page = read.facing(facing).first_page();
            for id in self.starts.find(key(file, facing as u64, page)) {
                let Some(stream) = self.look(id, file) else { continue };
                match step(stream, read) {
                    Some(step @ Step::Next { .. }) => return Some(Place::On(id, step)),
                    None if !stream.is_known() && discover::adjoins(stream, read) => {
                        adjoined = adjoined.or(Some(Place::Joins(id)));
                    }
                    _ => {}
                }
            }
        }
        adjoined
    }

    /// The nearest stream that the read fits, or may belong to.
    fn near(&self, file: u64, read: Span) -> Place {
        let region = read.first_page() / REGION_PAGES;
        let (mut fits, mut unknown, mut known) = (None, None, None);
        for region in [Some(region), region.checked_sub(1), Some(region + 1)] {
            let Some(region) = region else { continue };
            for id in self.regions.find(key(file, REGION, region)) {
                let Some(stream) = self.look(id, file) else { continue };
                let distance = stream.last.facing(stream.facing).start.abs_diff(read.start);
                let nearest = match (stream.is_known(), step(stream, read)) {
                    (true, Some(step)) => {
                        fits = nearer(fits, (distance, Place::On(id, step)));
                        continue;
                    }
                    (true, None) => &mut known,
                    (false, _) => &mut unknown,
                };
                if distance <= NEAR_BYTES {
                    *nearest = nearer(*nearest, (distance, id));
                }
            }
        }
        match (fits, unknown) {
            (Some((_, place)), _) => place,
            (None, Some((_, id))) => Place::Joins(id),
            (None, None) => Place::Alone { near: known.map(|(_, id)| id) },
        }
    }

    /// The stream `id` if it is of this file.
    fn look(&self, id: Id, file: u64) -> Option<&Stream> {
        #[cfg(test)]
        self.looked_at.set(self.looked_at.get() + 1);
        self.streams.get(id as usize).filter(|stream| stream.file == file)
    }

    /// A place for a new stream, in no list and no index.
    fn vacant(&mut self) -> Id {
        let oldest = self.order.back(UNKNOWN);
        if let Some(id) = oldest.filter(|&id| self.get(id).file == 0) {
            self.take_out(id);
            return id;
        }
        let spare = self.unknown > self.streams_max / UNKNOWN_SHARE;
        if self.streams.len() < self.streams_max && !spare {
            return self.append();
        }
        let known = self.order.back(KNOWN);
        let id = if spare { oldest.or(known) } else { known.or(oldest) };
        let id = id.expect("a full table has a stream");
        self.leave(id);
        self.take_out(id);
        id
    }

    fn append(&mut self) -> Id {
        if self.streams.len() == self.room {
            self.room = (2 * self.room).min(self.streams_max);
            self.starts = Index::new(2 * self.room);
            self.regions = Index::new(2 * self.room);
            for list in [UNKNOWN, KNOWN] {
                let ids: Vec<Id> = self.order.iter(list).collect();
                ids.into_iter().rev().for_each(|id| self.enter(id));
            }
        }
        let id = self.streams.len() as Id;
        self.streams.push(Stream::begin(0, Span::of_page(0), None));
        self.order.grow(id + 1);
        id
    }

    fn take_out(&mut self, id: Id) {
        self.order.unlink(id);
        self.unknown -= usize::from(!self.get(id).is_known());
    }

    fn enter(&mut self, id: Id) {
        let stream = &self.streams[id as usize];
        let (starts, region) = keys(stream);
        starts.into_iter().for_each(|key| self.starts.insert(key, id));
        self.regions.insert(region, id);
    }

    fn leave(&mut self, id: Id) {
        let stream = &self.streams[id as usize];
        let (starts, region) = keys(stream);
        starts.into_iter().for_each(|key| self.starts.remove(key, id));
        self.regions.remove(region, id);
    }
}

fn nearer<T: Copy>(best: Option<(u64, T)>, other: (u64, T)) -> Option<(u64, T)> {
    Some(best.filter(|best| best.0 <= other.0).unwrap_or(other))
}

/// The keys under which a stream is found: where its next read may begin, and its region.
fn keys(stream: &Stream) -> ([u64; 2], u64) {
    let last = stream.last.facing(stream.facing);
    let start = |facing: Facing, byte: u64| key(stream.file, facing as u64, byte / PAGE_BYTES);
    let starts = match stream.pattern {
        Pattern::Unknown => BOTH.map(|facing| start(facing, last.facing(facing).end)),
        Pattern::Run => [start(stream.facing, stream.last.end); 2],
        Pattern::Strided(stride) => {
            let next = stream.run_start.saturating_add(stride.delta);
            [start(stream.facing, next), start(stream.facing, stream.last.end)]
        }
    };
    (starts, key(stream.file, REGION, last.first_page() / REGION_PAGES))
}

/// What a read of the file, as it is in the file, is to a stream; `None` if it does not fit.
fn step(stream: &Stream, read: Span) -> Option<Step> {
    let read = read.facing(stream.facing);
    match stream.pattern {
        Pattern::Unknown => None,
        Pattern::Run => run::step(stream, read),
        Pattern::Strided(stride) => strided::step(stream, stride, read),
    }
}
