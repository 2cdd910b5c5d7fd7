//! The behaviour that our programs share at a terminal: progress bars, a page that is drawn again
//! and again, and cleaning up after Ctrl-C.
//!
//! **Invariant:** knows no other crate of ours; prints to standard error, or to the terminal
//! itself.
//!
//! ```
//! let mut progress = seekless_terminal::progress("reading");
//! for done in 1..=3 {
//!     progress(done, 3); // draws nothing before a second has passed
//! }
//! ```

pub mod interrupt;
mod progress;
pub mod screen;

pub use progress::{counting, progress, stages};
