//! Which pages of a window are in the page cache: a fault maps no others of it. So where nothing is
//! read ahead, a recording of a cold start names what was touched, and not the windows around it.

use rustix::fs::{Mode, OFlags, fstat, major, open};
use seekless_sys::residency;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

const PAGE_BYTES: u64 = 4096;

/// A mapped file that may be asked for. It is opened for a moment only, since an open file keeps
/// its file system mounted.
#[derive(Debug)]
pub(crate) struct Askable {
    path: PathBuf,
    inode: u64,
}

impl Askable {
    /// `None` for files that do not lie on a disk: to open one asks the server of its file system,
    /// which may be what is recorded.
    pub(super) fn new(path: &Path, device: u64, inode: u64) -> Option<Self> {
        (major(device) != 0).then(|| Self::local(path, inode))
    }

    /// A file that no program serves.
    pub(crate) fn local(path: &Path, inode: u64) -> Self {
        Self { path: path.to_owned(), inode }
    }

    /// The ranges of `pages` that are cached now; `None` if that cannot be known. A page that comes
    /// into the cache only after a fault has its own fault when it is touched, so it is good enough
    /// to ask a little later.
    pub(crate) fn cached(&self, pages: &Range<u64>) -> Option<Vec<Range<u64>>> {
        // The kernel answers the file's owner and root. This is no access of the program's.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOATIME | OFlags::NONBLOCK;
        let file = open(&self.path, flags | OFlags::NOFOLLOW, Mode::empty()).ok()?;
        if fstat(&file).ok()?.st_ino != self.inode {
            return None;
        }
        let range = pages.start * PAGE_BYTES..pages.end * PAGE_BYTES;
        let runs = residency::runs(file.as_fd(), range, PAGE_BYTES).ok()??;
        let cached = runs.into_iter().filter(|run| run.resident);
        Some(
            cached
                .map(|run| run.range.start / PAGE_BYTES..run.range.end.div_ceil(PAGE_BYTES))
                .collect(),
        )
    }
}
