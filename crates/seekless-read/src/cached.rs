//! Copies bytes out of the page cache through a mapping, which sets off no readahead as a `read` of
//! the same pages would.

use seekless_sys::guarded::GuardedMap;
use seekless_sys::memory::page_bytes;
use seekless_sys::residency;
use std::fs::File;
use std::os::fd::AsFd;

/// The number of pages that the range touches.
pub(crate) fn pages(offset: u64, bytes: u64) -> u64 {
    let page = page_bytes();
    offset.saturating_add(bytes).div_ceil(page) - offset / page
}

/// Whether every page of the range is known to be cached.
pub(crate) fn is_cached(file: &File, offset: u64, bytes: u64) -> bool {
    residency::count(file.as_fd(), offset, bytes)
        .is_ok_and(|held| held.cached == pages(offset, bytes))
}

/// Copies a range out of the page cache; all of it must be cached and within the file. False if it
/// cannot be mapped, or if the file was cut short meanwhile; the buffer's content is meaningless
/// then.
pub(crate) fn copy(file: &File, buffer: &mut [u8], offset: u64) -> bool {
    let before = (offset % page_bytes()) as usize;
    let Some(map) = GuardedMap::new(file, offset - before as u64, before + buffer.len()) else {
        return false;
    };
    map.populate();
    copy_of(&map, file, buffer, offset, before)
}

/// The same from an existing mapping, from its byte `before` on.
pub(crate) fn copy_of(
    map: &GuardedMap,
    file: &File,
    buffer: &mut [u8],
    offset: u64,
    before: usize,
) -> bool {
    buffer.copy_from_slice(&map.bytes()[before..before + buffer.len()]);
    // Past the end of the file, the last page of a mapping holds zeros.
    let end = offset + buffer.len() as u64;
    !map.is_lost() && file.metadata().is_ok_and(|about| about.len() >= end)
}
