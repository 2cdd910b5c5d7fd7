//! What the start of a program needs: learned from its runs, and there before the program asks.
//!
//! # The problem
//!
//! A program that starts cold waits for one small read after another, although each start of it
//! reads nearly the same. The kernel cannot know that, and tools that prefetch need a list.
//!
//! # The idea
//!
//! A *profile* holds the ranges that starts of one program need, in the order of first need. It is
//! learned from recorded runs. Whoever starts the program can then bring the ranges into the page
//! cache, all at once and in the order of the device:
//!
//! | module | job |
//! |---|---|
//! | [`start`] | starts a program, and brings what it needs into the page cache beside it |
//! | [`profiles`] | keeps what starts of programs need, learned from runs |
//! | [`warm`] | brings what programs will read into the page cache before they start |
//! | [`layout`](mod@layout) | lays what programs read together, in the order of need |
//! | [`ahead`] | reads ahead for a program while it runs |
//! | [`export`](mod@export) | lists what runs need, for tools that prefetch themselves |
//!
//! # Neighbours
//!
//! `seekless-record` sees what a start reads, `seekless-policy` decides what of it pays, and
//! `seekless-sled` knows what it costs. Ubuntu's ureadahead and systemd's readahead did this for a
//! boot; here it is for any program, and it is left out where it does not pay.
//!
//! **Invariant:** changes nothing that the program returns or prints; prints nothing.
//!
//! ```
//! // The profiles that this user's programs have left.
//! for kept in seekless_start::profiles::list()? {
//!     println!("{} ({} bytes)", kept.path.display(), kept.bytes);
//! }
//! # Ok::<(), seekless_start::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod ahead;
pub mod export;
pub mod layout;
pub mod profiles;
pub mod start;
pub mod warm;

pub use seekless_job::{Error, ErrorKind, Result};
