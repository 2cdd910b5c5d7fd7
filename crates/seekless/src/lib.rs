//! Find out what your program reads, and make those reads cheap.
//!
//! The facade: each crate of the house under its short name, no logic. A feature brings each part;
//! the default, `store`, is what a program needs that loads files from a pack.

#[cfg(any(feature = "measure", feature = "sim", feature = "sled", feature = "store"))]
pub use seekless_device as device;
#[cfg(any(feature = "measure", feature = "read", feature = "store"))]
pub use seekless_engine as engine;
#[cfg(feature = "fits")]
pub use seekless_fits as fits;
#[cfg(feature = "gnu")]
pub use seekless_gnu as gnu;
#[cfg(feature = "store")]
pub use seekless_io as io;
#[cfg(feature = "measure")]
pub use seekless_measure as measure;
#[cfg(feature = "store")]
pub use seekless_pack as pack;
#[cfg(any(feature = "sim", feature = "store"))]
pub use seekless_policy as policy;
#[cfg(feature = "read")]
pub use seekless_read as read;
#[cfg(feature = "record")]
pub use seekless_record as record;
#[cfg(feature = "report")]
pub use seekless_report as report;
#[cfg(feature = "sim")]
pub use seekless_sim as sim;
#[cfg(feature = "sled")]
pub use seekless_sled as sled;
#[cfg(any(feature = "sled", feature = "store", feature = "trace"))]
pub use seekless_sys as sys;
#[cfg(feature = "tools")]
pub use seekless_tools as tools;
#[cfg(feature = "trace")]
pub use seekless_trace as trace;

/// The page on the library, whose examples are tests.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../../../docs/library.md")]
pub struct LibraryPage;
