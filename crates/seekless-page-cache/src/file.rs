//! An open file.

use super::frame::FRAME_BYTES;
use super::inner::Inner;
use super::source::Source;
use super::state::pages;
use super::trouble::failed;
use crate::lock;
use seekless_policy::readahead::Handle;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

/// A file that is read, and perhaps written, through a [`PageCache`](super::PageCache). Any number
/// of threads may call [`read_at`](Self::read_at) and [`write_at`](Self::write_at) at once. As
/// [`Read`], [`Write`] and [`Seek`] it has a position of its own. What is promised of writes stands
/// [above](super#writes).
///
/// The file is looked at once a tick of the kernel's clock (1 to 10 ms), and before each read that
/// reaches past the end that it had. If its size or its times have changed, what is cached of it is
/// forgotten. So reads answer as `pread` does, but for a delay: what is appended is seen at once;
/// what is overwritten in place or cut off after a tick at the latest, or later if it is written
/// through a mapping. After [`size`](Self::size) a file is seen as long as it then was. Of a file
/// that is open to write, what other programs change meanwhile may stay unseen, but for a cut.
pub struct File {
    inner: Arc<Inner>,
    handle: Handle,
    source: Arc<Source>,
    writable: bool,
    position: u64,
}

impl File {
    pub(super) fn open(inner: Arc<Inner>, source: Arc<Source>) -> io::Result<Self> {
        let version = source.version()?;
        let writable = source.is_writable();
        let (handle, source) = lock(&inner.shared.state).open(source, version);
        Ok(Self { inner, handle, source, writable, position: 0 })
    }

    /// Reads at an offset, as `pread` does: returns the number of bytes, which is smaller than
    /// asked only at the end of the file or before bytes that cannot be read.
    ///
    /// # Errors
    /// The first byte asked for cannot be read. What was prefetched around it makes no error.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.shared.read_at(self.handle, &self.source, buffer, offset)
    }

    /// Writes at an offset, as `pwrite` does, and returns the number of bytes: fewer than asked
    /// only before an error, or at the end of a block device. A file grows as far as it is written;
    /// what lies between its old end and the offset is zero. The device has the bytes after
    /// [`sync_data`](Self::sync_data), and perhaps before. Returns at once, unless too much is
    /// dirty.
    ///
    /// # Errors
    /// The file is open for reading only; a page that is written in part cannot be read; or the
    /// file can have no bytes at that offset. What was written before was not taken by the device,
    /// though it was tried again now; or what it has not taken of all files fills as much memory as
    /// the cache has. Other errors of the device come with the next sync.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.check_writable()?;
        if bytes.is_empty() {
            return Ok(0);
        }
        self.inner.shared.write_at(self.handle, &self.source, bytes, offset)
    }

    /// Gives the file another size, now. What is cut off is forgotten, also if it was never on the
    /// device; what is new is zero.
    ///
    /// # Errors
    /// The file is open for reading only, or the file system refuses the size.
    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.check_writable()?;
        self.inner.shared.set_len(self.handle, &self.source, bytes)
    }

    /// Returns when the device has all that was written to the file before, by any handle: writes
    /// back its dirty pages, then calls fdatasync.
    ///
    /// # Errors
    /// Something could not be written: the message names all bytes of the file that the device does
    /// not have. The cache keeps them and writes them again at each sync, flush and write of the
    /// file; each sync fails until they are written or cut off. What another program has cut off
    /// is lost, and reported once.
    pub fn sync_data(&self) -> io::Result<()> {
        self.inner.shared.sync(self.handle, &self.source, true)
    }

    /// As [`sync_data`](Self::sync_data), with the file's times and the like: calls fsync.
    ///
    /// # Errors
    /// As [`sync_data`](Self::sync_data).
    pub fn sync_all(&self) -> io::Result<()> {
        self.inner.shared.sync(self.handle, &self.source, false)
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.writable {
            return Ok(());
        }
        let kind = io::ErrorKind::PermissionDenied;
        let what = "it is open for reading only: open it with open_to_write";
        Err(failed(self.source.path(), what, kind.into()))
    }

    /// Bytes up to the end of the file, now.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn size(&self) -> io::Result<u64> {
        self.inner.shared.size(self.handle, &self.source)
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
        let shared = &self.inner.shared;
        let mut state = lock(&shared.state);
        state.will_need(self.handle, range, &mut starts);
        shared.go(state, starts);
    }

    /// Says that these bytes will not be read again: the pages that lie wholly in the range leave
    /// the cache, but for those that the device lacks.
    pub fn wont_need(&self, bytes: Range<u64>) {
        let range = pages(bytes.start)..bytes.end / FRAME_BYTES as u64;
        let mut state = lock(&self.inner.shared.state);
        let file = state.cache.file(self.handle);
        state.discard(file, range);
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.inner.shared.close(self.handle);
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.write_at(bytes, self.position)?;
        self.position += written as u64;
        Ok(written)
    }

    /// Does nothing: [`sync_data`](File::sync_data) is what makes bytes safe.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
