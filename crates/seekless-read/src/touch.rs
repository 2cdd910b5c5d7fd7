//! Which ranges of a file the page cache holds, where the kernel does not tell: by touching pages, which reads them.

use seekless_sled::page_cache::{PageRun, runs};
use seekless_sys::residency;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::Duration;

/// A touch for so many bytes, or for more:
const SPACING_BYTES: u64 = 2 << 20;
/// so many touches in all.
const TOUCHES_MAX: u64 = 64;
/// What a touch may cost. Where it costs more, nobody tells.
pub(crate) const TOUCH_MAX: Duration = Duration::from_millis(1);

/// The bytes for which one touch stands, where so many are asked about.
pub(crate) fn spacing(bytes: u64) -> u64 {
    bytes.div_ceil(TOUCHES_MAX).max(SPACING_BYTES)
}

/// As [`runs`], but where the kernel does not tell, pages are sampled by touching them, which **reads** a page every 2 MiB of
/// what is not cached, at most 64 in all, and none after one that took over a millisecond. For programs that are going to
/// read the range anyway.
///
/// # Errors
/// As [`runs`].
pub fn runs_by_touch(file: &File, range: Range<u64>, grain: u64) -> io::Result<Vec<PageRun>> {
    let asked = runs(file, range.clone(), grain)?;
    if range.is_empty() || asked.iter().any(|run| run.resident.is_some()) {
        return Ok(asked);
    }
    let bytes = range.end - range.start;
    let windows = residency::sampled(file, range, spacing(bytes), TOUCH_MAX)?;
    Ok(windows.map_or(asked, |windows| windows.iter().map(PageRun::from).collect()))
}
