//! Reads parts of a file without changing the page cache: cached pages stay, and others do not come
//! in.
//!
//! It is for parts that are read a second time, out of the order of cost. A plain `read` of cached
//! bytes obeys the readahead markers that it meets. It then brings in up to 8 MiB, which push out
//! as much of what the first pass kept.

use crate::bypass::Bypass;
use crate::cached;
use rustix::fs::Advice;
use seekless_sys::descriptor::by_descriptor;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file that is read without disturbing the page cache.
#[derive(Debug)]
pub struct QuietFile {
    /// A descriptor of its own, so that advice about it does not affect other readers.
    file: File,
    bypass: Bypass,
}

impl QuietFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let _ = rustix::fs::fadvise(&file, 0, None, Advice::Random);
        Ok(QuietFile { file, bypass: Bypass::default() })
    }

    /// Opens the file that `file` is open on, even if it has been renamed or removed.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn again(file: &File) -> io::Result<Self> {
        Self::open(&by_descriptor(file))
    }

    /// How long the file is by now.
    ///
    /// # Errors
    /// As [`File::metadata`].
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Fills the buffer with what lies at `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends before; otherwise the system's error.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        // Past the end of the file, the last page of a mapping holds zeros.
        if offset.saturating_add(buffer.len() as u64) > self.bytes()? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if cached::is_cached(&self.file, offset, buffer.len() as u64)
            && cached::copy(&self.file, buffer, offset)
        {
            return Ok(());
        }
        let read = self.bypass.fill(&self.file, buffer, offset)?;
        if read < buffer.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sys::reads::{Caching, fill};
    use seekless_sys::residency;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    fn written() -> File {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&(0..3 << 20).map(|at| (at % 251) as u8).collect::<Vec<_>>()).unwrap();
        file.sync_data().unwrap();
        file
    }

    fn cached(file: &File) -> Option<u64> {
        residency::resident_bytes(file.as_fd()).unwrap()
    }

    #[test]
    fn a_part_is_read_whether_it_is_cached_or_not_and_what_is_cached_stays_as_it_was() {
        let file = written();
        residency::drop_cached(file.as_fd()).unwrap();
        if cached(&file) != Some(0) {
            return eprintln!("skipped: the file stays in the page cache (tmpfs?)");
        }
        let quiet = QuietFile::again(&file).unwrap();
        rustix::fs::fadvise(&file, 0, None, Advice::Random).unwrap();
        let mut some = vec![0; 1 << 20];
        File::open(by_descriptor(&file)).unwrap().read_exact(&mut some[..1]).unwrap();
        let before = cached(&file);
        assert!(before > Some(0) && before < Some(3 << 20), "{before:?}");
        for offset in [0, 100, 4096, (1 << 20) + 77, 2 << 20] {
            quiet.read_exact_at(&mut some, offset).unwrap();
            assert!(
                some.iter()
                    .enumerate()
                    .all(|(at, &byte)| (at + offset as usize) % 251 == usize::from(byte))
            );
        }
        let kept = fill(&file, &mut [0; 1], 0, Caching::Leave).is_ok();
        assert!(!kept || cached(&file) == before, "{before:?} {:?}", cached(&file));
    }

    #[test]
    fn a_part_past_the_end_is_an_error() {
        let file = written();
        file.set_len((3 << 20) - 1000).unwrap();
        let quiet = QuietFile::again(&file).unwrap();
        let error = quiet.read_exact_at(&mut [0; 100], (3 << 20) - 1099).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
