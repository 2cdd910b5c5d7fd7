//! How much of a file is in the page cache, and throwing it out: cachestat(2) (Linux 6.5), else mincore(2).
//! Both answer *unknown* rather than guess, and neither moves data into the cache.

mod touch;
mod windows;

pub use touch::sampled;
pub use windows::{Window, windows};

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

/// The number of cachestat(2) on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;
/// Its refusals, upon which mincore is asked, if it is honest here. EPERM: a file that we neither own nor may write to (Linux
/// 6.14), or a sandbox; EOPNOTSUPP: hugetlbfs.
const SYS_CACHESTAT_REFUSED: [i32; 3] = [libc::ENOSYS, libc::EPERM, libc::EOPNOTSUPP];
/// What one mapping of the fallback covers: a vector of 64 Ki bytes answers for it.
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

/// How many bytes of the file are in the page cache, whole pages cut at the file's end; `None` when the kernel cannot or
/// will not say (no cachestat, and mincore would lie because the file is neither ours nor writable to us).
///
/// # Errors
/// When the descriptor is not an open regular file or device, or memory for the fallback is short.
pub fn resident_bytes(file: BorrowedFd<'_>) -> io::Result<Option<u64>> {
    let file_bytes = rustix::fs::fstat(file)?.st_size.unsigned_abs();
    match count(file, 0, 0) {
        Ok(pages) => Ok(Some((pages.cached * page_bytes()).min(file_bytes))),
        Err(error) if SYS_CACHESTAT_REFUSED.contains(&error.raw_os_error().unwrap_or(0)) => {
            resident_by_mincore(file, file_bytes)
        }
        Err(error) => Err(error),
    }
}

/// Whether all of a file of `bytes` is in the page cache, or nothing of it, by one question; `None` where it is there in part, and
/// where the kernel does not say.
#[must_use]
pub fn all_or_nothing(file: BorrowedFd<'_>, bytes: u64) -> Option<bool> {
    let cached = count(file, 0, bytes).ok()?.cached;
    (cached == 0 || cached >= bytes.div_ceil(page_bytes())).then_some(cached > 0)
}

/// Throws the file's clean pages out of the page cache. Dirty pages stay: call `fdatasync` before. Pages that another
/// process has mapped or is using stay too, so ask [`resident_bytes`] what came of it.
///
/// # Errors
/// When the descriptor has no page cache (a pipe).
pub fn drop_cached(file: BorrowedFd<'_>) -> io::Result<()> {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// Writes back everything and empties the page cache, dentries and inodes of the whole machine. Needs root.
///
/// # Errors
/// Without root, or where /proc/sys is read-only.
pub fn drop_all_caches() -> io::Result<()> {
    rustix::fs::sync();
    std::fs::write("/proc/sys/vm/drop_caches", "3")
}

/// Writes back all that is dirty on the file system that holds `file`: one call where flushing thousands of files one by one
/// would take a journal commit each.
///
/// # Errors
/// When a write fails, or the descriptor is of no file system.
pub fn write_back_file_system(file: BorrowedFd<'_>) -> io::Result<()> {
    rustix::fs::syncfs(file)?;
    Ok(())
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Asks cachestat(2) about `bytes` at `offset`; 0 bytes mean up to the end of the file. Nothing is read.
///
/// # Errors
/// What the kernel says: ENOSYS before Linux 6.5, EPERM on a file that is neither ours nor writable to us (Linux 6.14).
pub fn count(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> io::Result<Pages> {
    let range = CachestatRange { offset, length: bytes };
    let mut answer = Pages::default();
    // SAFETY: both pointers are to live structures of the kernel's layout, and the kernel writes only to the second.
    let result = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0 as libc::c_uint)
    };
    if result == 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

fn resident_by_mincore(file: BorrowedFd<'_>, file_bytes: u64) -> io::Result<Option<u64>> {
    if !mincore_is_honest(file)? {
        return Ok(None);
    }
    let mut resident = 0;
    let mut offset = 0;
    while offset < file_bytes {
        let length = WINDOW_BYTES.min(file_bytes - offset);
        let Some(pages) = resident_pages(file, offset, length)? else { return Ok(None) };
        let pages = pages.iter().filter(|page| **page & 1 == 1).count() as u64;
        resident += (pages * page_bytes()).min(length);
        offset += length;
    }
    Ok(Some(resident))
}

/// mincore calls every page resident, to hide what others do, unless the caller owns the file or may write to it.
fn mincore_is_honest(file: BorrowedFd<'_>) -> io::Result<bool> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let user = rustix::process::geteuid();
    if user.is_root() || rustix::fs::fstat(file)?.st_uid == user.as_raw() {
        return Ok(true);
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok())
}

/// Maps `length` bytes at `offset` and asks mincore: a byte a page, whose lowest bit says that it is resident; `None` where the
/// file cannot be mapped.
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
    let mut pages = vec![0_u8; length.get().div_ceil(rustix::param::page_size())];
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
            assert_eq!(
                resident_by_mincore(file.as_fd(), 1 << 20).unwrap(),
                Some(pages.cached * page_bytes())
            );
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
