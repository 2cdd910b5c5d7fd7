//! Delivers the bytes of files and streams, the cheapest first, each exactly once, in whole
//! records.
//!
//! The strategy is *freeze and bypass*. What the page cache holds is read first, through mapped
//! windows that set off no readahead. The rest is read by exact requests past the cache, so that
//! its content stays for the next pass. Only while the cache has room, or grows by what is read, is
//! it filled.
//!
//! The parts:
//! - [`Files`] opens, closes and forgets files;
//! - [`Survey`] looks at a file and finds what of it is cached;
//! - [`Schedule`] says which file comes next;
//! - [`Room`] says whether the cache has room for what is read;
//! - [`Device`] reads what is not cached, and `window` what is;
//! - [`Tray`] hands it out.
//!
//! The reader decides whose turn it is, and carries the outcome of one part to the others.

mod block;
mod device;
mod event;
mod files;
mod kernel;
mod learned;
mod left;
mod linear;
mod opened;
mod options;
mod planned;
mod ranges;
mod schedule;
mod source;
mod sparse;
mod stitch;
mod survey;
#[cfg(test)]
mod tests;
mod threads;
mod tray;
mod window;

pub use event::{Chunk, Event, Statistics};
pub use options::Options;

use crate::bypass::Way;
use crate::cached::pages;
use crate::room::{Belief, Room};
use crate::{Error, ErrorKind, Hold};
use block::{Block, Bytes, Piece};
use device::{Device, READ_BYTES};
use files::{Files, Gone};
use kernel::{Kernel, Linux};
use linear::{Linear, Start};
use opened::{Opened, Stamp};
use planned::{Answer, Ending, Planned};
use schedule::Schedule;
use seekless_sys::folios::FOLIO_BYTES;
use seekless_sys::memory::page_bytes;
use seekless_sys::residency::GRAIN_BYTES;
use source::{Source, State};
use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use survey::Survey;
use threads::{Delivered, Done, Job};
use tray::Tray;
use window::{Outcome, Windows};

/// The most that is pinned at a time.
const PINNED_BYTES_MAX: u64 = 4 << 20;

/// Reads files and streams; see the crate's example.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    kernel: Arc<dyn Kernel>,
    files: Files,
    schedule: Schedule,
    room: Room,
    device: Device,
    tray: Tray,
    statistics: Statistics,
}

impl Reader {
    /// A reader without files.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Reader::over(options, Arc::new(Linux))
    }

    fn over(options: Options, kernel: Arc<dyn Kernel>) -> Self {
        let options = Options { chunk_bytes: options.chunk_bytes.max(1), ..options };
        Reader {
            device: Device::new(Arc::clone(&kernel), &options),
            options,
            kernel,
            files: Files::default(),
            schedule: Schedule::default(),
            room: Room::new(Belief::Trial),
            tray: Tray::default(),
            statistics: Statistics::default(),
        }
    }

    /// Adds a file by its path. It is opened when its turn comes. Returns its number.
    pub fn add_path(&mut self, path: &Path) -> usize {
        self.files.push(Source::new(path, None))
    }

    /// Adds an open file or a stream (a pipe, a terminal), which is read from its position on.
    /// Errors call it `name`. A file's position ends at the end of the file.
    pub fn add_file(&mut self, name: &Path, file: File) -> usize {
        self.files.push(Source::new(name, Some(file)))
    }

    /// What the reader has done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Brings a range into memory (up to 4 MiB, rounded to 64 KiB), if it can: a hit that a later
    /// pass will look for again. Without this, every pass would fetch anew the hits outside the
    /// kept part of a file. A range that is cached whole is left as it is.
    pub fn pin(&mut self, file: usize, offset: u64, bytes: u64) {
        let Some(source) = self.files.get(file) else { return };
        let planned = source.planned();
        let base = planned.map_or(0, |planned| planned.base);
        let open = planned
            .and_then(|planned| planned.opened.as_ref().map(|opened| opened.buffered.clone()));
        let Some(open) = open.or_else(|| File::open(&source.path).ok().map(Arc::new)) else {
            return;
        };
        let range = base + offset..(base + offset).saturating_add(bytes);
        let pages = pages(range.start, range.end - range.start);
        if self.kernel.count(&open, range.clone()).is_some_and(|held| held.cached >= pages) {
            return;
        }
        // The whole grain: a later survey, which asks by the grain, would find a smaller range
        // mostly absent.
        let start = range.start / GRAIN_BYTES * GRAIN_BYTES;
        let end = range.end.div_ceil(GRAIN_BYTES).saturating_mul(GRAIN_BYTES);
        let length = NonZeroU64::new(end.saturating_sub(start).min(PINNED_BYTES_MAX));
        let _ = rustix::fs::fadvise(&*open, start, length, rustix::fs::Advice::WillNeed);
    }

    /// Leaves out the rest of a file, which gets no further event.
    pub fn finish_file(&mut self, file: usize) {
        if self.files.get(file).is_some_and(|source| !matches!(source.state, State::Ended)) {
            self.tray.take_back(file);
            self.forget(file);
        }
    }

    /// The next event, or `None` when all files have ended.
    #[expect(clippy::should_implement_trait, reason = "an event lends the reader's buffer")]
    pub fn next(&mut self) -> Option<Event<'_>> {
        while self.tray.is_empty() {
            if !self.step() {
                // With several devices it is unknown which read cost what.
                if !self.schedule.devices_differ() {
                    self.device.tell_table(&*self.kernel);
                }
                return self.unfinished();
            }
        }
        self.files.forget_ended();
        let event = self.tray.next(&self.files)?;
        match &event {
            Event::Chunk(chunk) => {
                self.statistics.bytes += chunk.bytes.len() as u64;
                self.statistics.chunks += 1;
            }
            Event::Hole { bytes, .. } => self.statistics.bytes += bytes,
            _ => {}
        }
        Some(event)
    }

    /// After the last step every file must have ended. A file that has not is a defect of the
    /// reader, and no result for it would be right.
    fn unfinished(&mut self) -> Option<Event<'static>> {
        let file = self.files.first_unended()?;
        self.forget(file);
        let reason = "not all of it was delivered: this is a defect of seekless, please report it";
        let error = Error::new(ErrorKind::Incomplete, reason).of_file(&self.files[file].path);
        Some(Event::Failed { file, error })
    }

    /// Does the next thing, cheapest first; false when there is nothing left to do.
    fn step(&mut self) -> bool {
        if self.settle() {
            return true;
        }
        if self.tray.stream().is_some() {
            return self.read_linear();
        }
        // If devices differ, none is read before all files are known: the next file may lie on a
        // cheaper one.
        let chosen = !self.schedule.devices_differ() || self.files.all_surveyed();
        if self.options.overlap && chosen && self.judge_room().is_known() {
            self.start_reads();
        }
        if let Some(done) = self.device.ready() {
            self.accept(done);
            return true;
        }
        if self.options.in_order && self.read_gap() {
            return true;
        }
        if self.read_cached() || self.survey_next() {
            return true;
        }
        self.judge_room();
        if self.read_absent() {
            return true;
        }
        // A look at what was absent may have found it cached meanwhile.
        let found = self.tray.has_last() || self.schedule.next_cached().is_some();
        found || !self.tray.is_empty() || self.begin_linear()
    }

    /// After the caller has seen a file's last block: checks that the block was sound, and whether
    /// it was the file's last. True if that made an event.
    fn settle(&mut self) -> bool {
        let Some((file, block)) = self.tray.lift() else { return false };
        let lost = block.is_lost();
        self.device.recycle_block(block);
        let cached_only = self.options.cached_only;
        let Some(planned) = self.files.planned(file) else { return false };
        let complete = planned.is_complete(cached_only);
        if lost {
            self.restart(file);
        } else if complete {
            self.finish(file);
        }
        lost || complete
    }

    /// Ends a file of which everything has come, unless something was appended meanwhile.
    fn finish(&mut self, file: usize) {
        let Some(opened) = self.opened(file) else { return };
        let now = match Stamp::of(&opened.buffered) {
            Ok(now) => now,
            Err(error) => return self.fail(file, error),
        };
        let Some(planned) = self.files.planned(file) else { return };
        let (end, unknown) = (planned.stamp.bytes, !planned.answer.known);
        match planned.end(&now, self.options.cached_only) {
            Ending::Changed => self.restart(file),
            Ending::Appended { offset, begun } => self.go_on(file, &opened, end, offset, begun),
            Ending::Whole { last, bytes, skipped } => {
                self.files[file].leave_at(end);
                self.forget(file);
                self.tray.push_pieces(file, last);
                self.tray.push(Event::End { file, bytes, skipped, unknown });
            }
        }
    }

    /// Reads on in the plain order what was appended after `end`, until the file's end is met once.
    /// `begun` is the start of a record at `offset` that may have been completed.
    fn go_on(&mut self, file: usize, opened: &Opened, end: u64, offset: u64, begun: Vec<u8>) {
        match opened.stream_from(end) {
            Ok(stream) => {
                self.forget(file);
                self.files[file].state = State::Linear(None);
                self.tray.start_stream(Linear::new(file, Start { stream, offset, begun }));
            }
            Err(error) => self.fail(file, error),
        }
    }

    /// Begins the next file in the plain order; false when no file is left.
    fn begin_linear(&mut self) -> bool {
        while let Some(file) = self.schedule.pop_linear() {
            let State::Linear(start) = &mut self.files[file].state else { continue };
            // One that is begun again is opened anew.
            match start.take().map_or_else(|| self.files[file].open_linear(), Ok) {
                Ok(start) => self.tray.start_stream(Linear::new(file, start)),
                Err(error) => self.fail(file, error),
            }
            return true;
        }
        false
    }

    /// Reads the next records of the file in the plain order. It always makes an event.
    fn read_linear(&mut self) -> bool {
        let Some(stream) = self.tray.stream() else { return false };
        let file = stream.file;
        match stream.advance(&self.options) {
            Ok(true) => {
                let piece = Piece { offset: stream.offset, bytes: Bytes::Stream };
                self.tray.push_pieces(file, [piece]);
            }
            Ok(false) => {
                let (bytes, position) = (stream.offset, stream.position());
                if let Some(end) = position {
                    self.files[file].leave_at(end);
                }
                self.forget(file);
                self.tray.push(Event::End { file, bytes, skipped: 0, unknown: false });
            }
            Err(error) => self.fail(file, error),
        }
        true
    }

    /// Reads a window of what is cached; false when nothing is cached.
    fn read_cached(&mut self) -> bool {
        let Some(file) = self.schedule.next_cached() else { return false };
        let Some(opened) = self.opened(file) else { return true };
        let Some(planned) = self.files.planned(file) else { return false };
        let windows =
            Windows { kernel: &*self.kernel, options: &self.options, open: &opened.buffered };
        match windows.next(planned, &mut self.device) {
            Outcome::Block(offset, block) => self.take_in(file, offset, block),
            Outcome::Gone => {
                self.sort(file);
                self.tray.looked_at(file);
            }
            Outcome::Stale => self.look_again(file, &opened),
            Outcome::Short => self.restart(file),
            Outcome::Failed(error) => self.fail(file, error),
        }
        true
    }

    /// Keeps the device busy, and waits for its next read; false when no read is under way.
    fn read_absent(&mut self) -> bool {
        self.start_reads();
        let Some(done) = self.device.wait() else { return false };
        self.accept(done);
        true
    }

    /// Reads the gap before the next cached range, if it is short and reading it pushes out
    /// nothing, or next to nothing. False otherwise.
    fn read_gap(&mut self) -> bool {
        let spared = self.judge_room().is_spared();
        let gap = spared && self.schedule.first_on_device().is_some_and(|file| self.is_gap(file));
        (gap || self.device.is_busy()) && self.read_absent()
    }

    /// Whether no cached bytes of an earlier file are to come, and the file starts with a gap
    /// before cached bytes.
    fn is_gap(&mut self, file: usize) -> bool {
        self.schedule.is_next(file)
            && self.files.planned(file).is_some_and(|planned| planned.left.starts_with_gap())
    }

    /// Keeps the device busy.
    fn start_reads(&mut self) {
        while !self.options.cached_only && self.device.has_place() {
            let cached_over = self.schedule.next_cached().is_none() && self.files.all_surveyed();
            let Some(file) = self.schedule.next_absent(cached_over) else { return };
            if self.options.in_order && !cached_over && !self.is_gap(file) {
                return;
            }
            let Some(opened) = self.opened(file) else { return };
            if self.files.planned(file).is_some_and(|planned| planned.is_stale()) {
                self.look_again(file, &opened);
                continue;
            }
            self.start_read(file, opened, cached_over);
        }
    }

    fn start_read(&mut self, file: usize, mut opened: Opened, cached_over: bool) {
        let life = self.files[file].life;
        let Some(planned) = self.files.planned(file) else { return };
        let Answer { known, once, .. } = planned.answer;
        let belief = self.room.belief();
        let sliver = planned.left.fills_sliver(cached_over);
        let way = match belief {
            _ if sliver => Some(Way::Exact),
            Belief::Full if known => Some(self.device.bypass()),
            _ => None,
        };
        let direct = if way == Some(Way::Direct) { opened.direct() } else { None };
        if way.is_none() {
            let bytes = planned.stamp.bytes;
            let cached = || cached_bytes(&*self.kernel, &opened.buffered, bytes);
            self.room.begin(file, || if once { None } else { cached() });
        }
        let ranges = if sliver { &mut planned.left.slivers } else { &mut planned.left.absent };
        let first = ranges.first().unwrap_or(0..0);
        let step = self.device.step_bytes(way);
        // A plain read with readahead where the cache has room; and where it is unknown what is
        // cached or whether it stays, as any other program reads.
        let unseen = !known || once;
        let plain = way.is_none() && (belief == Belief::Enough || unseen);
        let folio = way.is_none()
            && !plain
            && step >= READ_BYTES
            && starts_folio(&first, planned.stamp.bytes);
        // Up to the next multiple of the step, so that requests stay aligned.
        let taken = ranges.take(if folio { FOLIO_BYTES } else { step - first.start % step });
        let Some(range) = taken else { return self.sort(file) };
        planned.in_flight += 1;
        let buffered = if plain { opened.ahead() } else { opened.buffered.clone() };
        planned.opened = Some(opened);
        self.sort(file);
        let buffer = self.device.buffer();
        let in_turn = plain && unseen;
        let job = Job { file, life, range, way, sliver, folio, in_turn, buffered, direct, buffer };
        self.device.start(job);
    }

    /// Takes in a read that the device has ended.
    fn accept(&mut self, done: Done) {
        let Done { job, result } = done;
        let file = job.file;
        // The job may be of an earlier life of the file, or of a file that has ended.
        let current = self.files.get(file).is_some_and(|source| source.life == job.life);
        let Some(planned) = self.files.planned(file).filter(|_| current) else {
            return self.device.recycle(job.buffer);
        };
        planned.in_flight -= 1;
        let (file_bytes, once) = (planned.stamp.bytes, planned.answer.once);
        let wanted = job.range.end - job.range.start;
        let block = match result {
            Ok(Delivered::Read(range)) if range.len() as u64 == wanted => {
                Block::Read(job.buffer, range)
            }
            Ok(Delivered::Mapped(map)) => {
                self.device.recycle(job.buffer);
                Block::Mapped(map, 0..wanted as usize)
            }
            Ok(Delivered::Read(_)) => {
                self.device.recycle(job.buffer);
                return self.restart(file); // shorter than it was
            }
            Err(error) => {
                self.device.recycle(job.buffer);
                return self.fail(file, error);
            }
        };
        self.statistics.device_bytes += wanted;
        if job.way.is_none() {
            let step = self.device.growth_step_bytes();
            let cached = || cached_bytes(&*self.kernel, &job.buffered, file_bytes);
            self.room.kept(file, wanted, step, || if once { None } else { cached() });
        } else if !job.sliver {
            self.statistics.bypassed_bytes += wanted;
        }
        self.take_in(file, job.range.start, block);
    }

    /// Lays a block on the tray, in pieces of whole records. The block starts at `offset` of the
    /// file.
    fn take_in(&mut self, file: usize, offset: u64, block: Block) {
        let read = self.tray.lay(file, block);
        let Some(planned) = self.files.planned(file) else { return };
        let pieces = planned.take_in(read, offset, &self.options);
        let bounded = planned.bound(&self.options);
        self.tray.push_pieces(file, pieces);
        match bounded {
            Ok(()) => self.sort(file),
            Err(error) => self.fail(file, error),
        }
    }

    /// Looks at the next new file; false when there is no new file.
    fn survey_next(&mut self) -> bool {
        let Some(file) = self.files.next_unsurveyed() else { return false };
        let source = &mut self.files[file];
        if !matches!(source.state, State::New) {
            return true;
        }
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        match survey.first(source) {
            Err(error) => self.fail(file, error),
            Ok(state) => {
                source.state = state;
                self.enter(file);
            }
        }
        true
    }

    /// Schedules a file after its first look, and counts what the look tells about the cache.
    fn enter(&mut self, file: usize) {
        if self.files.planned(file).is_none() {
            return self.schedule.push_linear(file);
        }
        let dearness_ns = self.dearness_ns(file);
        let Some(planned) = self.files.planned(file) else { return };
        planned.dearness_ns = dearness_ns;
        self.room.miss(planned.left.absent_bytes());
        self.statistics.resident_bytes += planned.left.cached.bytes();
        self.statistics.resident_runs += planned.left.cached.len() as u64;
        for hole in std::mem::take(&mut planned.holes) {
            self.tray.push_hole(file, hole.start - planned.base, hole.end - hole.start);
        }
        self.files.note_open(file);
        self.device.note_file(&self.files[file].path);
        self.hold(file);
        self.sort(file);
        self.tray.looked_at(file);
    }

    /// The cost of the file's device. It matters only beside another device's, so a lone file is
    /// not asked about.
    fn dearness_ns(&mut self, file: usize) -> u64 {
        let source = &self.files[file];
        match source.planned() {
            Some(planned) if self.files.len() > 1 => self
                .schedule
                .dearness_ns(planned.stamp.device, || self.kernel.dearness_ns(&source.path)),
            _ => 0,
        }
    }

    /// Holds the end of a file's cached ranges, as far as the bounds allow.
    fn hold(&mut self, file: usize) {
        let held = self.statistics.held_bytes;
        if self.options.hold_bytes <= held {
            return;
        }
        let headroom = self.room.headroom(|| self.kernel.headroom());
        let most = headroom.map_or(u64::MAX, |headroom| headroom.bytes() / 2);
        let most = self.options.hold_bytes.min(most).saturating_sub(held);
        let Some(Planned { opened: Some(opened), left, hold, .. }) = self.files.planned(file)
        else {
            return;
        };
        *hold = Hold::on(&opened.buffered, left.cached.iter(), most);
        self.statistics.held_bytes += hold.bytes();
    }

    /// Judges whether the cache has room for what is absent.
    fn judge_room(&mut self) -> &Room {
        self.room.judge(self.statistics.resident_bytes, || self.kernel.headroom());
        if self.room.is_large() {
            self.device.deepen();
        }
        &self.room
    }

    /// Asks again what is cached of the rest of a file.
    fn look_again(&mut self, file: usize, opened: &Opened) {
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        let Source { path, state: State::Planned(planned), .. } = &mut self.files[file] else {
            return;
        };
        survey.again(path, planned, &opened.buffered);
        self.sort(file);
        self.statistics.looks += 1;
        self.tray.looked_at(file);
    }

    /// Updates the schedule after a file's ranges have changed.
    fn sort(&mut self, file: usize) {
        if let Some(planned) = self.files.planned(file) {
            self.schedule.sort(file, planned.dearness_ns, &planned.left);
        }
    }

    /// The file's descriptors, opened again if they had to be closed. `None` after a failure, which
    /// becomes an event.
    fn opened(&mut self, file: usize) -> Option<Opened> {
        match self.files.opened(file)? {
            Ok(opened) => return Some(opened),
            Err(Gone::Changed) => self.restart(file),
            Err(Gone::Failed(error)) => self.fail(file, error),
        }
        None
    }

    /// Begins a file again that is not what it was: all of it, in the plain order.
    fn restart(&mut self, file: usize) {
        self.tray.take_back(file);
        self.forget(file);
        self.files[file].state = State::Linear(None);
        self.schedule.push_linear(file);
        self.statistics.restarts += 1;
        self.tray.push(Event::Restart { file });
    }

    /// Ends a file with an error. What was read before is still handed out.
    fn fail(&mut self, file: usize, error: impl Into<Error>) {
        self.forget(file);
        let error = error.into().of_file(&self.files[file].path);
        self.tray.push(Event::Failed { file, error });
    }

    /// Ends a file.
    fn forget(&mut self, file: usize) {
        if let Some(planned) = self.files.planned(file) {
            self.schedule.remove(file, planned.dearness_ns);
        }
        self.tray.end_stream(file);
        self.files.end(file);
    }
}

/// The bytes of a file that are cached; `None` if unknown.
fn cached_bytes(kernel: &dyn Kernel, open: &File, file_bytes: u64) -> Option<u64> {
    kernel.count(open, 0..file_bytes).map(|pages| pages.cached * page_bytes())
}

/// Whether the range starts with a whole folio, or with the last part of one that the file has.
fn starts_folio(range: &Range<u64>, file_bytes: u64) -> bool {
    let end = (range.start + FOLIO_BYTES).min(file_bytes);
    range.start.is_multiple_of(FOLIO_BYTES) && range.start < end && end <= range.end
}
