//! Fills the page cache by whole large folios, without readahead past what was asked for.
//!
//! An exact buffered read leaves single pages, which stay expensive. Counting newlines in 265 MB of
//! them took 0.10 s, and in 2 MiB folios 0.02 s: under a hypervisor, walking page tables is slow.
//! `cachestat` looks at each page by itself, too. Readahead brings in large folios, but up to 8 MiB
//! more than was asked for, which pushes out what a pass wants to keep. A fault in a mapping under
//! MADV_HUGEPAGE and MADV_RANDOM reads exactly one aligned folio of 2 MiB.

use crate::guarded::GuardedMap;
use crate::memory::page_bytes;
use std::fs::File;
use std::ops::Range;
use std::sync::OnceLock;

/// The size of a folio; its start is a multiple of this.
pub const FOLIO_BYTES: u64 = 2 << 20;

/// Before Linux 5.18, such a fault reads page by page.
const KERNEL_MIN: (u32, u32) = (5, 18);

/// Maps the range and brings it into the page cache, in large folios where the file system has
/// them. Its start must be a multiple of [`FOLIO_BYTES`], and its end another or the file's end.
/// `None` where the kernel would do it page by page, or where not all can be read: read the range
/// then.
///
/// Use the bytes through the mapping. The kernel has marked the folio as the place to read ahead
/// from, and a `read` would obey that.
#[must_use]
pub fn bring_in(file: &File, range: Range<u64>) -> Option<GuardedMap> {
    if !*IS_KNOWN.get_or_init(is_known)
        || !range.start.is_multiple_of(FOLIO_BYTES)
        || range.is_empty()
    {
        return None;
    }
    let map = GuardedMap::new(file, range.start, usize::try_from(range.end - range.start).ok()?)?;
    map.bring_in().then_some(map)
}

static IS_KNOWN: OnceLock<bool> = OnceLock::new();

fn is_known() -> bool {
    if huge_page_bytes(page_bytes()) != FOLIO_BYTES {
        return false;
    }
    crate::kernel::version() >= Some(KERNEL_MIN)
}

/// The bytes that one fault under MADV_HUGEPAGE brings in: as many pages as a page holds entries of
/// eight bytes. Pages of 64 KiB make that 512 MiB, far more than was asked for.
fn huge_page_bytes(page_bytes: u64) -> u64 {
    page_bytes * (page_bytes / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn a_fault_brings_in_a_folio_only_where_pages_are_small() {
        let sizes = [4 << 10, 16 << 10, 64 << 10].map(huge_page_bytes);
        assert_eq!(sizes, [FOLIO_BYTES, 32 << 20, 512 << 20]);
    }

    /// A file of 5 MiB that is not cached, or `None` where it stays cached (tmpfs).
    fn cold() -> Option<File> {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![7; 5 << 20]).unwrap();
        file.sync_data().unwrap();
        residency::drop_cached(file.as_fd()).unwrap();
        (residency::resident_bytes(file.as_fd()).unwrap() == Some(0)).then_some(file)
    }

    #[test]
    fn exactly_the_range_is_brought_in() {
        let Some(file) = cold() else {
            return eprintln!("skipped: the file stays in the page cache (tmpfs?)");
        };
        let Some(map) = bring_in(&file, FOLIO_BYTES..2 * FOLIO_BYTES) else {
            return eprintln!("skipped: no such faults in this kernel");
        };
        assert!(map.bytes().iter().all(|&byte| byte == 7));
        let cached = |start, bytes| {
            residency::count(file.as_fd(), start, bytes).unwrap().cached * page_bytes()
        };
        assert_eq!(cached(FOLIO_BYTES, FOLIO_BYTES), FOLIO_BYTES);
        assert_eq!(cached(0, 5 << 20), FOLIO_BYTES);
        assert!(bring_in(&file, 2 * FOLIO_BYTES..5 << 20).is_some(), "up to the end of the file");
        assert_eq!(cached(0, 5 << 20), 3 << 20);
    }

    #[test]
    fn a_start_off_the_grain_and_a_range_past_the_end_are_refused() {
        let Some(file) = cold() else {
            return eprintln!("skipped: the file stays in the page cache (tmpfs?)");
        };
        assert!(bring_in(&file, page_bytes()..FOLIO_BYTES).is_none());
        assert!(bring_in(&file, 0..0).is_none());
        assert!(bring_in(&file, 4 * FOLIO_BYTES..5 * FOLIO_BYTES).is_none());
    }
}
