//! The real device: what it costs, and cold trials of workloads side by side.
//!
//! **Invariant:** never writes to a device or file that the user did not name for writing.
//!
//! Machines are noisy and caches remember, so no time stands alone here: rivals take turns in one run, each trial starts
//! cold and says how cold, the first round is thrown away, and what counts is the median and its ratio to the first rival.
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

mod alternate;
mod calibrate;
mod checksum;
mod coldness;
mod error;
mod figures;
mod slowed;
mod workload;

pub use alternate::{alternate, alternate_with_progress};
pub use calibrate::{Budget, Calibration, Line, SizeTimes, calibrate, calibrate_memory, line};
pub use checksum::Checksum;
pub use coldness::{Coldness, Dropping, make_cold};
pub use error::{BoxError, Error, ErrorKind};
pub use figures::Figures;
pub use slowed::{INODE_READAHEAD_BLOCKS, ReadsServed, Slowed};
pub use workload::{Trial, Workload};
