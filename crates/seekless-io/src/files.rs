//! Loose files through a page cache of our own: with any eviction policy, any readahead, and reads
//! past the kernel's cache.
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
mod core;
mod durable;
mod file;
mod flight;
mod flusher;
mod frame;
mod harvest;
mod landing;
mod shared;
mod source;
mod state;
mod trouble;
mod writer;
mod writes;

pub use cache::{PageCache, PageCacheBuilder};
pub use file::File;
