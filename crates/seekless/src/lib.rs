//! Find out what your program reads, and make those reads cheap.
//!
//! This is the facade: it re-exports each crate of Seekless under a short name, and has no logic.
//! Choose the features that your program needs:
//!
//! | feature | a program can | modules |
//! |---|---|---|
//! | `store` (default) | write packs, and load files from them through a cache | `io`, `pack` |
//! | `probed` | have a store look up what `seekless probe` has measured | |
//! | `remote` | have a store open packs in object storage, and write objects | `remote` |
//! | `page-cache` | read and write loose files through a page cache | `page_cache`, `policy` |
//! | `sled` | ask what each range of a file costs to read now | `sled` |
//! | `read` | read files, the cheapest bytes first | `read` |
//! | `trace` | read, write, merge and convert traces | `trace` |
//! | `record` | record what another program reads | `record` |
//! | `sim` | simulate caches on a trace | `sim`, `policy`, `device` |
//! | `measure` | time workloads cold, and measure what a device costs | `measure` |
//! | `report` | draw tables and pictures of figures | `report` |
//! | `tools` | run the command's jobs: start, pack, order, compare | `job`, `start`, `tools` |
//! | `gnu` | count, search and find as wc, grep and find do | `gnu` |
//! | `fits` | make histograms of FITS images, and rebin them | `fits` |
//!
//! # Example
//!
//! Packs a file and loads it again, with the default features:
//!
#![cfg_attr(feature = "store", doc = "```")]
#![cfg_attr(not(feature = "store"), doc = "```ignore")]
//! use seekless::io::Store;
//! use seekless::pack::{About, Codec, PackWriter, prepare};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("data.zip");
//! let mut pack = PackWriter::new(std::fs::File::create(&path)?);
//! pack.add(prepare(About::named("art/wall.dds"), b"brick".to_vec(), Codec::Auto)?)?;
//! pack.finish()?;
//!
//! let store = Store::builder().cache(64 << 20).open(&path)?;
//! let wall = store.load("art/wall.dds")?; // read-only, shared; released when dropped
//! assert_eq!(&wall[..], b"brick");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The simulator and the store decide with the same code. So a cache that `sim` recommends for a
//! trace behaves the same in the program.

#[cfg(any(
    feature = "measure",
    feature = "page-cache",
    feature = "sim",
    feature = "sled",
    feature = "store"
))]
pub use seekless_device as device;
#[cfg(any(feature = "measure", feature = "page-cache", feature = "read", feature = "store"))]
pub use seekless_engine as engine;
#[cfg(feature = "fits")]
pub use seekless_fits as fits;
#[cfg(feature = "gnu")]
pub use seekless_gnu as gnu;
#[cfg(feature = "store")]
pub use seekless_io as io;
#[cfg(feature = "tools")]
pub use seekless_job as job;
#[cfg(feature = "measure")]
pub use seekless_measure as measure;
#[cfg(feature = "mount")]
pub use seekless_mount as mount;
#[cfg(feature = "store")]
pub use seekless_pack as pack;
#[cfg(feature = "page-cache")]
pub use seekless_page_cache as page_cache;
#[cfg(any(feature = "page-cache", feature = "sim", feature = "store"))]
pub use seekless_policy as policy;
#[cfg(feature = "read")]
pub use seekless_read as read;
#[cfg(feature = "record")]
pub use seekless_record as record;
#[cfg(feature = "remote")]
pub use seekless_remote as remote;
#[cfg(feature = "report")]
pub use seekless_report as report;
#[cfg(feature = "sim")]
pub use seekless_sim as sim;
#[cfg(feature = "sled")]
pub use seekless_sled as sled;
#[cfg(feature = "tools")]
pub use seekless_start as start;
#[cfg(any(feature = "sled", feature = "store", feature = "trace"))]
pub use seekless_sys as sys;
#[cfg(feature = "tools")]
pub use seekless_tools as tools;
#[cfg(feature = "trace")]
pub use seekless_trace as trace;

/// The page on the library, whose examples are tests.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../../../docs/reference/library.md")]
pub struct LibraryPage;
