//! What to keep, what to fetch next, what to lay together: pure decisions.
//!
//! **Invariant:** no I/O, clock, thread, or randomness without a seed; no allocation per request but amortised
//! growth; of a device it knows only [`Costs`](seekless_device::Costs).
//!
//! - [`eviction`]: the rule that picks what leaves a cache, one policy a file;
//! - [`cache`]: the cache that the simulator and the live engine both drive;
//! - [`ordering`]: which file comes after which in an archive;
//! - [`ahead`]: what to read around an entry that was asked for;
//! - [`extents`]: which reads fetch a set of archive entries at least cost;
//! - [`kept_reads`]: which reads are kept for the entries in them that were not asked for yet;
//! - [`list`], [`segments`], [`queues`], [`heap`], [`key_order`], [`bits`], [`sample`], [`lehmer`], [`mod@column`], [`weights`]: the
//!   arrays over dense ids that policies are made of.
//!
//! ```
//! use seekless_policy::cache::{Cache, Config};
//! use seekless_policy::eviction::{Lru, Outcome, Request};
//!
//! let config = Config { capacity: 100, bypass_above: Some(50) };
//! let mut cache = Cache::new(Lru::new(config.capacity), config)?;
//! cache.grow(3);
//! assert_eq!(cache.access(&Request::file(0, 40)), Outcome::Admitted);
//! assert_eq!(cache.access(&Request::file(0, 40)), Outcome::Hit);
//! assert_eq!(cache.access(&Request::file(1, 51)), Outcome::Bypassed);
//! # Ok::<(), seekless_policy::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod ahead;
mod bits;
pub mod cache;
mod column;
mod error;
pub mod eviction;
pub mod extents;
mod heap;
mod id;
pub mod kept_reads;
mod key_order;
mod lehmer;
mod list;
pub mod ordering;
mod queues;
mod radix;
mod ranking;
mod sample;
mod segments;
mod weights;

pub use error::{Error, ErrorKind};

/// What a decision may fail with: only its construction, never a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;
