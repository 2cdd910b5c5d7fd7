//! Which ranges of a file the page cache holds, where the kernel does not say: found out by
//! touching pages, which reads them.

use seekless_sys::residency::{self, PageRun};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::time::Duration;

/// The least bytes for which one page is touched.
const SPACING_BYTES: u64 = 2 << 20;
/// The most touches in all.
const TOUCHES_MAX: u64 = 64;
/// The longest that a touch may take. After a slower one, the state counts as unknown.
pub(crate) const TOUCH_MAX: Duration = Duration::from_millis(1);

/// The bytes for which one touched page stands, out of `bytes` in all.
pub(crate) fn spacing(bytes: u64) -> u64 {
    bytes.div_ceil(TOUCHES_MAX).max(SPACING_BYTES)
}

/// Which parts of `range` are in the page cache, from [`residency::runs`]; where that does not
/// know, by touching sampled pages, which **reads** them where they are not cached. One page is
/// touched every 2 MiB, at most 64 in all, and none after one that took over a millisecond. `None`
/// where that does not help either. For programs that are going to read the range anyway.
///
/// # Errors
/// The descriptor is of something without pages.
pub fn runs_by_touch(
    file: &File,
    range: Range<u64>,
    grain: u64,
) -> io::Result<Option<Vec<PageRun>>> {
    match residency::runs(file.as_fd(), range.clone(), grain)? {
        None => {
            let spacing = spacing(range.end - range.start);
            residency::sampled(file, range, spacing, TOUCH_MAX)
        }
        told => Ok(told),
    }
}
