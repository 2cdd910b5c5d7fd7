//! Getting the next bytes, from the cache or from the device, and making chunks of them.

use super::device::{self, DIRECT_BYTES, Delivered, Done, Job, Way};
use super::linear::Start;
use super::source::{Planned, Stamp, State};
use super::survey::{ASKED_BYTES, Room};
use super::{Bytes, Reader, Ready, Trouble};
use crate::Records;
use crate::cached::pages;
use crate::growth::Growth;
use crate::touch::spacing;
use seekless_engine::AlignedBuf;
use seekless_sys::descriptor::by_descriptor;
use seekless_sys::folios::FOLIO_BYTES;
use seekless_sys::guarded::GuardedMap;
use seekless_sys::memory::page_bytes;
use std::fs::File;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What is mapped at a time: large enough that system calls do not show, small enough for page tables not to.
const WINDOW_BYTES: u64 = 4 << 20;
/// Below this a copy costs less than a mapping.
const MAPPED_BYTES_MIN: u64 = 128 << 10;
/// One read of what is cached, where it is not mapped.
const CACHED_READ_BYTES: u64 = 256 << 10;
/// One read from the device.
const DEVICE_READ_BYTES: u64 = 1 << 20;
/// Chunks smaller than this (tests, small records) make reads as small.
const SMALL_CHUNK: usize = 64 << 10;
/// Reads in flight, in a small cache and in a large one. Always as many in one cache: a pass that takes more memory than the one
/// before pushes out some of what that one kept.
pub(super) const DEPTH: usize = 2;
pub(super) const DEPTH_LARGE: usize = 4;
/// A cached read above this was none.
const SURPRISE: Duration = Duration::from_millis(4);
/// The least time between two looks because of surprises.
const LOOKS_APART: Duration = Duration::from_millis(50);
/// How old an answer about what is cached may get.
const ANSWER_AGE: Duration = Duration::from_millis(300);
/// A range up to this size is read before the cached one behind it, for those who need order.
const GAP_BYTES: u64 = 64 << 20;

/// Where the bytes of the current chunks lie.
#[derive(Debug)]
pub(super) enum Block {
    Empty,
    Read(AlignedBuf, Range<usize>),
    Mapped(GuardedMap, Range<usize>),
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Block::Empty => &[],
            Block::Read(buffer, range) => &buffer[range.clone()],
            Block::Mapped(map, range) => &map.bytes()[range.clone()],
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Block::Mapped(map, _) if map.is_lost())
    }
}

impl Reader {
    /// After the caller has seen a file's last block: was it sound, and was it the file's last? True if that made an event.
    pub(super) fn settle(&mut self) -> bool {
        let Some(file) = self.touched.take() else { return false };
        let lost = self.block.is_lost();
        self.release();
        let cached_only = self.options.cached_only;
        let Some(planned) = self.sources.planned(file) else { return false };
        let complete =
            planned.cached.is_empty() && (cached_only || !planned.lacks()) && planned.in_flight == 0;
        if lost {
            self.restart(file);
        } else if complete {
            self.finish(file);
        }
        lost || complete
    }

    fn release(&mut self) {
        if let Block::Read(buffer, _) = std::mem::replace(&mut self.block, Block::Empty) {
            self.recycle(buffer);
        }
    }

    fn recycle(&mut self, buffer: AlignedBuf) {
        if buffer.capacity() < self.device_capacity() {
            self.small = buffer;
        } else {
            self.spare.push(buffer);
        }
    }

    /// All that was there has come: if nothing was appended meanwhile, that is the answer.
    fn finish(&mut self, file: usize) {
        let Some(opened) = self.opened(file) else { return };
        let now = Stamp::of(&opened.buffered);
        let cached_only = self.options.cached_only;
        let Some(planned) = self.sources.planned(file) else { return };
        match now {
            // A byte that did not come would be an error of ours; still no answer is given without it.
            Ok(now) if planned.stamp.is_kept_by(&now) && (cached_only || planned.is_delivered()) => {
                let (end, base, unknown) = (planned.stamp.bytes, planned.base, !planned.known);
                let last = planned.stitch.take_last(end - base);
                if now.bytes > end && !cached_only {
                    return self.go_on(file, &opened.buffered, last);
                }
                let emitted = planned.emitted + last.as_ref().map_or(0, |(_, record)| record.len() as u64);
                self.sources[file].leave_at(end);
                self.forget(file);
                let last =
                    last.map(|(offset, record)| Ready::Chunk { file, offset, bytes: Bytes::Own(record) });
                self.ready.extend(last);
                let bytes = end - base;
                self.ready.push_back(Ready::End { file, bytes, skipped: bytes - emitted, unknown });
            }
            Ok(_) => self.restart(file),
            Err(error) => self.fail(file, error),
        }
    }

    /// Goes on with what was appended, in the plain order, until the file's end is met once: as any reader would that came there
    /// now. `last` is what the file ended with before, part of a record that may have been completed.
    fn go_on(&mut self, file: usize, opened: &File, last: Option<(u64, Vec<u8>)>) {
        let Some(planned) = self.sources.planned(file) else { return };
        let (end, base) = (planned.stamp.bytes, planned.base);
        let (offset, begun) = last.unwrap_or((end - base, Vec::new()));
        let stream = File::open(by_descriptor(opened)).and_then(|stream| {
            rustix::fs::seek(&stream, rustix::fs::SeekFrom::Start(end))?;
            Ok(stream)
        });
        match stream {
            Ok(stream) => {
                self.forget(file);
                self.sources[file].state = State::Linear(Some(Start { stream, offset, begun }));
                self.linear_files.push_front(file);
                self.begin_linear();
            }
            Err(error) => self.fail(file, error),
        }
    }

    /// The next records of the file that is being read in the plain order. Always makes an event.
    pub(super) fn read_linear(&mut self) -> bool {
        let Some(linear) = &mut self.linear else { return false };
        let file = linear.file;
        match linear.advance(self.options.records, self.options.chunk_bytes, self.options.record_bytes_max) {
            Ok(true) => {
                self.ready.push_back(Ready::Chunk { file, offset: linear.offset, bytes: Bytes::Linear })
            }
            Ok(false) => {
                let bytes = linear.offset;
                if let Some(end) = linear.position() {
                    self.sources[file].leave_at(end);
                }
                self.forget(file);
                self.ready.push_back(Ready::End { file, bytes, skipped: 0, unknown: false });
            }
            Err(error) => self.fail(file, error),
        }
        true
    }

    fn device_bytes(&self) -> u64 {
        match self.options.chunk_bytes {
            small if small < SMALL_CHUNK => small as u64,
            bytes => (bytes as u64).max(DEVICE_READ_BYTES),
        }
    }

    fn device_capacity(&self) -> usize {
        (self.device_bytes() + 2 * DIRECT_BYTES) as usize
    }

    /// Keeps the device busy, and waits for what comes next from it; false when nothing does.
    pub(super) fn read_absent(&mut self) -> bool {
        self.start_reads();
        let Some(done) = self.device.wait() else { return false };
        self.accept(done);
        true
    }

    /// Reads what lies before the next cached range, if it is short and its reading pushes nothing out, or next to nothing; false
    /// where it is not so.
    pub(super) fn read_gap(&mut self) -> bool {
        let spares = self.judge_room() != Room::Unknown || self.absent_bytes < ASKED_BYTES;
        let next = self.absent_files.first().map(|absent| absent.file);
        let gap = next.is_some_and(|file| spares && self.is_next(file) && self.is_gap(file));
        (gap || self.device.in_flight() > 0) && self.read_absent()
    }

    /// Nothing cached is to come of a file before this one.
    fn is_next(&self, file: usize) -> bool {
        self.cached_files.first().is_none_or(|&first| file <= first)
    }

    /// Whether the first range of the file that is not cached is short and lies before a cached one.
    fn is_gap(&mut self, file: usize) -> bool {
        let Some(planned) = self.sources.planned(file) else { return false };
        match (planned.absent.first(), planned.cached.first()) {
            (Some(absent), Some(cached)) => {
                absent.start < cached.start && absent.end - absent.start <= GAP_BYTES
            }
            _ => false,
        }
    }

    /// Keeps the device busy.
    pub(super) fn start_reads(&mut self) {
        while !self.options.cached_only && self.device.in_flight() < self.depth {
            let cached_over = self.cached_files.is_empty() && self.surveyed == self.sources.len();
            let Some(file) = self.next_absent(cached_over) else { return };
            if self.options.in_order && !cached_over && !(self.is_next(file) && self.is_gap(file)) {
                return;
            }
            let Some(mut opened) = self.opened(file) else { return };
            if self.is_stale(file) {
                self.look_again(file);
                continue;
            }
            let hole = self.sources.planned(file).is_some_and(|planned| planned.fills_hole(cached_over));
            let way = if hole { Way::Exact } else { self.way(file) };
            let direct = if way == Way::Direct { opened.direct() } else { None };
            if way == Way::Keep {
                self.begin_growth(file, &opened.buffered);
            }
            let step = self.device_bytes();
            let buffer =
                self.spare.pop().unwrap_or_else(|| AlignedBuf::with_capacity(self.device_capacity()));
            let life = self.sources[file].life;
            let Some(planned) = self.sources.planned(file) else { return };
            let ranges = if hole { &mut planned.holes } else { &mut planned.absent };
            let first = ranges.first().unwrap_or(0..0);
            let start = first.start;
            let keeps = way == Way::Keep && self.room != Room::Enough && planned.known;
            let folio = keeps && step >= DEVICE_READ_BYTES && starts_folio(&first, planned.stamp.bytes);
            // Up to the next whole step, so that requests stay aligned.
            let range = ranges.take(if folio { FOLIO_BYTES } else { step - start % step });
            if !planned.lacks() {
                self.absent_files.remove(&planned.absent(file));
            }
            let Some(range) = range else { continue };
            planned.in_flight += 1;
            // Where nobody tells what is cached, a read like everybody's: it may be.
            let fills = way == Way::Keep && (self.room == Room::Enough || !planned.known);
            let buffered = if fills { opened.ahead() } else { opened.buffered.clone() };
            planned.opened = Some(opened);
            self.learned.starts();
            self.device.submit(Job { file, life, range, way, hole, folio, buffered, direct, buffer });
        }
    }

    /// The file to read from the device next. Holes wait until all that is cached has been read, since filling
    /// them pushes something out; then they come first, so that what is around them is whole.
    fn next_absent(&mut self, cached_over: bool) -> Option<usize> {
        if cached_over {
            return self.absent_files.first().map(|absent| absent.file);
        }
        let sources = &mut self.sources;
        self.absent_files
            .iter()
            .map(|absent| absent.file)
            .find(|&file| sources.planned(file).is_some_and(|planned| !planned.absent.is_empty()))
    }

    fn is_stale(&mut self, file: usize) -> bool {
        self.sources.planned(file).is_some_and(|planned| {
            planned.known && !planned.sampled && !planned.in_order && planned.looked_at.elapsed() > ANSWER_AGE
        })
    }

    /// Takes in what the device has delivered.
    pub(super) fn accept(&mut self, done: Done) {
        let Done { job, result } = done;
        let past_cache = matches!(job.way, Way::Direct | Way::Leave) && result.is_ok();
        self.learned
            .ended(past_cache.then_some(job.range.end - job.range.start), self.device.in_flight() == 0);
        let file = job.file;
        // A job of an earlier life, or of a file that has ended.
        let current = self.sources.get(file).is_some_and(|source| source.life == job.life);
        let Some(planned) = self.sources.planned(file).filter(|_| current) else {
            return self.recycle(job.buffer);
        };
        planned.in_flight -= 1;
        let wanted = job.range.end - job.range.start;
        match result {
            Err(error) => {
                self.recycle(job.buffer);
                self.fail(file, error);
            }
            Ok(Delivered::Read(range)) if (range.len() as u64) < wanted => {
                self.recycle(job.buffer);
                self.restart(file); // shorter than it was
            }
            Ok(delivered) => {
                self.statistics.device_bytes += wanted;
                if job.way == Way::Keep {
                    self.grow(file, &job.buffered, wanted);
                } else if !job.hole {
                    self.statistics.bypassed_bytes += wanted;
                    self.bypass = self.bypass.max(job.way);
                }
                self.block = match delivered {
                    Delivered::Read(range) => Block::Read(job.buffer, range),
                    Delivered::Mapped(map) => {
                        self.recycle(job.buffer);
                        Block::Mapped(map, 0..wanted as usize)
                    }
                };
                self.feed(file, job.range.start);
            }
        }
    }

    fn begin_growth(&mut self, file: usize, open: &File) {
        if self.growth.is_none_or(|(of, _)| of != file)
            && let Some(cached) = self.bytes_cached(file, open)
        {
            let growth = self.growth.map_or(Growth::from(cached), |(_, growth)| growth.with(cached));
            self.growth = Some((file, growth));
        }
    }

    /// Counts a read that was to be kept, and sees whether it was.
    fn grow(&mut self, file: usize, open: &File, read: u64) {
        // With readahead the count grows by leaps; but then there is room.
        let Some((_, mut growth)) = self.growth.filter(|(of, _)| *of == file && self.room != Room::Enough)
        else {
            return;
        };
        let step = 2 * self.depth as u64 * self.device_bytes().min(DEVICE_READ_BYTES);
        if growth.is_over(read, step, || self.bytes_cached(file, open)) {
            self.room = Room::Full;
        }
        self.growth = Some((file, growth));
    }

    fn bytes_cached(&mut self, file: usize, open: &File) -> Option<u64> {
        let end = self.sources.planned(file)?.stamp.bytes;
        self.kernel.count(open, 0..end).map(|pages| pages.cached * page_bytes())
    }

    /// Delivers a window of what is cached; false when nothing is.
    pub(super) fn read_cached(&mut self) -> bool {
        let Some(&file) = self.cached_files.first() else { return false };
        let Some(opened) = self.opened(file) else { return true };
        let step = match self.options.chunk_bytes {
            small if small < SMALL_CHUNK => small as u64,
            bytes => (bytes as u64).max(WINDOW_BYTES),
        };
        let cached_only = self.options.cached_only;
        let kernel = self.kernel.clone();
        let Some(planned) = self.sources.planned(file) else { return false };
        let Some(run) = planned.cached.first() else { return self.cached_files.remove(&file) };
        let window = run.start..run.end.min(run.start + (step - run.start % step));
        let just_looked = std::mem::take(&mut planned.just_looked);
        let cached = kernel.count(&opened.buffered, window.clone()).map(|pages| pages.cached);
        let all = pages(window.start, window.end - window.start);
        let gone = cached.is_some_and(|cached| cached < all);
        if gone && just_looked && cached_only {
            let left = planned.cached.take(window.end - window.start);
            left.into_iter().for_each(|range| planned.absent.push(range));
            self.resort(file);
            self.touched = Some(file);
            return true;
        }
        if (gone && !just_looked) || planned.surprised {
            self.look_again(file);
            return true;
        }
        let whole = cached.is_some_and(|cached| cached >= all);
        if !whole || !self.map_cached(file, &opened.buffered, &window) {
            self.copy_cached(file, &opened.buffered, window.start);
        }
        true
    }

    /// Delivers the window as it lies in the page cache; false where it had better be copied.
    fn map_cached(&mut self, file: usize, open: &File, window: &Range<u64>) -> bool {
        let bytes = window.end - window.start;
        if bytes < MAPPED_BYTES_MIN {
            return false;
        }
        let before = window.start % page_bytes();
        let Some(map) = self.kernel.map(open, window.start - before, (before + bytes) as usize) else {
            return false;
        };
        self.block = Block::Mapped(map, before as usize..(before + bytes) as usize);
        self.take_cached(file, bytes);
        self.feed(file, window.start);
        true
    }

    fn copy_cached(&mut self, file: usize, open: &File, offset: u64) {
        let most = match self.options.chunk_bytes {
            small if small < SMALL_CHUNK => small as u64,
            bytes => (bytes as u64).max(CACHED_READ_BYTES).min(self.device_bytes()),
        };
        let Some(range) = self.take_cached(file, most) else { return };
        let bytes = (range.end - range.start) as usize;
        let mut buffer = std::mem::take(&mut self.small);
        if buffer.capacity() < bytes {
            buffer = AlignedBuf::with_capacity(bytes);
        }
        let started = Instant::now();
        let result = device::read_now(&*self.kernel, open, &mut buffer.whole_mut()[..bytes], offset);
        match result {
            Err(error) => self.fail(file, error),
            Ok(read) if read < bytes => self.restart(file),
            Ok(read) => {
                buffer.set_len(read);
                let slow = started.elapsed() > SURPRISE;
                if let Some(planned) = self.sources.planned(file) {
                    if slow && planned.sampled {
                        // The sample was mistaken: the threads read the rest of what it stood for.
                        let rest = planned.cached.take(spacing(planned.stamp.bytes - planned.base));
                        rest.into_iter().for_each(|range| planned.absent.push(range));
                    }
                    // A busy processor makes a read slow, too: do not ask over and over.
                    planned.surprised = slow && !planned.sampled && planned.looked_at.elapsed() > LOOKS_APART;
                }
                self.resort(file);
                self.block = Block::Read(buffer, 0..read);
                self.feed(file, offset);
            }
        }
    }

    /// Says anew whether the file has something cached, and something absent.
    fn resort(&mut self, file: usize) {
        let Some(planned) = self.sources.planned(file) else { return };
        match planned.cached.is_empty() {
            true => self.cached_files.remove(&file),
            false => self.cached_files.insert(file),
        };
        let absent = planned.absent(file);
        match planned.lacks() {
            true => self.absent_files.insert(absent),
            false => self.absent_files.remove(&absent),
        };
    }

    fn take_cached(&mut self, file: usize, bytes: u64) -> Option<Range<u64>> {
        let planned = self.sources.planned(file)?;
        let range = planned.cached.take(bytes);
        if planned.cached.is_empty() {
            self.cached_files.remove(&file);
        }
        range
    }

    /// Makes chunks of the block, which starts at `offset` of the file.
    fn feed(&mut self, file: usize, offset: u64) {
        self.touched = Some(file);
        let State::Planned(planned) = &mut self.sources[file].state else { return };
        let Planned { base, stitch, emitted, .. } = &mut **planned;
        let piece = self.block.bytes();
        let start = offset - *base;
        let completed = stitch.add(start, piece);
        *emitted += completed.inside.len() as u64;
        let inside = slices(self.options.records, piece, start, completed.inside, self.options.chunk_bytes);
        let inside = inside.into_iter().map(|range| (start + range.start as u64, Bytes::Block(range)));
        let mut chunks: Vec<_> = inside.collect();
        for (offset, record) in completed.across {
            *emitted += record.len() as u64;
            chunks.push((offset, Bytes::Own(record)));
        }
        // The record across the left edge first: a program that wants order then has it.
        chunks.sort_unstable_by_key(|(offset, _)| *offset);
        let ready = chunks.into_iter().map(|(offset, bytes)| Ready::Chunk { file, offset, bytes });
        self.ready.extend(ready);
        self.bound(file);
    }

    /// Keeps no more of records that were cut apart than allowed: reads in order where pieces in any order would take more, and
    /// gives up where a single record does.
    fn bound(&mut self, file: usize) {
        let most = self.options.record_bytes_max;
        let Some(planned) = self.sources.planned(file) else { return };
        if planned.stitch.kept() <= most {
            return;
        }
        let again = planned.stitch.let_go();
        let (offset, kept) = planned.stitch.open_record();
        if kept > most {
            return self.fail(file, Trouble::TooLong { offset, most });
        }
        match self.options.cached_only {
            true => {} // what was let go counts as skipped
            false => planned.go_in_order(again),
        }
        self.resort(file);
    }
}

/// Whether the range starts with a folio, or with what the file has left of one.
fn starts_folio(range: &Range<u64>, file_bytes: u64) -> bool {
    let end = (range.start + FOLIO_BYTES).min(file_bytes);
    range.start.is_multiple_of(FOLIO_BYTES) && range.start < end && end <= range.end
}

/// Cuts the whole records `inside` a piece that starts at `start` into chunks of about `chunk_bytes`.
fn slices(
    records: Records,
    piece: &[u8],
    start: u64,
    inside: Range<usize>,
    chunk_bytes: usize,
) -> Vec<Range<usize>> {
    let mut slices = Vec::new();
    let mut at = inside.start;
    while at < inside.end {
        let rest = &piece[at..inside.end];
        let offset = start + at as u64;
        let length = if rest.len() <= chunk_bytes {
            rest.len()
        } else {
            records
                .last_cut(&rest[..chunk_bytes], offset)
                .or_else(|| records.first_cut(rest, offset))
                .unwrap_or(rest.len())
        };
        slices.push(at..at + length);
        at += length;
    }
    slices
}
