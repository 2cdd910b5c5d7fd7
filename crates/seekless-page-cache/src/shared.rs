//! The way of a read: ask the decisions under the lock, give reads to the engine, copy what is
//! there, wait for what is on its way, and read alone what could not be had otherwise.

use super::frame::{FRAME_BYTES, Frame, Pool};
use super::landing::Landing;
use super::source::{Source, Version};
use super::state::{Flying, Place, Start, State};
use crate::lock;
use seekless_engine::{AlignedBuf, BufferAndResult, Engine, Read as EngineRead};
use seekless_policy::cache::paged::pages_of;
use seekless_policy::readahead::{Handle, PageNo, Read};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Pages of a read that are looked at under one lock. Bounds the frames that a reader holds.
const BATCH_PAGES: u64 = 64;

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) frames: Arc<Pool>,
    pub(super) landing: Landing,
    /// Of memory in all.
    pub(super) bytes: u64,
    pub(super) direct: bool,
}

/// Where the pages of a batch are, after the decisions. Most reads are of one page, which takes no
/// memory here.
#[derive(Default)]
struct Parts {
    first: Option<Place>,
    rest: Vec<Place>,
}

impl Parts {
    fn push(&mut self, place: Place) {
        match self.first {
            None => self.first = Some(place),
            Some(_) => self.rest.push(place),
        }
    }
}

impl Shared {
    /// As `pread`: bytes read, 0 at the end of the file. An error only if the first byte asked for
    /// cannot be read.
    pub(super) fn read_at(
        &self,
        handle: Handle,
        source: &Arc<Source>,
        buffer: &mut [u8],
        offset: u64,
    ) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let version = source.version_of_this_tick(offset.saturating_add(buffer.len() as u64))?;
        let bytes = version.bytes.saturating_sub(offset).min(buffer.len() as u64);
        if bytes == 0 && source.is_written() {
            return Ok(0);
        }
        if bytes == 0 {
            // The file may have grown since, or be one whose size the kernel does not know.
            return self.read_alone(source, offset, buffer);
        }
        self.harvest();
        let read = Read { file: handle, offset, bytes };
        let buffer = &mut buffer[..bytes as usize];
        let mut filled = 0;
        let mut pages = pages_of(read);
        while !pages.is_empty() {
            let batch = pages.start..pages.end.min(pages.start + BATCH_PAGES);
            pages.start = batch.end;
            let begins = (filled == 0).then_some(version);
            let parts = self.look(read, batch.clone(), begins, pages.is_empty());
            match self.gather(source, read, batch, parts, buffer, &mut filled) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) if filled > 0 => break,
                Err(error) => {
                    self.end(read, 0);
                    return Err(error);
                }
            }
        }
        if filled < buffer.len() {
            self.end(read, filled);
        }
        Ok(filled)
    }

    /// Decides on some pages of a read, and starts the reads that this needs.
    fn look(
        &self,
        read: Read,
        pages: Range<PageNo>,
        begins: Option<Version>,
        is_last: bool,
    ) -> Parts {
        let mut starts = Vec::new();
        let mut parts = Parts::default();
        let mut state = lock(&self.state);
        if let Some(version) = begins {
            let number = state.cache.file(read.file);
            state.refresh(number, version);
            state.begin(read, &mut starts);
        }
        for page in pages {
            parts.push(state.page(read, page, &mut starts));
        }
        if is_last {
            state.cache.end(read, read.offset + read.bytes);
        }
        if !starts.is_empty() || !state.due.is_empty() {
            self.go(state, starts);
        }
        parts
    }

    /// A read that ended early. A full one has reported so with its last page.
    fn end(&self, read: Read, filled: usize) {
        lock(&self.state).cache.end(read, read.offset + filled as u64);
    }

    /// Makes a single read that the calling thread waits for; gives others to the engine, those
    /// that a read waits for first.
    pub(super) fn start(&self, mut starts: Vec<Start>) {
        if let [start] = &starts[..]
            && start.is_own()
        {
            let flying = &start.flying;
            let buffer = self.frames.buffer(flying.pages());
            let (file, offset) = (flying.source.file(), flying.offset());
            let (buffer, result) = self.engine.read_now(file, offset, buffer);
            let mut frames = self.brought(flying, buffer, result);
            lock(&self.state).settle_own(flying, &mut frames);
            return flying.flight.land(frames);
        }
        starts.sort_by_key(|start| !start.demand);
        self.landing.take_off(starts.len());
        self.engine.submit(starts.iter().map(|start| self.engine_read(start)).collect());
    }

    fn engine_read(&self, start: &Start) -> EngineRead {
        EngineRead {
            file: start.flying.source.file(),
            offset: start.flying.offset(),
            buffer: self.frames.buffer(start.flying.pages()),
            tag: start.tag,
            done: self.landing.done.clone(),
        }
    }

    /// A read or write of the engine has ended: what was read goes into the cache and to those who
    /// wait.
    pub(super) fn land(&self, tag: u64, buffer: AlignedBuf, result: io::Result<usize>) {
        let mut state = lock(&self.state);
        let Some(flying) = state.touch_down(tag) else {
            state.wrote(tag, result);
            let writes = state.take_due(&self.landing.done);
            drop(state);
            return self.hand_over(writes);
        };
        drop(state);
        let mut frames = self.brought(&flying, buffer, result);
        lock(&self.state).settle(&flying, &mut frames);
        flying.flight.land(frames);
    }

    /// The pages that a read brought. Of one that failed nothing is kept; a page of it that a
    /// reader waits for is read again alone.
    fn brought(
        &self,
        flying: &Flying,
        mut buffer: AlignedBuf,
        result: io::Result<usize>,
    ) -> Vec<Option<Frame>> {
        if let Err(error) = &result {
            flying.source.refuses(error);
        }
        let read = match result {
            Ok(read) if flying.source.is_written() => {
                let read = read.min(buffer.len());
                fill_up(flying, &mut buffer, read)
            }
            result => result.unwrap_or(0).min(buffer.len()),
        };
        let pages = flying.pages();
        let mut frames = self.frames.frames(buffer, pages, |page| whole_page(flying, page, read));
        frames.resize(pages, None);
        frames
    }

    /// Copies the pages of a batch. False at the end of the file.
    fn gather(
        &self,
        source: &Source,
        read: Read,
        pages: Range<PageNo>,
        parts: Parts,
        buffer: &mut [u8],
        filled: &mut usize,
    ) -> io::Result<bool> {
        for (page, place) in pages.zip(parts.first.into_iter().chain(parts.rest)) {
            let within = (read.offset + *filled as u64 - page * FRAME_BYTES as u64) as usize;
            let wanted = (FRAME_BYTES - within).min(buffer.len() - *filled);
            let target = &mut buffer[*filled..*filled + wanted];
            let frame = match place {
                Place::Held(frame) => Some(frame),
                Place::Flying(flight) => {
                    self.wait(&flight);
                    flight.page(page)
                }
                Place::Nowhere => None,
            };
            let copied = match frame.as_ref().and_then(|frame| frame.get(within..within + wanted)) {
                Some(bytes) => {
                    target.copy_from_slice(bytes);
                    wanted
                }
                None if source.is_written() => {
                    let offset = read.offset + *filled as u64;
                    self.read_settled(read.file, source, offset, target)?
                }
                None => self.read_alone(source, read.offset + *filled as u64, target)?,
            };
            *filled += copied;
            if copied < wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads up to the end of one page, past the cache. 0 at the end of the file.
    fn read_alone(&self, source: &Source, offset: u64, target: &mut [u8]) -> io::Result<usize> {
        let page = offset / FRAME_BYTES as u64 * FRAME_BYTES as u64;
        let (buffer, result) = self.read_alone_at(source, page);
        let bytes = result?.min(buffer.len());
        let within = (offset - page) as usize;
        let found = buffer.get(within..bytes).unwrap_or_default();
        let copied = found.len().min(target.len());
        target[..copied].copy_from_slice(&found[..copied]);
        Ok(copied)
    }

    /// Reads one page at an offset, past the cache.
    pub(super) fn read_alone_at(&self, source: &Source, offset: u64) -> BufferAndResult {
        let read = || {
            let buffer = self.frames.buffer(1);
            self.engine.read_now(source.file(), offset, buffer)
        };
        let (buffer, result) = read();
        match result {
            Err(error) if source.refuses(&error) => read(),
            result => (buffer, result),
        }
    }
}

/// A read of a file that is open to write stops where the device's file ends: up to the end that
/// the file has with what the device lacks, it is zero. How much is filled then.
fn fill_up(flying: &Flying, buffer: &mut AlignedBuf, read: usize) -> usize {
    let wanted =
        flying.end().saturating_sub(flying.offset()).min(buffer.capacity() as u64) as usize;
    let stopped = flying.offset() + read as u64;
    let is_end = || flying.source.on_device().is_ok_and(|device| device.bytes <= stopped);
    if read < wanted && is_end() {
        buffer.whole_mut()[read..wanted].fill(0);
        buffer.set_len(wanted);
        return wanted;
    }
    read
}

/// The bytes that the file has of a page of a read, if the read brought them all.
fn whole_page(flying: &Flying, page: usize, read: usize) -> Option<usize> {
    let start = page * FRAME_BYTES;
    let first = flying.pages.start * FRAME_BYTES as u64 + start as u64;
    let has = flying.end().saturating_sub(first).min(FRAME_BYTES as u64) as usize;
    (has > 0 && start + has <= read).then_some(has)
}
