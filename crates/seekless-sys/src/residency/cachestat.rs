//! cachestat(2), which counts the pages of a range that are in the page cache.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The number of cachestat(2) on every architecture but Alpha.
const SYS_CACHESTAT: libc::c_long = 451;
/// Errors on which we fall back to mincore, where mincore reports true residency. EPERM: a file
/// that we neither own nor may write to (Linux 6.14), or a sandbox. EOPNOTSUPP: hugetlbfs.
const SYS_CACHESTAT_REFUSED: [i32; 3] = [libc::ENOSYS, libc::EPERM, libc::EOPNOTSUPP];

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

/// Counts the pages of `bytes` at `offset`, as cachestat(2) has it.
pub(super) fn cachestat(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> io::Result<Pages> {
    let range = CachestatRange { offset, length: bytes };
    let mut answer = Pages::default();
    // SAFETY: both pointers are to live structures of the kernel's layout, and the kernel writes
    // only to the second.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut answer,
            0 as libc::c_uint,
        )
    };
    if result == 0 { Ok(answer) } else { Err(io::Error::last_os_error()) }
}

/// Whether the error means that mincore should be asked.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| SYS_CACHESTAT_REFUSED.contains(&code))
}
