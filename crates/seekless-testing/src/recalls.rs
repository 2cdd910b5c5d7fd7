//! An archive: which files lie in its staging area.

use crate::device::Recall;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// The files in the staging area.
#[derive(Debug)]
pub(crate) struct Staging {
    recall: Recall,
    /// Held during a recall: there is one drive.
    drive: Mutex<()>,
    /// Inode and bytes, the file opened longest ago first.
    staged: Mutex<Vec<(u64, u64)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Staging {
    pub(crate) fn new(recall: Recall) -> Self {
        Self { recall, drive: Mutex::default(), staged: Mutex::default() }
    }

    /// Whether a file is there. A file that is being recalled is not.
    pub(crate) fn holds(&self, inode: u64) -> bool {
        lock(&self.staged).iter().any(|&(staged, _)| staged == inode)
    }

    /// Recalls a file unless it is there. Returns whether it was recalled.
    pub(crate) fn open(&self, inode: u64, bytes: u64) -> bool {
        if self.opened_again(inode) {
            return false;
        }
        let _drive = lock(&self.drive);
        // Another may have recalled it meanwhile.
        if self.opened_again(inode) {
            return false;
        }
        let transfer = Duration::from_secs_f64(bytes as f64 / self.recall.bytes_per_second as f64);
        sleep(self.recall.latency + transfer);
        let mut staged = lock(&self.staged);
        staged.push((inode, bytes));
        let bytes = |staged: &[(u64, u64)]| staged.iter().map(|(_, bytes)| bytes).sum::<u64>();
        while staged.len() > 1 && bytes(&staged) > self.recall.staged_bytes {
            staged.remove(0);
        }
        true
    }

    /// Whether the file is there; it is then the file opened last.
    fn opened_again(&self, inode: u64) -> bool {
        let mut staged = lock(&self.staged);
        let place = staged.iter().position(|&(staged, _)| staged == inode);
        place.inspect(|&place| staged[place..].rotate_left(1)).is_some()
    }

    /// Releases all files.
    pub(crate) fn release_all(&self) {
        lock(&self.staged).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_opened_longest_ago_leaves_first() {
        let latency = Duration::ZERO;
        let recall = Recall { latency, bytes_per_second: u64::MAX, staged_bytes: 20 };
        let staging = Staging::new(recall);
        assert!(staging.open(1, 10) && staging.open(2, 10) && !staging.open(1, 10));
        assert!(staging.open(3, 10));
        assert_eq!([1, 2, 3].map(|inode| staging.holds(inode)), [true, false, true]);
        assert!(staging.open(4, 99) && staging.holds(4) && !staging.holds(3));
        staging.release_all();
        assert!(!staging.holds(4));
    }
}
