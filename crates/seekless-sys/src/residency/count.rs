//! How many pages of a range are cached, by the system call that works on its file system.

use super::cachestat::{Pages, cachestat};
use super::honest;
use super::told::Told;
use std::io;
use std::os::fd::BorrowedFd;

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

/// Whether cachestat(2) sees the pages that a read of this file copies, so that [`count`] costs
/// next to nothing. Elsewhere (overlayfs) it maps the range and walks every page of it: 10 to 30 ms
/// for 500 MB, a tenth of the time that a disk takes to read them.
///
/// # Errors
/// The descriptor is not open.
pub fn is_seen(file: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(matches!(Told::of(file)?, Told::Count | Told::CountUnlessEmpty))
}

/// Whether mincore is right about this file.
pub(super) fn mincore_is_honest(file: BorrowedFd<'_>) -> io::Result<bool> {
    match Told::of(file)? {
        Told::Count => honest::is_told(file),
        Told::Mapping => honest::is_told_by_mapping(file),
        Told::CountUnlessEmpty | Told::Nobody => Ok(false),
    }
}
