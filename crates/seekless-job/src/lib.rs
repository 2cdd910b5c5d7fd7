//! What all jobs of the command share.
//!
//! A job joins several crates into one piece of work: it packs a folder, starts a program faster,
//! compares two traces. `seekless-start` has the jobs of a program's start, `seekless-tools` the
//! others. Both fail with one [`Error`], and both meet traces of trees that have moved since they
//! were traced ([`roots`]).
//!
//! **Invariant:** knows no job; prints nothing.
//!
//! ```
//! use seekless_job::roots::Root;
//!
//! let root: Root = "/old/game=/home/me/game".parse()?;
//! assert_eq!(root.new, "/home/me/game");
//! # Ok::<(), seekless_job::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod crew;
mod error;
pub mod ext4;
pub mod in_json;
pub mod ranges;
pub mod roots;

pub use error::{Error, ErrorKind, Result};
