//! Where the recorded files lay on their devices, and when.
//!
//! A file's blocks are looked up while it is still open, at each close and before each process
//! ends, and once more after the program has ended. So files that are deleted meanwhile have
//! places, and files that were new get theirs as soon as the file system has chosen them.

use hashbrown::HashMap;
use seekless_sys::extents::{Extent, Extents};
use std::sync::Arc;

/// All extents that a recording keeps; further files have no places, and are counted. They take
/// up to 200 MB.
pub(crate) const EXTENTS_MAX: usize = 1 << 22;

/// Where a file lay at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// When, from the run's start.
    pub time_ns: u64,
    /// When the file was made, as its file system says. It tells files apart that had the same
    /// inode one after the other.
    pub born_ns: Option<u64>,
    /// The extents.
    pub extents: Arc<Extents>,
}

impl Snapshot {
    /// Whether later looks cannot show more, unless the file is written again.
    pub(crate) fn is_complete(&self) -> bool {
        self.extents.list.iter().all(|extent| !is_open(extent))
    }
}

/// Whether the file system may still choose another place, or write data there.
fn is_open(extent: &Extent) -> bool {
    extent.place.is_none() || extent.unwritten
}

/// A file: its device, as `stat` shows it, and its inode.
pub type FileKey = (u64, u64);

/// Where all files of a recording lay.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub(crate) files: HashMap<FileKey, Vec<Snapshot>, foldhash::fast::RandomState>,
    /// Names of files that were used, and were gone after the program's end.
    pub gone: Vec<String>,
    /// Files that were used, and had another name after the program's end: the old and the new one.
    pub moved: Vec<(String, String)>,
    /// Looks that were not possible: the file system does not say, the kernel refused to, or there
    /// were too many extents.
    pub refused: u64,
    pub(crate) extents: usize,
}

impl Places {
    /// The snapshots of a file, the earliest first.
    #[must_use]
    pub fn of(&self, file: FileKey) -> &[Snapshot] {
        self.files.get(&file).map_or(&[], Vec::as_slice)
    }

    /// The last look still holds at this time. Else an access shortly before would be looked up in
    /// the next file that gets the inode.
    pub(crate) fn confirm(&mut self, file: FileKey, time_ns: u64) {
        if let Some(last) = self.files.get_mut(&file).and_then(|list| list.last_mut()) {
            last.time_ns = time_ns;
        }
    }

    /// Adds a snapshot; one that says what the last one says only confirms it. If there are too
    /// many extents, it counts as refused.
    pub(crate) fn add(&mut self, file: FileKey, snapshot: Snapshot) {
        let extents = snapshot.extents.list.len();
        let list = self.files.entry(file).or_default();
        let says_the_same =
            |last: &Snapshot| last.born_ns == snapshot.born_ns && last.extents == snapshot.extents;
        if list.last().is_some_and(says_the_same) {
            self.confirm(file, snapshot.time_ns);
        } else if self.extents + extents > EXTENTS_MAX {
            self.refused += 1;
        } else {
            self.extents += extents;
            list.push(snapshot);
        }
    }
}
