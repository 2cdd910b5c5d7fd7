//! An open file.

use super::core::Core;
use super::frame::FRAME_BYTES;
use super::source::Source;
use super::state::pages;
use crate::lock;
use seekless_policy::readahead::Handle;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// A file that is read through a [`PageCache`](super::PageCache). Any number of threads may call
/// [`read_at`](Self::read_at) at once. As [`Read`] and [`Seek`] it has a position of its own.
///
/// The file is looked at once a tick of the kernel's clock (1 to 10 ms), and before each read that
/// reaches past the end that it had. If its size or its times have changed, what is cached of it is
/// forgotten. So reads answer as `pread` does, but for a delay: what is appended is seen at once;
/// what is overwritten in place or cut off after a tick at the latest, or later if it is written
/// through a mapping. After [`size`](Self::size) a file is seen as long as it then was.
pub struct File {
    core: Arc<Core>,
    handle: Handle,
    source: Arc<Source>,
    position: u64,
}

impl File {
    pub(super) fn open(core: Arc<Core>, source: Arc<Source>) -> io::Result<Self> {
        let version = source.version()?;
        let (handle, source) = lock(&core.shared.state).open(source, version);
        Ok(Self { core, handle, source, position: 0 })
    }

    /// Reads at an offset, as `pread` does: returns the number of bytes, which is smaller than
    /// asked only at the end of the file or before bytes that cannot be read.
    ///
    /// # Errors
    /// The first byte asked for cannot be read. What was prefetched around it makes no error.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.core.shared.read_at(self.handle, &self.source, buffer, offset)
    }

    /// Bytes up to the end of the file, now.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn size(&self) -> io::Result<u64> {
        Ok(self.source.version()?.bytes)
    }

    /// Whether reads go past the kernel's page cache (O_DIRECT).
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.source.is_direct()
    }

    /// Says that these bytes will be read soon: starts to fetch them, as far as the cache has room.
    pub fn will_need(&self, bytes: Range<u64>) {
        let range = bytes.start / FRAME_BYTES as u64..pages(bytes.end);
        let mut starts = Vec::new();
        let shared = &self.core.shared;
        let mut state = lock(&shared.state);
        state.will_need(self.handle, range, &mut starts);
        state.take_off(&starts);
        drop(state);
        shared.start(starts);
    }

    /// Says that these bytes will not be read again: the pages that lie wholly in the range leave
    /// the cache.
    pub fn wont_need(&self, bytes: Range<u64>) {
        let range = pages(bytes.start)..bytes.end / FRAME_BYTES as u64;
        let mut state = lock(&self.core.shared.state);
        let file = state.cache.file(self.handle);
        state.discard(file, range);
    }
}

impl Drop for File {
    fn drop(&mut self) {
        lock(&self.core.shared.state).close(self.handle);
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(by) => (self.position, by),
            SeekFrom::End(by) => (self.size()?, by),
        };
        let position = base.checked_add_signed(by).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "a seek to before the file's beginning")
        })?;
        self.position = position;
        Ok(position)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("File").field("position", &self.position).finish_non_exhaustive()
    }
}
