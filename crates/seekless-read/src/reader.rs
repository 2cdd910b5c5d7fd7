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
//! - [`Survey`](survey::Survey) looks at a file and finds what of it is cached;
//! - [`Schedule`] says which file comes next, by the [`Price`] of its ranges, which `levels`
//!   divides by where they lie;
//! - [`Room`] says whether the cache has room for what is read;
//! - [`Device`] reads what is not cached, and `window` what is;
//! - [`Recalls`] opens what lies in an archive, at the end;
//! - [`Tray`] hands it out.
//!
//! The reader decides whose turn it is, and carries the outcome of one part to the others: `looks`
//! from a survey, `absent` from the device, `ends` at the end of a file.

mod absent;
mod archive;
mod block;
mod device;
mod ends;
mod event;
mod files;
mod kernel;
mod learned;
mod left;
mod levels;
mod linear;
mod looks;
mod opened;
mod options;
mod parallel;
mod planned;
mod price;
mod ranges;
mod recall;
mod schedule;
mod source;
mod sparse;
mod stitch;
mod survey;
#[cfg(test)]
mod tests;
mod threads;
mod tray;
mod whole;
mod window;

pub use event::{Chunk, Event, Statistics};
pub use options::Options;
pub use whole::{WholeFile, WholeFiles};

use crate::cached::pages;
use crate::room::{Belief, Room};
use crate::{Error, ErrorKind};
use block::{Block, Bytes, Piece};
use device::Device;
use files::{Files, Gone};
use kernel::{Kernel, Linux};
use linear::Linear;
use opened::Opened;
use price::Price;
use recall::Recalls;
use schedule::Schedule;
use seekless_sys::residency::GRAIN_BYTES;
use source::{Source, State};
use std::fs::File;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
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
    /// What is being read from devices costs so much.
    reading: Price,
    recalls: Recalls,
    tray: Tray,
    statistics: Statistics,
}

impl Reader {
    /// A reader without files.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Reader::over(options, Arc::new(Linux::default()))
    }

    fn over(options: Options, kernel: Arc<dyn Kernel>) -> Self {
        let options = Options { chunk_bytes: options.chunk_bytes.max(1), ..options };
        Reader {
            device: Device::new(Arc::clone(&kernel), &options),
            reading: Price::default(),
            recalls: Recalls::new(Arc::clone(&kernel)),
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
            // Holes are read at once, so a few files with huge ones can reach the greatest number.
            Event::Hole { bytes, .. } => {
                self.statistics.bytes = self.statistics.bytes.saturating_add(*bytes);
            }
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
        if self.take_recalled() {
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
        found || !self.tray.is_empty() || self.begin_linear() || self.await_recall()
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

    /// Judges whether the cache has room for what is absent.
    fn judge_room(&mut self) -> &Room {
        self.room.judge(self.statistics.resident_bytes, || self.kernel.headroom());
        if self.room.is_large() {
            self.device.deepen();
        }
        &self.room
    }

    /// Updates the schedule after a file's ranges have changed.
    fn sort(&mut self, file: usize) {
        if let Some(planned) = self.files.planned(file) {
            planned.left.promote();
            self.schedule.sort(file, &planned.left);
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
}
