//! Loads files from a pack: asynchronously, through a cache, with what lies around them.
//!
//! # The problem
//!
//! A program that starts opens thousands of small files, each with several requests to the device.
//! A pack holds them in one file, in the order in which they are read. To gain from that, the
//! loader must read many files with one request and keep what will be needed again. It must not
//! wait for a read that it could have started earlier. This crate is that loader.
//!
//! A [`Store`] is an open pack, or several packs and loose folders; later ones override earlier
//! ones. [`Store::load`] gives the content of one file, [`Store::load_async`] as a future, and
//! [`Store::load_many`] those of a list, in the order in which they arrive. A [`Buffer`] is
//! read-only and shared: the cache and all who loaded the file use the same memory.
//!
//! # The five ways of a load
//!
//! A load takes the first of these ways that has the file:
//!
//! 1. *the file cache*: a slot an entry, without the cache's lock; the hit is logged and reported
//!    to the policy before the next miss;
//! 2. *an orphan*: evicted, but still held by a user, hence revived without I/O;
//! 3. *a read under way* that covers the file;
//! 4. *a kept read*: bytes that were read with another file;
//! 5. *a read*: from the local header to the next in one request, with as much around it as the
//!    device and earlier reads make worth while.
//!
//! The last three are one call of [`Planner::demand`](seekless_policy::planner::Planner::demand).
//!
//! The device's costs are given by the program, or known from `seekless probe`, or estimated from
//! the store's own reads; [`Store::statistics`] says which.
//!
//! Reads complete on worker threads, which decode, check the CRC, and answer every load that waits
//! for the file.
//!
//! # Its neighbours
//!
//! `seekless-policy` decides what to evict and what to read; `seekless-engine` reads;
//! `seekless-pack` decodes. The simulator drives the same policy code: given the same requests, it
//! evicts the same files, and [`Store::decisions`] exists so that a test can compare them.
//!
//! **Invariant:** for the same order of requests it makes the same decisions as the simulator; a
//! buffer handed out is read-only, shared, and not copied again.
//!
//! # Example
//!
//! ```
//! # use seekless_pack::{About, Codec, PackWriter, prepare};
//! use seekless_io::Store;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("data.zip");
//! # let mut pack = PackWriter::new(std::fs::File::create(&path)?);
//! # pack.add(prepare(About::named("art/wall.dds"), b"brick".to_vec(), Codec::Auto)?)?;
//! # pack.finish()?;
//! let store = Store::builder().cache(64 << 20).policy("landlord").open(&path)?;
//! let wall = store.load("art/wall.dds")?;
//! assert_eq!(&wall[..], b"brick");
//! for (position, result) in store.load_many(["art/wall.dds", "art/door.dds"]) {
//!     assert_eq!(result.is_ok(), position == 0);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod announced;
mod archive;
mod buffer;
mod builder;
mod cached;
mod decision;
mod decode;
mod disk_cache;
mod error;
mod event_stripe;
mod folders;
mod hints;
mod job;
mod links;
mod load_async;
mod load_many;
mod long_held;
mod memory;
mod positions;
mod prediction;
mod probed;
mod range_cache;
mod ranges;
mod read_cache;
mod recording;
mod remote;
mod reply;
mod shared;
mod sources;
mod stale;
mod state;
mod statistics;
mod store;
mod stored;
mod stream;
mod worker;

pub use announced::Following;
pub use buffer::Buffer;
pub use builder::StoreBuilder;
pub use decision::Decision;
pub use disk_cache::DiskCacheSettings;
pub use error::{Error, ErrorKind};
pub use folders::Folder;
pub use load_async::LoadAsync;
pub use load_many::LoadMany;
pub use recording::{Recorded, Recording};
pub use seekless_device::{Costs, CostsSource};
pub use seekless_pack::NameEncoding;
pub use seekless_policy::eviction::landlord::Hint;
pub use seekless_policy::foresight::prediction::{
    Model as PredictionModel, Score as PredictionScore,
};
pub use statistics::{LONG_HELD_AFTER, SourceStatistics, Statistics};
pub use store::Store;
pub use stored::StoredAt;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a load may fail with.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A panic elsewhere does not make what the lock guards unusable: each change under it is complete
/// when it is released.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
