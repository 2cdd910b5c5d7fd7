//! What is asked of the real folders: open files and listings.
//!
//! As root and since Linux 6.9 the kernel reads and maps a real file itself (FUSE passthrough), and
//! sees what others write there at once. A file of the pack cannot be read so: its content begins
//! somewhere within another file.

use super::about::kind;
use crate::lock;
use fuser::{BackingId, FileHandle, FileType, FopenFlags, ReplyOpen};
use rustix::fs::{Mode, OFlags, open};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, read_dir};
use std::io;
use std::os::unix::fs::{DirEntryExt, FileTypeExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The handle of what needs none.
pub(super) const NONE: u64 = 0;

/// A name of a listing: its inode, type and name.
pub(super) type Listed = (u64, FileType, OsString);

/// What is open, by handle.
#[derive(Default)]
pub(super) struct Handles {
    files: Mutex<Files>,
    lists: Mutex<HashMap<u64, Arc<Vec<Listed>>>>,
    last: AtomicU64,
    /// Whether the kernel may read real files itself.
    passes: AtomicBool,
}

/// Open files.
#[derive(Default)]
struct Files {
    by_handle: HashMap<u64, (Arc<File>, u64)>,
    by_node: HashMap<u64, Way>,
}

/// How the kernel reads a file: in one way for all who have it open.
struct Way {
    opened: usize,
    /// The file that it reads itself; `None` if it asks here.
    backing: Option<Arc<BackingId>>,
}

impl Handles {
    /// The kernel can read real files itself; whether it may, the first file shows.
    pub(super) fn pass(&self) {
        self.passes.store(true, Ordering::Relaxed);
    }

    /// Keeps an open file, which the kernel asks for here.
    pub(super) fn add(&self, node: u64, file: File) -> u64 {
        self.insert(&mut lock(&self.files), node, file, None)
    }

    /// Answers an open of a real file. `may_pass`: the kernel may read it itself.
    pub(super) fn open(&self, node: u64, file: File, may_pass: bool, reply: ReplyOpen) {
        let mut files = lock(&self.files);
        let backing = match files.by_node.get(&node) {
            Some(way) => way.backing.clone(),
            None if may_pass && self.passes.load(Ordering::Relaxed) => {
                let backing = reply.open_backing(&file);
                let is_refused =
                    |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
                if backing.as_ref().is_err_and(is_refused) {
                    // So would each other file be.
                    self.passes.store(false, Ordering::Relaxed);
                }
                backing.ok().map(Arc::new)
            }
            None => None,
        };
        let handle = FileHandle(self.insert(&mut files, node, file, backing.clone()));
        drop(files);
        match backing {
            Some(backing) => {
                reply.opened_passthrough(handle, FopenFlags::FOPEN_NOFLUSH, &backing);
            }
            None => reply.opened(handle, FopenFlags::FOPEN_NOFLUSH),
        }
    }

    fn insert(
        &self,
        files: &mut Files,
        node: u64,
        file: File,
        backing: Option<Arc<BackingId>>,
    ) -> u64 {
        let handle = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        files.by_handle.insert(handle, (Arc::new(file), node));
        files.by_node.entry(node).or_insert(Way { opened: 0, backing }).opened += 1;
        handle
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<u64> {
        let names = listed(path)?;
        let handle = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.lists).insert(handle, Arc::new(names));
        Ok(handle)
    }

    pub(super) fn file(&self, handle: u64) -> Option<Arc<File>> {
        lock(&self.files).by_handle.get(&handle).map(|(file, _)| file.clone())
    }

    pub(super) fn listing(&self, handle: u64) -> Option<Arc<Vec<Listed>>> {
        lock(&self.lists).get(&handle).cloned()
    }

    pub(super) fn close(&self, handle: u64) {
        lock(&self.files).remove(handle);
        lock(&self.lists).remove(&handle);
    }
}

impl Files {
    fn remove(&mut self, handle: u64) {
        let Some((_, node)) = self.by_handle.remove(&handle) else { return };
        if let Some(way) = self.by_node.get_mut(&node) {
            way.opened -= 1;
            if way.opened == 0 {
                self.by_node.remove(&node);
            }
        }
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
