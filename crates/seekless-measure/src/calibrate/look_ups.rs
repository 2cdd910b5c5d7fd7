//! What the name of a file costs where the file system asks another program or machine for each,
//! as FUSE and network file systems do.

use super::places::dice_from_the_clock;
use seekless_device::LookUps;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Names that are looked up one after another.
const ALONE: u64 = 64;
/// Looked up at once, and by each of these threads.
const THREADS: u64 = 32;
const EACH: u64 = 8;
/// What takes less is answered from memory.
const ASKS_NS: u64 = 10_000;

/// Looks up names that are not in a folder: what is not there is in no cache. `None` if the kernel
/// answers by itself, as it does for file systems on a disk once it has read the folder.
#[must_use]
pub fn look_ups(folder: &Path) -> Option<LookUps> {
    let first = dice_from_the_clock().below(u64::MAX);
    let next = AtomicU64::new(0);
    let look = |count: u64| {
        for _ in 0..count {
            let number = first.wrapping_add(next.fetch_add(1, Ordering::Relaxed));
            let _ = folder.join(format!(".seekless-{number:016x}")).symlink_metadata();
        }
    };
    look(1); // the way to the folder, and its list
    let timed = |work: &dyn Fn()| {
        let clock = Instant::now();
        work();
        clock.elapsed().as_nanos() as u64
    };
    let mut times: Vec<u64> = (0..ALONE).map(|_| timed(&|| look(1))).collect();
    times.sort_unstable();
    // The median: another program may have the processor meanwhile.
    let alone_ns = times[times.len() / 2];
    if alone_ns < ASKS_NS {
        return None;
    }
    let together_ns = timed(&|| {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| look(EACH));
            }
        });
    });
    Some(LookUps { alone_ns, together_ns: (together_ns / (THREADS * EACH)).clamp(1, alone_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_read_is_answered_from_memory() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(look_ups(folder.path()), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
