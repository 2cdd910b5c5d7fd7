//! Decides what a cache keeps, what to read around a request, and how to order the files of an
//! archive.
//!
//! # The problem
//!
//! A cache policy is easy to compare in a simulator and hard to trust afterwards. The simulator and
//! the program that serves real requests are usually two implementations. They differ in details
//! that a paper leaves open: what a hit on a dirty page does, when a victim really leaves, which of
//! two equal pages goes first. Then the figures of the simulator promise nothing about the program.
//!
//! Live caches add details of their own. Their policies call allocators, take locks, read the clock
//! and hash their keys. None of that is a decision, and all of it makes decisions hard to repeat.
//!
//! # The neighbours
//!
//! libCacheSim has more policies, in C, for simulation only. Cache crates such as moka, quick_cache
//! and foyer are for production: one or a few policies each, tied to their threads and their
//! storage. Neither kind lets the same decision code be simulated first and used afterwards.
//!
//! # The idea
//!
//! This crate contains decisions only. It does no I/O, reads no clock, starts no thread, and draws
//! random numbers only from a seed. After its tables have grown to the number of ids, a request
//! allocates nothing, apart from amortised growth. Of a device it knows only
//! [`Costs`](seekless_device::Costs): three numbers.
//!
//! The owner of a cache gives each page or file a dense number, its [`Id`](eviction::Id). A policy
//! is a set of arrays over these numbers. The owner passes in requests and carries out what the
//! cache decides. The simulator carries decisions out by counting them, the live engine by reading
//! and freeing buffers. For the same order of requests both make the same decisions, since both run
//! this code.
//!
//! - [`eviction`]: policies, one a file. A policy decides which page or file leaves a cache.
//! - [`admission`]: whether an object that missed comes into the cache at all.
//! - [`cache`]: a policy, the bypass rule and the state of each id: the cache that simulator and
//!   live engine drive; where the bytes of each file lie in one region of memory; the stable names
//!   of pages.
//! - [`layout`]: the order of the files in an archive, learned from the runs that read them; the
//!   order of each epoch of a training.
//! - [`planner`]: the reads of an archive: what to read around an entry, which entries to join in
//!   one read, and what to keep of what was read.
//! - [`readahead`]: which pages of a file to fetch before they are asked for.
//! - [`foresight`]: what a program will load, from earlier runs, from references between files, and
//!   from what it announces.
//! - [`sample`]: seeded random numbers, and sets to draw from.
//!
//! The other modules are arrays from which policies are made. They are private: a policy outside
//! this crate needs only the [`Eviction`](eviction::Eviction) trait.
//!
//! # An example
//!
//! A cache of 100 bytes that keeps no file over 50 bytes:
//!
//! ```
//! use seekless_policy::cache::{Cache, Config};
//! use seekless_policy::eviction::{Lru, Outcome, Request};
//!
//! let config = Config { capacity: 100, bypass_above: Some(50) };
//! let mut cache = Cache::new(Lru::new(config.capacity), config)?;
//! cache.grow(3); // room for the ids 0 to 2
//! assert_eq!(cache.access(&Request::file(0, 40)), Outcome::Admitted);
//! assert_eq!(cache.access(&Request::file(0, 40)), Outcome::Hit);
//! assert_eq!(cache.access(&Request::file(1, 51)), Outcome::Bypassed);
//! # Ok::<(), seekless_policy::Error>(())
//! ```
//!
//! Two archive entries lie 10 bytes apart. A request costs as much time as reading 100 bytes, so
//! one read for both is cheaper than two:
//!
//! ```
//! use seekless_device::Costs;
//! use seekless_policy::layout::extents::{Extent, coalesce};
//!
//! let costs = Costs { request_ns: 100, bytes_per_second: 1_000_000_000, depth: 1 };
//! let entries = [Extent { offset: 0, bytes: 50 }, Extent { offset: 60, bytes: 20 }];
//! let reads = coalesce(&entries, &costs, 1 << 20);
//! assert_eq!((reads.len(), reads[0].extent.bytes), (1, 80));
//! ```

#![forbid(unsafe_code)]

pub mod admission;
mod arrays;
pub mod cache;
mod error;
pub mod eviction;
pub mod foresight;
mod id;
pub mod layout;
mod lehmer;
mod lehmer64;
pub mod planner;
pub mod readahead;
pub mod sample;

pub use error::{Error, ErrorKind};

/// The result of building a policy or a cache. Requests cannot fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;
