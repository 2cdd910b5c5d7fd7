//! How much of a file is in the page cache, and how to drop it: cachestat(2) (Linux 6.5), otherwise
//! mincore(2). Both answer *unknown* rather than guess, and neither moves data into the cache.

mod honest;
mod runs;
mod told;
mod touch;

pub use runs::{PageRun, runs};
pub use touch::sampled;

use crate::memory::page_bytes;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;
use told::Told;

/// The number of cachestat(2) on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;
/// Errors on which we fall back to mincore, where mincore reports true residency. EPERM: a file
/// that we neither own nor may write to (Linux 6.14), or a sandbox. EOPNOTSUPP: hugetlbfs.
const SYS_CACHESTAT_REFUSED: [i32; 3] = [libc::ENOSYS, libc::EPERM, libc::EOPNOTSUPP];
/// The default grain: smaller cached fragments are not told apart. Reading them apart costs more
/// than it saves.
pub const GRAIN_BYTES: u64 = 64 << 10;
/// The bytes that one mapping of the fallback covers: a vector of 64 Ki bytes answers for them.
const WINDOW_BYTES: u64 = 256 << 20;

#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// What cachestat(2) counts, in pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// In the page cache, also those still being read.
    pub cached: u64,
    /// Not yet written back.
    pub dirty: u64,
    /// Being written back.
    pub writeback: u64,
    /// Were there and have been pushed out, as far as the kernel remembers.
    pub evicted: u64,
    /// Pushed out so recently that a larger cache would have kept them: the cache is full.
    pub recently_evicted: u64,
}

/// The bytes of the file that are in the page cache, in whole pages cut at the file's end. `None`
/// if the kernel does not tell: there is no cachestat, and mincore would lie because the file is
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
/// if only a part is there, and if the kernel does not tell.
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

/// Writes back everything and empties the page cache, dentries and inodes of the whole machine.
/// Needs root.
///
/// # Errors
/// Without root, or where /proc/sys is read-only.
pub fn drop_all_caches() -> io::Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3")
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

/// Counts the pages of `bytes` at `offset`; 0 bytes mean up to the end of the file. Nothing is
/// read.
///
/// cachestat(2) answers. Where its count is meaningless (overlayfs), `cached` comes from mincore,
/// and the other counts are 0.
///
/// # Errors
/// The kernel's: ENOSYS before Linux 6.5, EPERM on a file that is neither ours nor writable to us
/// (Linux 6.14). EOPNOTSUPP also where the state is unknown: ZFS, and another user's file on
/// overlayfs.
pub fn count(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> io::Result<Pages> {
    let pages = cachestat(file, offset, bytes)?;
    if pages.cached > 0 {
        return Ok(pages);
    }
    match Told::of(file)? {
        Told::Count => Ok(pages),
        told => {
            let end = match bytes {
                0 => rustix::fs::fstat(file)?.st_size.unsigned_abs(),
                bytes => offset.saturating_add(bytes),
            };
            let cached = told.where_none_counted(file, offset..end.max(offset))?;
            let cached = cached.ok_or_else(|| io::Error::from_raw_os_error(libc::EOPNOTSUPP))?;
            Ok(Pages { cached, ..pages })
        }
    }
}

fn cachestat(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> io::Result<Pages> {
    let range = CachestatRange { offset, length: bytes };
    let mut answer = Pages::default();
    // SAFETY: both pointers are to live structures of the kernel's layout, and the kernel writes
    // only to the second.
    let result = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0 as libc::c_uint)
    };
    if result == 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

/// Whether the error means that mincore should be asked.
fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| SYS_CACHESTAT_REFUSED.contains(&code))
}

/// How many pages of the range mincore calls resident; `None` where it does not tell the truth.
fn pages_by_mincore(file: BorrowedFd<'_>, range: Range<u64>) -> io::Result<Option<u64>> {
    if mincore_is_honest(file)? { mapped_pages(file, range) } else { Ok(None) }
}

fn mincore_is_honest(file: BorrowedFd<'_>) -> io::Result<bool> {
    match Told::of(file)? {
        Told::Count => honest::is_told(file),
        Told::Mapping => honest::is_told_by_mapping(file),
        Told::CountUnlessEmpty | Told::Nobody => Ok(false),
    }
}

/// How many pages of the range a mapping of it shows as resident; `None` where it cannot be mapped.
fn mapped_pages(file: BorrowedFd<'_>, range: Range<u64>) -> io::Result<Option<u64>> {
    let mut resident = 0;
    let mut start = range.start / page_bytes() * page_bytes();
    while start < range.end {
        let length = WINDOW_BYTES.min(range.end - start);
        let Some(pages) = resident_pages(file, start, length)? else { return Ok(None) };
        resident += pages.iter().filter(|page| **page & 1 == 1).count() as u64;
        start += length;
    }
    Ok(Some(resident))
}

/// Maps `length` bytes at `offset` and asks mincore: one byte for each page, whose lowest bit says
/// that it is resident. `None` where the file cannot be mapped.
fn resident_pages(file: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = usize::try_from(length).ok().and_then(NonZeroUsize::new) else { return Ok(None) };
    let offset = offset.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: a fresh mapping at an address of the kernel's choice; it is never read through.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length.get(),
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_fd().as_raw_fd(),
            offset,
        )
    };
    if address == libc::MAP_FAILED {
        return Ok(None);
    }
    let mut pages = vec![0_u8; length.get().div_ceil(page_bytes() as usize)];
    // SAFETY: the mapping is `length` bytes long and the vector has a byte for each of its pages.
    let result = unsafe { libc::mincore(address, length.get(), pages.as_mut_ptr()) };
    let outcome = if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: exactly the mapping made above, to which no reference was formed.
    unsafe { libc::munmap(address, length.get()) };
    outcome?;
    Ok(Some(pages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(bytes: usize) -> std::fs::File {
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
            assert_eq!(all_or_nothing(file.as_fd(), 10_000 + page_bytes()), None, "there is no such page");
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
    fn writing_back_the_file_system_is_as_good_as_syncing_the_file() {
        let left = |flush: &dyn Fn(&std::fs::File)| {
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
