//! How much of a file is in the page cache, and how to drop it: cachestat(2) (Linux 6.5), otherwise
//! mincore(2). Both answer *unknown* rather than guess, and neither moves data into the cache.

mod cachestat;
mod count;
mod honest;
mod mincore;
mod runs;
mod told;
mod touch;

pub use cachestat::Pages;
pub use count::{count, is_seen};
pub use runs::{PageRun, runs};
pub use told::is_served;
pub use touch::sampled;

use crate::memory::page_bytes;
use cachestat::is_refusal;
use count::mincore_is_honest;
use mincore::mapped_pages;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// The default grain: smaller cached fragments are not distinguished. Reading them apart costs more
/// than it saves.
pub const GRAIN_BYTES: u64 = 64 << 10;
/// The bytes of the file that are in the page cache, in whole pages cut at the file's end. `None`
/// if the kernel does not say: there is no cachestat, and mincore would lie because the file is
/// neither ours nor writable to us.
///
/// # Errors
/// The descriptor is not an open regular file or device, or memory for the fallback is short.
pub fn resident_bytes(file: BorrowedFd<'_>) -> io::Result<Option<u64>> {
    let file_bytes = rustix::fs::fstat(file)?.st_size.unsigned_abs();
    let pages = match count(file, 0, 0) {
        Ok(pages) => Some(pages.cached),
        Err(error) if is_refusal(&error) => pages_by_mincore(file, 0..file_bytes)?,
        Err(error) => return Err(error),
    };
    Ok(pages.map(|pages| (pages * page_bytes()).min(file_bytes)))
}

/// Whether all of a file of `bytes` is in the page cache, or nothing of it, by one question. `None`
/// if only a part is there, and if the kernel does not say.
#[must_use]
pub fn all_or_nothing(file: BorrowedFd<'_>, bytes: u64) -> Option<bool> {
    let cached = count(file, 0, bytes).ok()?.cached;
    (cached == 0 || cached >= bytes.div_ceil(page_bytes())).then_some(cached > 0)
}

/// Drops the file's clean pages from the page cache. Dirty pages stay: call `fdatasync` before.
/// Pages that another process has mapped or is using stay, too, so check with [`resident_bytes`].
///
/// # Errors
/// The descriptor has no page cache (a pipe).
pub fn drop_cached(file: BorrowedFd<'_>) -> io::Result<()> {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// Drops the clean pages that lie wholly in the range, as [`drop_cached`] those of a whole file.
///
/// # Errors
/// As [`drop_cached`].
pub fn drop_range(file: BorrowedFd<'_>, range: Range<u64>) -> io::Result<()> {
    let Some(bytes) = NonZeroU64::new(range.end.saturating_sub(range.start)) else { return Ok(()) };
    rustix::fs::fadvise(file, range.start, Some(bytes), rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// The kernel empties the machine's caches when this file is written.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Writes back everything and empties the page cache, dentries and inodes of the whole machine.
/// Needs root. Waits while a process [keeps the caches](keep_all_caches).
///
/// # Errors
/// Without root, or where /proc/sys is read-only.
pub fn drop_all_caches() -> io::Result<()> {
    let mut caches = OpenOptions::new().write(true).open(DROP_CACHES)?;
    rustix::fs::sync();
    flock(&caches, FlockOperation::LockExclusive)?;
    caches.write_all(b"3")
}

/// While it lives, no Seekless process of this machine empties all caches.
#[derive(Debug)]
pub struct KeptCaches {
    _locked: File,
}

/// Keeps every Seekless process from emptying the machine's caches, for a measurement that needs
/// what is cached to stay so. The lock is shared: several processes may hold it. Needs root.
///
/// # Errors
/// Without root, or where /proc/sys is read-only.
pub fn keep_all_caches() -> io::Result<KeptCaches> {
    let caches = OpenOptions::new().write(true).open(DROP_CACHES)?;
    flock(&caches, FlockOperation::LockShared)?;
    Ok(KeptCaches { _locked: caches })
}

/// Writes back all that is dirty on the file system that holds `file`. It is one call, where
/// flushing thousands of files one by one would take a journal commit for each.
///
/// # Errors
/// A write fails, or the descriptor is not of a file system.
pub fn write_back_file_system(file: BorrowedFd<'_>) -> io::Result<()> {
    rustix::fs::syncfs(file)?;
    Ok(())
}

/// As [`resident_bytes`] answers where there is no cachestat: by mincore(2) alone.
///
/// # Errors
/// As [`resident_bytes`].
pub fn resident_bytes_by_mincore(file: BorrowedFd<'_>) -> io::Result<Option<u64>> {
    let file_bytes = rustix::fs::fstat(file)?.st_size.unsigned_abs();
    let pages = pages_by_mincore(file, 0..file_bytes)?;
    Ok(pages.map(|pages| (pages * page_bytes()).min(file_bytes)))
}

/// How many pages of the range mincore calls resident; `None` where it is not right.
fn pages_by_mincore(file: BorrowedFd<'_>, range: Range<u64>) -> io::Result<Option<u64>> {
    if mincore_is_honest(file)? { mapped_pages(file, range) } else { Ok(None) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    fn written(bytes: usize) -> File {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; bytes]).unwrap();
        file.sync_data().unwrap();
        file
    }

    #[test]
    fn a_file_just_written_is_resident_to_its_last_byte() {
        let file = written(10_000);
        if let Some(resident) = resident_bytes(file.as_fd()).unwrap() {
            assert_eq!(resident, 10_000);
        }
        if let Ok(pages) = count(file.as_fd(), 0, 10_000) {
            assert_eq!(pages.cached, 10_000_u64.div_ceil(page_bytes()));
            assert_eq!(all_or_nothing(file.as_fd(), 10_000), Some(true));
            assert_eq!(
                all_or_nothing(file.as_fd(), 10_000 + page_bytes()),
                None,
                "there is no such page"
            );
        }
    }

    #[test]
    fn mincore_agrees_with_cachestat_and_an_empty_file_has_nothing() {
        let file = written(1 << 20);
        if let Ok(pages) = count(file.as_fd(), 0, 0) {
            assert_eq!(pages_by_mincore(file.as_fd(), 0..1 << 20).unwrap(), Some(pages.cached));
        }
        let empty = tempfile::tempfile().unwrap();
        assert!(matches!(resident_bytes(empty.as_fd()).unwrap(), None | Some(0)));
    }

    #[test]
    fn dropping_leaves_no_more_than_before() {
        let file = written(1 << 20);
        let before = resident_bytes(file.as_fd()).unwrap();
        drop_cached(file.as_fd()).unwrap();
        let after = resident_bytes(file.as_fd()).unwrap();
        assert!(after <= before);
    }

    #[test]
    fn a_range_is_dropped_alone() {
        let file = written(64 * page_bytes() as usize);
        let Ok(before) = count(file.as_fd(), 0, 0) else { return };
        drop_range(file.as_fd(), 8 * page_bytes()..16 * page_bytes()).unwrap();
        drop_range(file.as_fd(), 8..8).unwrap();
        let dropped = count(file.as_fd(), 8 * page_bytes(), 8 * page_bytes()).unwrap();
        let after = count(file.as_fd(), 0, 0).unwrap();
        // A folio may be larger than the range and stay; nothing outside leaves.
        assert!(before.cached - after.cached == 8 - dropped.cached);
    }

    #[test]
    fn writing_back_the_file_system_is_as_good_as_syncing_the_file() {
        let left = |flush: &dyn Fn(&File)| {
            let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
            file.write_all(&[1; 4096]).unwrap();
            flush(&file);
            drop_cached(file.as_fd()).unwrap();
            resident_bytes(file.as_fd()).unwrap()
        };
        let synced = left(&|file| file.sync_data().unwrap());
        assert_eq!(left(&|file| write_back_file_system(file.as_fd()).unwrap()), synced);
    }

    #[test]
    fn a_pipe_has_no_cache_to_drop() {
        let (reader, _writer) = io::pipe().unwrap();
        assert!(drop_cached(reader.as_fd()).is_err());
    }
}
