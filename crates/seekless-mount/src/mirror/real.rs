//! What is asked of the real folders: open files and listings.

use super::about::kind;
use crate::lock;
use fuser::FileType;
use rustix::fs::{Mode, OFlags, open};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, read_dir};
use std::io;
use std::os::unix::fs::{DirEntryExt, FileTypeExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The handle of what needs none.
pub(super) const NONE: u64 = 0;

/// A name of a listing: its inode, type and name.
pub(super) type Listed = (u64, FileType, OsString);

/// What is open, by handle.
#[derive(Default)]
pub(super) struct Handles {
    files: Mutex<HashMap<u64, Arc<File>>>,
    lists: Mutex<HashMap<u64, Arc<Vec<Listed>>>>,
    last: AtomicU64,
}

impl Handles {
    pub(super) fn add(&self, file: File) -> u64 {
        let handle = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.files).insert(handle, Arc::new(file));
        handle
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<u64> {
        let names = listed(path)?;
        let handle = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.lists).insert(handle, Arc::new(names));
        Ok(handle)
    }

    pub(super) fn file(&self, handle: u64) -> Option<Arc<File>> {
        lock(&self.files).get(&handle).cloned()
    }

    pub(super) fn listing(&self, handle: u64) -> Option<Arc<Vec<Listed>>> {
        lock(&self.lists).get(&handle).cloned()
    }

    pub(super) fn close(&self, handle: u64) {
        lock(&self.files).remove(&handle);
        lock(&self.lists).remove(&handle);
    }
}

/// A file that is open for reading, and no link.
pub(super) fn opened(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    Ok(open(path, flags, Mode::empty())?.into())
}

fn listed(path: &Path) -> io::Result<Vec<Listed>> {
    let mut names = Vec::new();
    for entry in read_dir(path)? {
        let entry = entry?;
        let is = entry.file_type()?;
        let mode = match () {
            () if is.is_dir() => 0o040_000,
            () if is.is_symlink() => 0o120_000,
            () if is.is_fifo() => 0o010_000,
            () if is.is_socket() => 0o140_000,
            () if is.is_char_device() => 0o020_000,
            () if is.is_block_device() => 0o060_000,
            () => 0,
        };
        names.push((entry.ino(), kind(mode), entry.file_name()));
    }
    Ok(names)
}
