//! Reads at an offset, so that one open archive serves many threads and an engine may stand in for
//! the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Something that is read by position.
pub trait ReadAt {
    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the source ends before `offset + buffer.len()`.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl ReadAt for File {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        FileExt::read_exact_at(self, buffer, offset)
    }
}

impl ReadAt for [u8] {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let from = usize::try_from(offset)
            .ok()
            .and_then(|at| self.get(at..))
            .and_then(|rest| rest.get(..buffer.len()));
        let from = from.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        buffer.copy_from_slice(from);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        ReadAt::read_exact_at(self.as_slice(), buffer, offset)
    }
}

impl<R: ReadAt + ?Sized> ReadAt for &R {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buffer, offset)
    }
}

impl<R: ReadAt + ?Sized> ReadAt for std::sync::Arc<R> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buffer, offset)
    }
}
