//! The page cache's content that is this process's own. A program that reads one file after the
//! other must not push out the first for the second.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The most files remembered.
const FILES_MAX: usize = 64;

/// The cached bytes of each file of this process, as last known, by device and inode. The newest is
/// the last.
static OURS: Mutex<VecDeque<((u64, u64), u64)>> = Mutex::new(VecDeque::new());

/// Notes the cached bytes of a file, and returns the sum over all files.
pub(super) fn note(file: (u64, u64), cached: u64) -> u64 {
    let mut files = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    files.retain(|(of, _)| *of != file);
    if files.len() == FILES_MAX {
        files.pop_front();
    }
    files.push_back((file, cached));
    files.iter().fold(0, |sum, (_, cached)| sum.saturating_add(*cached))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_process_are_added_up_once_each() {
        let (first, second) = ((u64::MAX, 1), (u64::MAX, 2));
        let before = note(first, 0);
        assert!(note(first, 5 << 50) >= 5 << 50);
        assert!(note(second, 1 << 50) >= 6 << 50);
        note(second, 0);
        assert!(note(first, 0) < before + (1 << 50));
    }
}
