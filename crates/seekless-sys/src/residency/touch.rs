//! What is in the page cache of a file that we may only read, where cachestat is refused and
//! mincore lies. Sampled pages are touched through a mapping, and the thread's count of major
//! faults shows which of them had to be fetched.

use super::runs::{PageRun, push};
use super::told::Told;
use crate::guarded::GuardedMap;
use crate::memory::page_bytes;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Samples `range`, one page in every `spacing` bytes (at least a page). Each stretch counts as its
/// sample does, so no run is exact.
///
/// **This reads** each sampled page that is not cached: call it only for ranges that will be read
/// anyway. `None` if the range cannot be mapped, if sampling cannot show what is cached, and as
/// soon as one sample takes longer than `patience`.
///
/// Each call samples other pages, at random: pages that one call has read would make the next
/// believe that everything is cached.
///
/// # Errors
/// The system refuses to count faults.
pub fn sampled(
    file: &File,
    range: Range<u64>,
    spacing: u64,
    patience: Duration,
) -> io::Result<Option<Vec<PageRun>>> {
    if Told::of(file.as_fd())? == Told::Nobody {
        return Ok(None); // a mapping has pages of its own there, which no read looks at
    }
    let page = page_bytes();
    let spacing = spacing.max(1).next_multiple_of(page);
    let mut runs = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let next = start.saturating_add(spacing).min(range.end);
        let chance = RandomState::new().build_hasher().finish();
        let sample = (start + chance % (next - start)) / page * page;
        let Some(map) = GuardedMap::new(file, sample, page as usize) else { return Ok(None) };
        let (before, started) = (major_faults()?, Instant::now());
        map.touch(0);
        let resident = major_faults()? == before;
        // The file was cut short meanwhile (a page of zeros is not a major fault), or the sample
        // took too long.
        if map.is_lost() || (!resident && started.elapsed() > patience) {
            return Ok(None);
        }
        push(&mut runs, PageRun { range: start..next, resident, exact: false });
        start = next;
    }
    Ok(Some(runs))
}

fn major_faults() -> io::Result<i64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel fills the structure where the call succeeds.
    let asked = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: filled, as the call succeeded.
    Ok(unsafe { usage.assume_init() }.ru_majflt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_dropped_is_not_called_resident() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; 8 << 20]).unwrap();
        file.sync_data().unwrap();
        let all = sampled(&file, 0..8 << 20, 1 << 20, Duration::MAX).unwrap().unwrap();
        assert_eq!(all, [PageRun { range: 0..8 << 20, resident: true, exact: false }]);
        crate::residency::drop_cached(file.as_fd()).unwrap();
        if crate::residency::resident_bytes(file.as_fd()).unwrap() != Some(0) {
            eprintln!("skipped: the file stays in the page cache");
            return;
        }
        let none = sampled(&file, 0..8 << 20, 1 << 20, Duration::MAX).unwrap().unwrap();
        assert_eq!(none, [PageRun { range: 0..8 << 20, resident: false, exact: false }]);
        // The pages just read are not met again: 1 in 256 each, and all eight never.
        let again = sampled(&file, 0..8 << 20, 1 << 20, Duration::MAX).unwrap().unwrap();
        assert!(again.iter().any(|run| !run.resident));
        let read = crate::residency::resident_bytes(file.as_fd()).unwrap();
        assert!(
            read.is_none_or(|bytes| bytes <= 16 * (64 << 10)),
            "a sample reads little more than its page"
        );
    }

    #[test]
    fn a_sample_that_takes_too_long_is_the_last() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![1; 8 << 20]).unwrap();
        file.sync_data().unwrap();
        crate::residency::drop_cached(file.as_fd()).unwrap();
        if crate::residency::resident_bytes(file.as_fd()).unwrap() != Some(0) {
            eprintln!("skipped: the file stays in the page cache");
            return;
        }
        assert_eq!(sampled(&file, 0..8 << 20, 1 << 20, Duration::ZERO).unwrap(), None);
        let read = crate::residency::resident_bytes(file.as_fd()).unwrap();
        assert!(read <= Some(64 << 10), "one page, or the folio that it came in: {read:?}");
    }
}
