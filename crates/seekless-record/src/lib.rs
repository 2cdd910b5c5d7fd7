//! From a running program to a trace.
//!
//! [`record`] runs a program and writes down what it and all that it starts do with files: opens
//! (also the failed ones), reads, writes, maps, syncs, directory listings, stats. It needs no root:
//! a seccomp filter stops the program at just these calls, and ptrace tells their arguments and
//! results. Everything else runs at full speed.
//!
//! ```no_run
//! use seekless_record::{Options, record};
//! use std::path::Path;
//!
//! let recorded = record("make".as_ref(), &["-j2".into()], Path::new("run.parquet"), &Options::default())?;
//! println!("{} bytes read, lost {}", recorded.summary.bytes_read, recorded.summary.lost);
//! # Ok::<(), seekless_record::Error>(())
//! ```
//!
//! It never changes what the program returns or prints; lost events are counted. While the program
//! runs, rows go to a spool in the user's state folder, so that killing either side loses at most
//! the last quarter of a second.
//!
//! It is not a profiler of page faults: of memory-mapped files it sees the mapping, not the
//! touches. What io_uring reads it cannot see either, and says so in [`Summary::blind_spots`].

mod arch;
mod call;
mod calls;
mod coverage;
mod descriptions;
mod error;
mod inspect;
mod paths;
mod record;
mod recorded;
mod selection;
mod sink;
mod space;
mod thread;
mod tracer;

pub use error::{Error, ErrorKind, Result};
pub use record::{Options, record};
pub use recorded::{Recorded, Status, Summary};
