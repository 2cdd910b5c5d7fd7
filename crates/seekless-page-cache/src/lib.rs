//! Loose files through a page cache of our own: with any eviction policy, any readahead, and reads
//! and writes past the kernel's cache.
//!
//! A read looks at its pages under one short lock. Pages that are there are copied without it;
//! pages that are missing are read with what the readahead adds. The reader itself makes a single
//! read that it waits for. The engine makes the others, and the next reader that comes by, or waits
//! for one of them, takes them into the cache.
//!
//! Memory is pages in one piece, in huge pages where the system has them, touched when the cache is
//! made and used again. A command reads into neighbouring pages, and they stay where they are. Each
//! is given back by itself: so a page that is still needed never holds the memory of its
//! neighbours. Where no idle pages lie side by side, a command reads elsewhere and its pages are
//! copied.
//!
//! ```
//! use seekless_page_cache::PageCache;
//! use seekless_policy::readahead::{Options, named};
//!
//! let readahead = named("streams", Options::with_max_bytes(8 << 20))?;
//! let cache = PageCache::builder().bytes(16 << 20).readahead(readahead).build()?;
//! let file = cache.open("Cargo.toml")?;
//! let mut start = [0; 9];
//! assert_eq!(file.read_at(&mut start, 0)?, 9);
//! assert_eq!(&start, b"[package]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Writes
//!
//! A file from [`PageCache::open_to_write`] takes [`File::write_at`]. A write changes pages in the
//! cache. When they go to the device is decided by the [`FlushRule`] that the simulator also has
//! ([`PageCacheBuilder::flush`]): by age and beyond a background limit when a thread wakes, the
//! oldest first and its cluster with it. A writer that makes too much dirty waits. So memory is
//! bounded. A dirty page that is evicted is written first; until then reads find it.
//!
//! What is promised:
//!
//! - **Sync.** After [`File::sync_data`] or [`File::sync_all`] has returned without an error, the
//!   device has all that was written to the file before, or something newer.
//! - **Order of one page.** Two writes of one page are never under way at once. So on the device a
//!   page never becomes older.
//! - **One page.** A reader sees each page before or after a write, never in between. A read or
//!   write of several pages is not one step.
//! - **Errors.** What the device does not take stays in the cache, is read from there, and is
//!   written again at each sync and flush, and before the next write to the file. Each sync of the
//!   file fails, and so does [`PageCache::close`], with the file's name and all these bytes, until
//!   the device has them or they are cut off. (The kernel counts them as written.) A write fails
//!   while the device does not take what was written to the file before. So a full disk loses
//!   nothing that a write has accepted, and memory stays bounded. If a sync itself fails, nobody
//!   knows what the device has of the bytes written back since the last one: they are named by
//!   each sync until they have been written again.
//!
//! Nothing else is promised. Without a sync, a later write may be on the device and an earlier one
//! not, in one file or in several; the file may be longer than what is on it, and zero where
//! nothing has come yet. A power cut may tear a page that is being written. Dropping the last
//! handle of the cache writes back what is dirty, but does not sync, and
//! [`Write::flush`](std::io::Write::flush) does nothing.
//!
//! A write of a part of a page reads the page first, unless it lies behind the file's end. Pages go
//! to the device whole and past the kernel's cache. The last page of a file that ends within it
//! goes through the kernel's cache, up to the file's end. The other way, a whole page and a cut
//! afterwards, would make the file too long for a moment, and for good if the power is cut then.
//!
//! One program should write a file at a time. If another one cuts it, what was written behind that
//! and is not on the device yet is lost, and the next sync says so. What another writes in place
//! may stay unseen, and be overwritten.
//!
//! ```
//! use seekless_page_cache::PageCache;
//!
//! let folder = tempfile::tempdir()?;
//! let cache = PageCache::builder().bytes(16 << 20).policy("arc").build()?;
//! let file = cache.open_to_write(folder.path().join("log"))?;
//! file.write_at(b"hello", 0)?;
//! file.sync_data()?; // now the device has it
//! cache.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`FlushRule`]: seekless_policy::cache::write_back::FlushRule

#![forbid(unsafe_code)]

mod announce;
mod cache;
mod durable;
mod error;
mod file;
mod flight;
mod flusher;
mod frame;
mod harvest;
mod inner;
mod landing;
mod page_ranges;
mod shared;
mod source;
mod state;
mod trouble;
mod writer;

pub use cache::{PageCache, PageCacheBuilder};
pub use error::{Error, ErrorKind};
pub use file::File;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What making a cache, and opening or closing a file, may fail with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A panic elsewhere does not make what the lock guards unusable: each change under it is complete
/// when it is released.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
