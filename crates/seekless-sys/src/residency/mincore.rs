//! mincore(2), which shows the resident pages of a mapping.

use crate::memory::page_bytes;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

/// The bytes that one mapping of the fallback covers: a vector of 64 Ki bytes answers for them.
pub(super) const WINDOW_BYTES: u64 = 256 << 20;

/// How many pages of the range a mapping of it shows as resident; `None` where it cannot be mapped.
pub(super) fn mapped_pages(file: BorrowedFd<'_>, range: Range<u64>) -> io::Result<Option<u64>> {
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
pub(super) fn resident_pages(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = usize::try_from(length).ok().and_then(NonZeroUsize::new) else {
        return Ok(None);
    };
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
