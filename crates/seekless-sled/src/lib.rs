//! Says what each range of a file costs to read now.
//!
//! # The problem
//!
//! The bytes of one file can differ in cost by five orders of magnitude. Some of its pages are in
//! the page cache and come at the speed of memory. Others are on a disk, behind a network, or on a
//! tape that must be mounted first. A program that reads from the first byte to the last does not
//! know which are which. At worst, every page that it fetches pushes out a cached page that it was
//! about to read, and nothing of the cache is used.
//!
//! # The idea
//!
//! Van Meter and Gao ("Latency Management in Storage Systems", OSDI 2000) let the system say so. A
//! *storage latency estimation descriptor*, or SLED, says of one range of a file how long its first
//! byte takes and how fast the rest follows. A program with the SLEDs of a file can read the cheap
//! ranges first, show the user how long a job will take, or leave an expensive file alone. Here a
//! [`Sled`] also says which [`Level`] holds the range, how sure that is, and how old the answer is.
//!
//! # How an answer is made
//!
//! A [`Surveyor`] asks several [providers](provider); each knows one thing: the page cache, the
//! file's extents on its device, a cache file, another machine, an archive's state. The answers are
//! laid over each other, the nearest on top. Costs come from the device table ([`Devices`]), which
//! `seekless probe` fills with measured values; the user can override them in a [`Config`]. From
//! the SLEDs, [`delivery_time`] estimates how long a file takes by a [`Plan`], and [`Turnover`] how
//! long the answer stays true. A [`Server`] answers for files that other machines mount.
//!
//! **Invariant:** answers *unknown* rather than guess; never moves data into the cache by asking.
//!
//! # Example
//!
//! ```
//! use seekless_sled::{Level, Plan, Surveyor};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log");
//! # std::fs::write(&path, vec![b'x'; 100_000])?;
//! let survey = Surveyor::new()?.path(&path)?;
//! for sled in &survey.sleds {
//!     println!("{:>9} bytes at {}: {:?}", sled.bytes, sled.level.name(), sled.cost());
//! }
//! let in_memory = survey.bytes_at(Level::Memory);
//! let time = survey.delivery_time(Plan::Best, None);
//! assert!(in_memory <= 100_000 && time.low <= time.high);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The neighbours
//!
//! `seekless-device` has the table's rows and the units, `seekless-sys` the kernel's calls. This
//! crate answers and never reads; `seekless-read` reads files in the order that SLEDs advise.

mod config;
mod delivery;
mod devices;
mod error;
mod level;
mod overlay;
mod place;
mod plan;
mod position;
pub mod provider;
mod serve;
mod sled;
mod survey;
mod turnover;
mod wire;

/// Both ends of the conversation with another machine, in memory: what the fuzz targets call. Not
/// part of the interface.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::provider::remote::taken_of;
    pub use crate::serve::Unconnected;
}

pub use config::{Config, MountRule, RecallRule, RemoteRule};
pub use delivery::{Delivery, DeliveryTime, delivery_time, total_delivery_time};
pub use devices::{Devices, Entry};
pub use error::{Error, ErrorKind};
pub use level::Level;
pub use place::{Home, Kind};
pub use plan::Plan;
pub use position::Position;
pub use serve::{Server, ServerOptions};
pub use sled::{Confidence, Sled};
pub use survey::{Ceiling, Held, ObjectSubject, Survey, Surveyor, sleds, sleds_of};
pub use turnover::{Turnover, chance};
