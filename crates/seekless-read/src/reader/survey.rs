//! Looks at a file: whether it is read in the order of cost, and what of it the page cache holds.

use super::archive::Stub;
use super::kernel::{Closed, Kernel};
use super::left::Left;
use super::linear::Start;
use super::opened::{Opened, Stamp};
use super::options::Options;
use super::planned::Planned;
use super::ranges::Ranges;
use super::source::{Source, State};
use super::sparse;
use crate::{Error, Plan};
use seekless_sled::Sled;
use seekless_sys::memory::page_bytes;
use seekless_sys::residency::{GRAIN_BYTES, PageRun};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Below this size, advice about readahead costs more than readahead does.
const ADVISED_BYTES: u64 = 256 << 10;

/// Looks at files for one reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survey<'a> {
    pub(super) kernel: &'a dyn Kernel,
    pub(super) options: &'a Options,
}

impl Survey<'_> {
    /// Looks at a new file: it is planned or linear, or it must be recalled first.
    ///
    /// # Errors
    /// It cannot be opened, or the system refuses to describe it.
    pub(super) fn first(&self, source: &Source) -> Result<State, Error> {
        if source.given.is_none()
            && self.options.plan == Plan::Best
            && let Some(closed) = self.closed(&source.path)?
        {
            return Ok(match Stub::within(&self.options.reach, closed) {
                Err(bytes) => State::LeftOut(bytes),
                Ok(stub) => State::Archived(stub),
            });
        }
        self.opened(source)
    }

    /// A file that opening might recall. Where the system refuses to look at it, opening it says
    /// why.
    fn closed(&self, path: &Path) -> Result<Option<Closed>, Error> {
        match self.kernel.closed(path) {
            Err(error) if error.io_error().is_none() => Err(Error::from(error)),
            other => Ok(other.ok().flatten()),
        }
    }

    /// Opens a file, and looks at it.
    ///
    /// # Errors
    /// As [`first`](Self::first).
    pub(super) fn opened(&self, source: &Source) -> Result<State, Error> {
        let (file, base) = source.open().map_err(Error::open)?;
        let about = file.metadata()?;
        // A size of 0 says nothing: files of /proc have content.
        if self.options.plan == Plan::Linear || !about.is_file() || about.len() <= base {
            // A file that was handed in open was opened again, and its position is its start.
            let _ = rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(base)); // a stream has no position
            return Ok(State::Linear(Some(Start { stream: file, offset: 0, begun: Vec::new() })));
        }
        let stamp = Stamp::from(&about);
        let mut left = Left::default();
        let holes = sparse::holes(self.options, &file, base..stamp.bytes);
        let mut known = true;
        for part in sparse::between(&holes, base..stamp.bytes) {
            known &= self.sort(&source.path, &file, part, &mut left);
        }
        let seen = self.options.reach.cached_only || self.kernel.is_seen(&file);
        let once = !seen || self.kernel.count(&file, base..stamp.bytes).is_none();
        let opened = Opened::new(file);
        let mut planned = Planned::new(stamp, base, opened.clone(), self.options.records);
        planned.answer.known = known;
        planned.answer.once = once;
        planned.left = left;
        self.divide(&source.path, &opened.buffered, &mut planned)?;
        planned.pass_over(&holes);
        planned.holes = holes;
        if stamp.bytes > ADVISED_BYTES {
            opened.advise_random();
        }
        Ok(State::Planned(Box::new(planned)))
    }

    /// Asks again what is cached of the rest of a file.
    pub(super) fn again(&self, path: &Path, planned: &mut Planned, file: &File) {
        planned.answer.just_looked = true;
        planned.answer.surprised = false;
        planned.answer.looked_at = Instant::now();
        let mut joined = Ranges::default();
        planned.left.take_all().into_iter().for_each(|range| joined.push(range));
        for range in joined.iter() {
            self.sort(path, file, range, &mut planned.left);
        }
        if planned.ruled {
            // Where this fails, all that is not cached counts as one level.
            let _ = self.divide(path, file, planned);
        }
    }

    /// Divides what is not cached by where it lies, if a rule is about the file.
    fn divide(&self, path: &Path, file: &File, planned: &mut Planned) -> Result<(), Error> {
        if self.options.plan == Plan::Best
            && let Some(sleds) = self.kernel.ruled(path, file)?
        {
            planned.ruled = true;
            let reach = self.options.reach;
            let is_beyond = |sled: &Sled| reach.leaves_out(sled.latency, sled.cost());
            planned.left_out |=
                planned.left.divide(&sleds, |sled| !reach.cached_only && is_beyond(sled));
        }
        Ok(())
    }

    /// Sorts a range into what is cached and what is not. If that is unknown, all counts as absent,
    /// and the result is false.
    fn sort(&self, path: &Path, file: &File, range: Range<u64>, left: &mut Left) -> bool {
        match self.look(path, file, range.clone()) {
            Some(runs) => left.sort_in(&runs, self.options.reach.cached_only),
            None => {
                left.absent.push(range);
                return false;
            }
        }
        true
    }

    /// Which parts of a file are cached. Where only touching helps, pages are touched, if that is
    /// cheap and everything is to be read.
    fn look(&self, path: &Path, file: &File, range: Range<u64>) -> Option<Vec<PageRun>> {
        let grain = if self.options.reach.cached_only { page_bytes() } else { GRAIN_BYTES };
        let ask = |touch| self.kernel.runs(file, range.clone(), grain, touch).ok().flatten();
        let may_touch = || !self.options.reach.cached_only && self.kernel.may_touch(path);
        ask(false).or_else(|| may_touch().then(|| ask(true)).flatten())
    }
}
