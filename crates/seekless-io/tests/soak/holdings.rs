//! What the process and the store hold.

use crate::allocations::in_use_by_process;
use seekless_io::Store;
use std::thread;
use std::time::{Duration, Instant};

/// How long it may take until nothing changes any more.
const STILL_WITHIN: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// What the process has allocated.
    pub(crate) bytes: usize,
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    /// Areas of memory that are mapped: a region of buffers is no allocation.
    pub(crate) mapped_bytes: usize,
    /// The store's buffers, those that only users hold among them.
    pub(crate) buffer_bytes: u64,
}

fn holdings(store: Option<&Store>) -> Holdings {
    let count = |folder: &str| std::fs::read_dir(folder).map_or(0, Iterator::count);
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').next().unwrap().parse().unwrap();
    Holdings {
        bytes: in_use_by_process(),
        threads: count("/proc/self/task"),
        descriptors: count("/proc/self/fd"),
        mapped_bytes: pages * 4096,
        buffer_bytes: store.map_or(0, |store| store.statistics().held_bytes),
    }
}

/// Reads without a waiting caller have ended, and what they brought has gone where it belongs.
pub(crate) fn stand_still(store: Option<&Store>) -> Holdings {
    let (mut before, begun) = (holdings(store), Instant::now());
    loop {
        thread::sleep(PAUSE);
        let now = holdings(store);
        if now == before {
            return now;
        }
        assert!(begun.elapsed() < STILL_WITHIN, "no rest: {before:?}, then {now:?}");
        before = now;
    }
}
