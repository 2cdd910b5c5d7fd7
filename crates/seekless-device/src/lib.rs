//! Says what an I/O costs, without doing it.
//!
//! # The problem
//!
//! Does it pay to read ahead, to join two reads, or to lay files out in another order? That depends
//! on the device: a request to a disk costs as much as reading a megabyte, a request to a flash
//! drive much less. A decision needs few numbers of a device; a simulation needs to know when each
//! request ends. This crate has both, and nothing in it touches a device:
//!
//! * [`Costs`] are the three numbers on which decisions are based: what a request costs, the
//!   bandwidth, and how many requests run at once.
//! * [`DeviceModel`] is a device in simulated time. Requests go in with the time at which they are
//!   made, completions come out with the time at which they end. [`Disk`] knows arm, rotation and
//!   the disk's own readahead; [`Flash`] channels, dies and garbage collection. [`Volume`] and
//!   [`BurstVolume`] have the limits of a cloud volume, [`ObjectStore`] streams and the spread of
//!   their first bytes, [`LatencyTable`] what a benchmark printed. [`Queue`] is the host's side of
//!   any of them.
//! * [`DeviceSpec`] makes a model from words such as `t7k250` (a [`Preset`]) or
//!   `iops=500,bandwidth=150MB/s`, or, with the feature `toml`, from the text of its
//!   [`Parameters`]. [`Utilisation`] is the share of its time that moves bytes.
//! * [`ColdFiles`] lists the requests for opening and reading a file of an ext4 file system that is
//!   not cached: inode tables, folders, extents. A [`Layout`] says where the files lie.
//! * [`Estimate`] finds the costs of a device from the reads that it served. [`Knowledge`] holds
//!   the costs in force, and whether they were given, probed, estimated or assumed.
//! * [`Table`] holds the figures of a machine's devices: latency and bandwidth of each and of its
//!   zones, and where the numbers come from ([`Origin`]).
//! * [`units`] reads and prints sizes, rates and durations, so that all of Seekless writes them
//!   alike.
//!
//! # Its neighbours
//!
//! `seekless-policy` decides by [`Costs`] and knows nothing else of a device. `seekless-sim` drives
//! the models with traces; `seekless-engine` delays real reads by them, so that a slow disk can be
//! tried without having one. `seekless-measure` finds the numbers of a real device.
//!
//! **Invariant:** pure; time is a number passed in.
//!
//! # Example
//!
//! ```
//! use seekless_device::{DeviceModel, DeviceSpec, Io};
//!
//! let spec: DeviceSpec = "iops=500,bandwidth=150MB/s".parse()?;
//! let mut volume = spec.model();
//! for tag in 0..60 {
//!     volume.submit(0, Io { tag, write: false, offset: 0, bytes: 4096 });
//! }
//! let mut ends = Vec::new();
//! volume.advance(1_000_000_000, &mut |end, _| ends.push(end));
//! // Of 500 requests a second 50 are served in each tenth of a second.
//! assert_eq!((ends[49], ends[50]), (0, 100_000_000));
//! # Ok::<(), seekless_device::Error>(())
//! ```

#![forbid(unsafe_code)]

mod any_device;
mod burst;
mod completions;
mod costs;
mod disk;
mod error;
mod estimate;
mod figures;
mod file_system;
mod flash;
mod geometry;
mod knowledge;
mod latencies;
mod latency_table;
mod layout;
mod median;
mod model;
mod names;
mod object_store;
mod parameters;
mod preset;
mod price;
mod queue;
mod rate;
mod spec;
mod split_mix;
mod table;
#[cfg(feature = "toml")]
mod text;
pub mod units;
mod utilisation;
mod volume;

pub use any_device::AnyDevice;
pub use burst::{Burst, BurstVolume, VolumeParameters};
pub use costs::{Costs, LookUps};
pub use disk::{Discipline, Disk, DiskParameters, DiskZone, LongSeek, Seek, SegmentCache};
pub use error::{Error, ErrorKind};
pub use estimate::{Estimate, Served};
pub use file_system::{ColdFiles, Content, Fetch};
pub use flash::{Flash, FlashParameters, Garbage, Mapping};
pub use geometry::Geometry;
pub use knowledge::{Brought, CostsSource, Knowledge};
pub use latencies::Latencies;
pub use latency_table::{LatencyRow, LatencyTable, LatencyTableParameters};
pub use layout::{Layout, Piece};
pub use median::{median, median_of};
pub use model::{DeviceModel, Io, Nanos};
pub use names::nearest;
pub use object_store::{ObjectStore, ObjectStoreParameters, Quantile};
pub use parameters::Parameters;
pub use preset::Preset;
pub use price::{Charged, Price, PriceList};
pub use queue::{Queue, QueueOptions};
pub use spec::{DeviceSpec, Model};
pub use split_mix::SplitMix64;
pub use table::{Origin, Row, Table, Zone};
pub use utilisation::Utilisation;
pub use volume::{PART_BYTES, Volume, parts};
