//! Simulates caches over recorded traces.
//!
//! **Invariant:** same input and seed, same bytes out.
//!
//! # The problem
//!
//! The right cache for a program depends on what the program reads. To compare policies and sizes,
//! one must run them over a trace of the program: many policies, many sizes, traces of hundreds of
//! millions of requests. A slow simulator answers with a few points. And a figure is worth little
//! if the real cache decides otherwise than the simulated one.
//!
//! # The neighbours
//!
//! libCacheSim is the reference among simulators. Its published figures are among the tests of this
//! crate, and docs/reference/differences.md explains each difference. Ozen's blockcacheperf
//! simulates writes to flash. Both simulate policies that exist nowhere else.
//!
//! # The idea
//!
//! A trace is decoded once into [`Requests`]: a dense id for each page, file or object, and one
//! weight an id. Any number of policies and capacities then run over them on all cores. Each policy
//! has a loop of its own type, so no call in it is indirect. The loop drives
//! [`Cache`](seekless_policy::cache::Cache) of `seekless-policy`, which the live engine drives too.
//! For the same requests both evict the same ids.
//!
//! - [`Reading`] reads traces: units, sector lines, times, limits of memory.
//! - [`made`] traces need no file: Zipf's law, loops, scans, shifts and mixes.
//! - [`Reading::open`] leaves a long trace of records in its file: a [`Stream`] is simulated while
//!   it is read.
//! - [`simulate`], [`simulate_with`] and [`simulate_all`] give [`Figures`]: hits, misses, writes,
//!   points over time.
//! - [`curve`] computes miss-ratio curves: exact for LRU in one pass, with error bars from samples.
//! - [`post_cache`] writes the accesses that a cache passes on, as a trace for the cache below.
//! - [`victims`] lists what each request evicts. The tests of the live engine compare with it.
//! - [`timed`] simulates a cache, a readahead and a device in time: what a program waits.
//! - [`store`] predicts requests, bytes and time of a store that loads from an archive.
//! - [`score`] rates orders of files in an archive.
//!
//! # An example
//!
//! Five requests for three files in a cache of 150 bytes:
//!
//! ```
//! use seekless_sim::{Case, Requests, simulate};
//!
//! let requests = Requests::from_files(&[0, 1, 0, 2, 0], &[10, 60, 70]);
//! let figures = simulate(&requests, &Case { policy: "landlord".into(), capacity: 150 })?;
//! assert_eq!((figures.hits, figures.compulsory_misses), (2, 3));
//! # Ok::<(), seekless_sim::Error>(())
//! ```

#![forbid(unsafe_code)]

mod admission;
mod capacity;
mod case;
mod check;
pub mod curve;
mod drive;
mod error;
mod figures;
mod lifetimes;
pub mod made;
mod memory;
mod one_pass;
pub mod post_cache;
mod ratio;
mod requests;
mod run;
pub mod score;
mod steps;
pub mod store;
mod stream;
pub mod timed;
mod unit;
mod warm_up;
mod write_back;

pub use admission::Admit;
pub use capacity::Capacities;
pub use case::{Case, Options};
pub use check::check_cases;
pub use error::{Error, ErrorKind, Result};
pub use figures::{Figures, Point};
pub use lifetimes::{Expired, Expiry};
pub use memory::memory_bytes_max;
pub use one_pass::simulate_cases;
pub use requests::{Lines, Reading, Requests, Totals};
pub use run::{each_case, simulate, simulate_all, simulate_own, simulate_with, victims};
pub use seekless_policy::cache::{Changed, write_back::Cluster};
pub use stream::{Opened, Plan, Stream, Timed, Windows};
pub use unit::Unit;
pub use warm_up::{WarmUp, WarmedUp};
pub use write_back::{Period, Shrink, WriteBack};
