//! ext4's readahead of inode tables, which is narrowed while a disk is slowed.

use super::disk::Disk;
use crate::Error;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use seekless_sys::undo::Step;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Inode-table blocks that ext4 reads ahead while its disk is slowed.
pub const INODE_READAHEAD_BLOCKS: u64 = 1;

/// The setting of one file system, locked so that two measurements do not put back each other's.
#[derive(Debug)]
pub(super) struct Readahead {
    path: PathBuf,
    before: String,
    lock: File,
}

impl Readahead {
    /// Locks the setting of the file system on `disk` and reads it; `None` on a file system other
    /// than ext4.
    pub(super) fn of(disk: &Disk) -> Option<Result<Self, Error>> {
        let path = Path::new("/sys/fs/ext4").join(&disk.name).join("inode_readahead_blks");
        path.exists().then(|| Self::lock(path))
    }

    fn lock(path: PathBuf) -> Result<Self, Error> {
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| refused(&path, error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            let doing = match error {
                Errno::WOULDBLOCK => {
                    "is held by another measurement of this file system: wait for it to end"
                }
                _ => "cannot be locked",
            };
            Error::io(&path, doing, error.into())
        })?;
        let mut before = String::new();
        lock.read_to_string(&mut before).map_err(|error| refused(&path, error))?;
        Ok(Readahead { path, before: before.trim().to_owned(), lock })
    }

    /// What puts it back.
    pub(super) fn undo(&self) -> io::Result<Step> {
        Step::write(&self.before, &self.path)
    }

    /// Narrows it.
    pub(super) fn narrow(&self) -> Result<(), Error> {
        let text = INODE_READAHEAD_BLOCKS.to_string();
        self.lock.write_all_at(text.as_bytes(), 0).map_err(|error| refused(&self.path, error))
    }
}

impl AsFd for Readahead {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.lock.as_fd()
    }
}

fn refused(path: &Path, error: io::Error) -> Error {
    Error::io(path, "cannot be set, which limiting requests needs (root)", error)
}
