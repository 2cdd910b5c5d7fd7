//! The way of a write: put it into the cache under the lock, page by page; hand over what this
//! pushes out; wait where too much is dirty.

use super::flight::Flight;
use super::frame::{FRAME_BYTES, Frame};
use super::shared::Shared;
use super::source::Source;
use super::state::Needs;
use super::state::writes::{Part, Wrote};
use super::state::{Place, Start, State};
use super::trouble::failed;
use crate::lock;
use seekless_engine::Write;
use seekless_policy::cache::paged::FileNo;
use seekless_policy::readahead::{Handle, PageNo};
use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, MutexGuard};

/// How many pages may be held beyond the memory before requests that push out dirty ones wait for
/// writes to end.
const BEYOND_PAGES: usize = 16;

/// So often a page is read to write a part of it, before the write fails.
const READS_MAX: u32 = 100;

impl Shared {
    /// As `pwrite`: bytes written. The device has them later.
    pub(super) fn write_at(
        &self,
        handle: Handle,
        source: &Source,
        bytes: &[u8],
        offset: u64,
    ) -> io::Result<usize> {
        let bytes = &bytes[..room(source, offset, bytes.len())?];
        self.harvest();
        let version = source.version_of_this_tick(0)?;
        let mut state = lock(&self.state);
        let file = state.cache.file(handle);
        state.refresh(file, version);
        self.check_taken(state, file)?;
        let mut written = 0;
        while written < bytes.len() {
            let at = offset + written as u64;
            let within = (at % FRAME_BYTES as u64) as usize;
            let count = (FRAME_BYTES - within).min(bytes.len() - written);
            let page = at / FRAME_BYTES as u64;
            let bytes = &bytes[written..written + count];
            let whole = (count == FRAME_BYTES).then(|| self.frames.whole(bytes));
            let mut part = Part { handle, page, within, bytes, whole };
            match self.write_part(source, &mut part) {
                Ok(()) => written += count,
                Err(error) if written == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(written)
    }

    /// Fails if the device does not take what was written to the file before, or if what it does
    /// not take of any file fills as much memory as the cache has. Tries both again first.
    fn check_taken(&self, mut state: MutexGuard<'_, State>, file: FileNo) -> io::Result<()> {
        let is_full = |state: &State| state.stuck.len() as u64 * FRAME_BYTES as u64 > self.bytes;
        if !state.stuck.has(file) && !is_full(&state) {
            return Ok(());
        }
        if is_full(&state) {
            state.retry_all();
        } else {
            state.retry(file);
        }
        let ids = state.due.iter().flat_map(|writing| writing.ids()).copied().collect();
        let needs = state.needs(ids);
        self.go(state, Vec::new());
        self.wait_for(&needs);
        let state = lock(&self.state);
        let others = || is_full(&state).then(|| state.any_failure()).flatten();
        state.failure(file).or_else(others).map_or(Ok(()), Err)
    }

    fn write_part(&self, source: &Source, part: &mut Part<'_>) -> io::Result<()> {
        let mut reads = 0;
        loop {
            let mut starts = Vec::new();
            let mut state = lock(&self.state);
            let file = state.cache.file(part.handle);
            if let Some(error) = state.failure(file) {
                return Err(error);
            }
            let wrote = state.write(part, self.engine.now(), &mut starts);
            self.go(state, starts);
            match wrote {
                Wrote::Yes(needs) => {
                    self.wait_for(&needs);
                    return Ok(());
                }
                Wrote::Reading(flight) => {
                    self.wait(&flight);
                    if flight.page(part.page).is_none() {
                        reads += 1;
                        self.check_read(source, part.page, reads)?;
                    }
                }
                Wrote::Refused => {
                    if self.write_through(source, part)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// A page that is to be written in part could not be read. Says why, or that it may be tried
    /// again.
    fn check_read(&self, source: &Source, page: PageNo, reads: u32) -> io::Result<()> {
        let offset = page * FRAME_BYTES as u64;
        let what = || format!("the page at byte {offset} cannot be read to write a part of it");
        let short = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match self.read_page(source, page, 0) {
            Ok(_) if reads < READS_MAX => Ok(()),
            Ok(_) => Err(failed(source.path(), what(), short())),
            Err(error) => Err(failed(source.path(), what(), error)),
        }
    }

    /// Writes a part whose page the cache does not keep, under the lock: so that no other thread
    /// reads or writes the page meanwhile. False if it is in the cache after all.
    fn write_through(&self, source: &Source, part: &Part<'_>) -> io::Result<bool> {
        let mut state = lock(&self.state);
        let file = state.cache.file(part.handle);
        let start = part.page * FRAME_BYTES as u64;
        match state.whereabouts(file, part.page) {
            Place::Nowhere => {}
            Place::Flying(flight) => {
                drop(state);
                self.wait(&flight);
                return Ok(false);
            }
            Place::Held(_) => {
                let needs = state.in_write_back(file, part.page);
                if let Some(error) = state.failure(file) {
                    return Err(error);
                }
                drop(state);
                self.wait_for(&needs);
                return Ok(false);
            }
        }
        let end = state.end(file);
        let mut frame = match part.keeps_some(end) {
            true => self.read_page(source, part.page, end)?,
            false => self.frames.whole(&[]),
        };
        part.copy_to(&mut frame);
        let bytes = (end.max(part.end()) - start).min(FRAME_BYTES as u64) as usize;
        self.write_now(source, start, &frame, bytes)?;
        state.grow(file, part.end());
        state.wrote_through(file, start + bytes as u64);
        Ok(true)
    }

    fn write_now(
        &self,
        source: &Source,
        offset: u64,
        frame: &Frame,
        bytes: usize,
    ) -> io::Result<()> {
        let write = || {
            let (done, ended) = channel();
            let (file, pages) = (source.file_to_write(bytes), vec![frame.page()]);
            self.engine.write_now(Write { file, offset, pages, bytes, tag: 0, done: done.into() });
            let gone = || Err(io::Error::other("the engine dropped a write"));
            ended.recv().map_or_else(|_| gone(), |completion| completion.result)
        };
        let mut result = write();
        if result.as_ref().is_err_and(|error| source.refuses(error)) {
            result = write();
        }
        let what = || format!("bytes {offset} to {} cannot be written", offset + bytes as u64);
        result.map(drop).map_err(|error| failed(source.path(), what(), error))
    }

    /// A page of a file that is open to write, read past the cache. Behind what the device has it
    /// is zero.
    pub(super) fn read_page(&self, source: &Source, page: PageNo, end: u64) -> io::Result<Frame> {
        let start = page * FRAME_BYTES as u64;
        let (buffer, result) = self.read_alone_at(source, start);
        let has = end.saturating_sub(start).min(FRAME_BYTES as u64) as usize;
        let read = result?.min(buffer.len());
        if read < has && source.on_device()?.bytes > start + read as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(self.frames.whole(&buffer[..read.min(has)]))
    }

    /// Reads up to the end of one page of a file that is open to write, where the cache has not
    /// given it: under the lock, so that no write of it is under way meanwhile.
    pub(super) fn read_settled(
        &self,
        handle: Handle,
        source: &Source,
        offset: u64,
        target: &mut [u8],
    ) -> io::Result<usize> {
        let page = offset / FRAME_BYTES as u64;
        let within = (offset % FRAME_BYTES as u64) as usize;
        loop {
            let state = lock(&self.state);
            let file = state.cache.file(handle);
            let end = state.end(file);
            let frame = match state.whereabouts(file, page) {
                Place::Flying(flight) => {
                    drop(state);
                    self.wait(&flight);
                    continue;
                }
                Place::Held(frame) if frame.is_whole() => frame,
                Place::Held(_) | Place::Nowhere => self.read_page(source, page, end)?,
            };
            let found = (end.saturating_sub(offset)).min(target.len() as u64) as usize;
            target[..found].copy_from_slice(&frame[within..within + found]);
            return Ok(found);
        }
    }

    /// Carries out what was decided under the lock: hands writes over, and starts reads.
    pub(super) fn go(&self, mut state: MutexGuard<'_, State>, starts: Vec<Start>) {
        state.take_off(&starts);
        let writes = state.take_due(&self.landing.done);
        drop(state);
        let has_writes = !writes.is_empty();
        self.hand_over(writes);
        if !starts.is_empty() {
            self.start(starts);
        }
        if has_writes {
            self.keep_to_the_memory();
        }
    }

    pub(super) fn hand_over(&self, writes: Vec<Write>) {
        if !writes.is_empty() {
            self.landing.take_off(writes.len());
            self.engine.write(writes);
        }
    }

    /// Pages that were pushed out are held until they are written. Where they take memory that the
    /// cache has not, who pushes out more waits.
    fn keep_to_the_memory(&self) {
        if self.frames.beyond() > BEYOND_PAGES {
            self.wait_until(&|| {
                let state = lock(&self.state);
                self.frames.beyond() <= BEYOND_PAGES + state.stuck.len() || state.writing.is_empty()
            });
        }
    }

    /// Waits until the device has these pages.
    pub(super) fn wait_for(&self, needs: &Needs) {
        if !needs.is_empty() {
            self.wait_until(&|| lock(&self.state).are_settled(needs));
        }
    }

    pub(super) fn wait(&self, flight: &Arc<Flight>) {
        if flight.is_own() {
            return flight.wait();
        }
        self.wait_until(&|| flight.has_landed());
    }
}

/// How many of the bytes the file can take: a block device does not grow.
fn room(source: &Source, offset: u64, bytes: usize) -> io::Result<usize> {
    let most = source.device_bytes().unwrap_or(i64::MAX as u64);
    match most.saturating_sub(offset).min(bytes as u64) {
        0 if bytes > 0 => {
            let kind = match source.device_bytes() {
                Some(_) => io::ErrorKind::StorageFull,
                None => io::ErrorKind::FileTooLarge,
            };
            let what = format!("nothing can be written at byte {offset}");
            Err(failed(source.path(), what, kind.into()))
        }
        room => Ok(room as usize),
    }
}
