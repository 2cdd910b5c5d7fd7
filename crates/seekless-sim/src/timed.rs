//! Simulates a cache, a readahead and a device in time: what a program waits for its reads.
//!
//! The loop is that of a live engine, with models for hardware. It goes from one instant to the
//! next, at which a reader goes on, the device has an event or the flusher wakes. There it does:
//!
//! 1. The device ends its I/Os up to this instant; their pages fill, and their readers wake.
//! 2. The flusher, if it is due, starts to write dirty pages.
//! 3. Each reader whose time has come takes one step.
//! 4. The I/Os of this instant are handed over together, so that the device may join them.
//!
//! The cache is [`PagedCache`](seekless_policy::cache::paged::PagedCache), which the live engine
//! drives too.
//!
//! ```
//! use seekless_device::DeviceSpec;
//! use seekless_sim::timed::{Rules, TimedCase, patterns, simulate};
//!
//! let workload = patterns::interleaved(2, 1 << 20, u64::MAX, 1); // two streams of 1 MiB
//! let device: DeviceSpec = "iops=200,bandwidth=50MB/s".parse()?;
//! let figures = |readahead: &str| {
//!     let case = TimedCase::unbounded(readahead);
//!     simulate(&workload, &case, &Rules::default(), &mut device.model())
//! };
//! assert!(figures("ondemand")?.seconds < figures("legacy")?.seconds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod each;
mod figures;
mod flight;
mod flusher;
pub mod patterns;
mod run;
#[cfg(test)]
mod tests;
mod workload;

pub use crate::unit::PAGE_BYTES;
pub use case::{HOST_QUEUE, Pacing, Rules, TimedCase, check};
pub use each::each;
pub use figures::{SizeCount, TimedFigures, WaitCount};
pub use run::simulate;
pub use workload::{Ask, FilePlace, Phase, Reader, TimedAccess, Workload};
