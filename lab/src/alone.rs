//! Labs that measure the page cache or the disk run one after the other on a machine: each empties
//! the caches that another is measuring.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;

/// Waits until no other such lab runs. None begins before the result is dropped.
pub(crate) fn alone() -> Option<File> {
    // Where folders cannot be locked, labs must be started one after the other.
    let folder = File::open(std::env::temp_dir()).ok()?;
    if flock(&folder, FlockOperation::NonBlockingLockExclusive)
        == Err(rustix::io::Errno::WOULDBLOCK)
    {
        eprintln!("waiting for another lab to end: two would disturb each other's figures");
        flock(&folder, FlockOperation::LockExclusive).ok()?;
    }
    Some(folder)
}
