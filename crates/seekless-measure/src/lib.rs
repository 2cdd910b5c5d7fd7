//! Measures real devices: what a device costs, and which of several programs is faster on it.
//!
//! # The problem
//!
//! The time that a program takes to load its files says little by itself. The files may be in the
//! page cache, another program may be using the disk, and a virtual disk may be fast now and slow
//! in a minute. Two numbers that were measured one after the other differ for reasons that have
//! nothing to do with the programs. This crate measures so that the difference means something:
//!
//! * [`alternate`] lets rivals take turns in one run. It throws away the first round, and reports
//!   medians and each rival's ratio to the first one.
//! * [`make_cold`] drops files from the page cache before each trial, and reports what it could not
//!   drop ([`Coldness`]). A trial whose files stayed cached is not hidden: the figures say so.
//! * Rivals must deliver the same bytes. Each trial returns a [`Checksum`] of what it read, and
//!   [`alternate`] refuses to compare rivals whose checksums differ.
//! * [`Slowed`] limits a real disk's requests and bytes a second, as a cloud volume does. The
//!   kernel enforces the limits for this process alone and counts the requests exactly.
//! * [`KernelWindow`] sets how far the kernel reads ahead, so that it may be compared with.
//! * [`calibrate`] finds the latency and the bandwidth of a device from a few hundred reads,
//!   [`requests()`] how many requests it serves at once.
//! * [`replay`] plays recorded I/Os again, on a real target or on a device model.
//!
//! # Its neighbours
//!
//! `seekless-device` holds models of devices, with time as a number; this crate asks the device
//! itself. `seekless-engine` reads, and `seekless-sys` offers the kernel's calls. This crate does
//! not know what a workload loads: `seekless-tools` brings packs and traces together with it.
//!
//! **Invariant:** never writes to a device or file that the user did not name for writing.
//!
//! # Example
//!
//! ```
//! use seekless_measure::{BoxError, Checksum, Coldness, Trial, Workload, alternate};
//!
//! struct Reads(&'static str);
//! impl Workload for Reads {
//!     fn name(&self) -> &str { self.0 }
//!     fn make_cold(&mut self) -> Result<Coldness, BoxError> { Ok(Coldness::default()) }
//!     fn run(&mut self, _: &mut dyn FnMut(f64)) -> Result<Trial, BoxError> {
//!         let (clock, mut seen) = (std::time::Instant::now(), Checksum::default());
//!         seen.add(0, b"the bytes of the first file");
//!         Ok(Trial::ended(clock.elapsed(), seen))
//!     }
//! }
//! let figures = alternate(&mut [&mut Reads("loose"), &mut Reads("pack")], 5)?;
//! println!("{} is {:.1} times as fast", figures[1].name, figures[1].ratio);
//! # Ok::<(), seekless_measure::Error>(())
//! ```

#![forbid(unsafe_code)]

mod alternate;
mod calibrate;
mod checksum;
mod coldness;
mod error;
mod figures;
pub mod inside;
mod kernel_window;
pub mod replay;
mod slowed;
mod workload;

pub use alternate::{alternate, alternate_with_progress};
pub use calibrate::{
    BandwidthZone, Budget, Calibration, Line, Requests, SizeTimes, calibrate, calibrate_memory,
    line, look_ups, requests,
};
pub use checksum::Checksum;
pub use coldness::{Coldness, Dropping, make_cold};
pub use error::{BoxError, Error, ErrorKind};
pub use figures::Figures;
pub use kernel_window::KernelWindow;
pub use slowed::{INODE_READAHEAD_BLOCKS, ReadsServed, Slowed};
pub use workload::{Trial, Workload};
