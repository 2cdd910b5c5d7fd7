//! Loose files through a page cache of our own: with any eviction policy, any readahead, and reads
//! past the kernel's cache.
//!
//! A read looks at its pages under one short lock. Pages that are there are copied without it;
//! pages that are missing are read with what the readahead adds. The reader itself makes the read
//! that it waits for. The engine makes the others, and one thread takes them into the cache.
//!
//! Memory is frames of one page, touched when the cache is made and used again, and buffers for the
//! commands under way. A command is up to 1 MiB, and its pages are copied into frames when it ends:
//! so a page that is still needed never holds the memory of its neighbours.
//!
//! ```
//! use seekless_io::files::PageCache;
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

mod announce;
mod cache;
mod file;
mod flight;
mod frame;
mod lander;
mod shared;
mod source;
mod state;

pub use cache::{PageCache, PageCacheBuilder};
pub use file::File;
