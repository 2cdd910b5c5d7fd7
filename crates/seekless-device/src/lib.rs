//! What an I/O costs: device models, their costs, and the units that figures are read and printed in.
//!
//! **Invariant:** pure; time is a number passed in.
//!
//! ```
//! use seekless_device::{DeviceModel, DeviceSpec, Io};
//!
//! let spec: DeviceSpec = "iops=500,bandwidth=150MB/s".parse()?;
//! let mut volume = spec.model();
//! volume.submit(0, Io { tag: 7, write: false, offset: 0, bytes: 4096 });
//! assert_eq!(volume.next_event(), Some(2_000_000)); // one of 500 requests a second
//! # Ok::<(), seekless_device::Error>(())
//! ```

mod costs;
mod error;
mod file_system;
mod layout;
mod model;
mod rate;
mod spec;
mod split_mix;
mod table;
pub mod units;
mod volume;

pub use costs::Costs;
pub use error::{Error, ErrorKind};
pub use file_system::{ColdFiles, Content, Fetch, Geometry};
pub use layout::{Layout, Piece};
pub use model::{DeviceModel, Io, Nanos};
pub use spec::DeviceSpec;
pub use split_mix::SplitMix64;
pub use table::{Origin, Row, Table, Zone};
pub use volume::{PART_BYTES, Volume, parts};
