//! A cache on the local disk beneath objects: bounded, checked, and shared by processes.
//!
//! All of it is one sparse file, `objects`, of a fixed size:
//!
//! ```text
//! ┌────────┬───────┬───────┬───┬─────────────────────────────────────────┐
//! │ header │ set 0 │ set 1 │ … │ places of 256 KiB, 16 for each set      │
//! └────────┴───────┴───────┴───┴─────────────────────────────────────────┘
//!            set: 16 tags (object, block), then 16 × 64 checksums
//! ```
//!
//! A block of 256 KiB of an object may lie in one of the 16 places of its set; its tag says in
//! which. It is kept in sectors of 4 KiB, each with a checksum of its bytes, its object and its
//! number. A checksum of 0 means that the sector is not here.
//!
//! - **Never a wrong byte.** Content is written first, then its checksum; each read checks it. No
//!   lock is needed for that: whatever a kill, a power cut, or another process in the same place
//!   leaves behind does not fit its checksum, and is read from the object again.
//! - **Two versions never mix.** A tag is a digest of where the object lies, its name, size, time
//!   and ETag. What has no strong ETag is not kept.
//! - **Bounded.** The file has its size from the beginning, and no process can make it larger. In a
//!   full set the place that RRIP names is used again; see `table`.
//! - **A disk that is full or fails** ends the keeping, not the reading; a note says so once.

mod fill;
mod form;
mod key;
mod ranges;
mod table;
mod writer;

pub use ranges::{Cached, CachedRange};

pub(crate) use key::Key;

use form::{Form, SECTOR};
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use writer::{Piece, Writer};

/// Takes the one line that says why nothing more is kept.
pub type Note = Box<dyn Fn(&str) + Send + Sync>;

/// A cache on the local disk; see [`Remote::with_disk_cache`](crate::Remote::with_disk_cache).
/// Several processes may use one folder at once.
pub struct DiskCache {
    path: PathBuf,
    store: Arc<Blocks>,
    writer: Writer,
    hit_bytes: AtomicU64,
}

/// The open file.
#[derive(Debug)]
struct Blocks {
    file: File,
    form: Form,
    /// Bytes after which this process is killed, as it were.
    #[cfg(test)]
    killed_after: AtomicU64,
}

impl Blocks {
    fn new(file: File, form: Form) -> Self {
        Self {
            file,
            form,
            #[cfg(test)]
            killed_after: AtomicU64::new(u64::MAX),
        }
    }

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(test)]
        let bytes = {
            let left = self.killed_after.load(Ordering::Relaxed);
            let written = left.min(bytes.len() as u64);
            self.killed_after.store(left - written, Ordering::Relaxed);
            &bytes[..written as usize]
        };
        self.file.write_all_at(bytes, at)
    }
}

impl DiskCache {
    /// The smallest size of a cache, in bytes.
    pub const BYTES_MIN: u64 = 8 << 20;

    /// Opens the cache in `folder`, or makes it: of at most `bytes`, on the disk and in the
    /// folder's listing. If the one that is there has another size, it is replaced by an empty one.
    /// `note` is called at most once, when something keeps the cache from keeping more.
    ///
    /// # Errors
    /// `bytes` is less than [`DiskCache::BYTES_MIN`], the folder cannot be made or written, or it
    /// has another's file of that name.
    pub fn open(folder: &Path, bytes: u64, note: Note) -> io::Result<Self> {
        if bytes < Self::BYTES_MIN {
            let message = format!("a disk cache has at least {} bytes", Self::BYTES_MIN);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let (file, form) = form::open(folder, Form::within(bytes))?;
        Self::of(folder, file, form, note)
    }

    /// Opens the cache that is in `folder`, of any size; `None` if the folder has no cache.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn existing(folder: &Path, note: Note) -> io::Result<Option<Self>> {
        match form::existing(folder)? {
            Some((file, form)) => Ok(Some(Self::of(folder, file, form, note)?)),
            None => Ok(None),
        }
    }

    fn of(folder: &Path, file: File, form: Form, note: Note) -> io::Result<Self> {
        let store = Arc::new(Blocks::new(file, form));
        let path = folder.join(form::NAME);
        let writer = Writer::start(store.clone(), &path, note)?;
        Ok(Self { path, store, writer, hit_bytes: AtomicU64::new(0) })
    }

    /// The file that holds it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that were read from it, by this process.
    #[must_use]
    pub fn hit_bytes(&self) -> u64 {
        self.hit_bytes.load(Ordering::Relaxed)
    }

    /// Copies what is here of an object of `object_bytes` into `into`, which is for the bytes from
    /// `offset` on. Returns what is missing, in whole sectors.
    pub(crate) fn fill(
        &self,
        key: &Key,
        object_bytes: u64,
        offset: u64,
        into: &mut [u8],
    ) -> Vec<Range<u64>> {
        let (copied, missing) = self.store.fill(key, object_bytes, offset, into);
        self.hit_bytes.fetch_add(copied, Ordering::Relaxed);
        missing
    }

    /// Keeps a part of an object, which begins with a sector and ends with one, or with the object.
    /// Another thread writes it. If too much waits for that, it is not kept.
    pub(crate) fn keep(&self, key: Key, offset: u64, content: Vec<u8>) {
        debug_assert_eq!(offset % SECTOR, 0);
        self.writer.take(Piece { key, offset, content });
    }

    /// Which ranges of an object are here, and where.
    pub(crate) fn ranges(&self, key: &Key, object_bytes: u64) -> io::Result<Vec<CachedRange>> {
        self.store.ranges(key, object_bytes)
    }
}

impl fmt::Debug for DiskCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DiskCache").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
