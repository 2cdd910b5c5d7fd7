//! The behaviour that our programs share at a terminal: how names are shown, progress bars, a page
//! that is drawn again and again, and cleaning up after Ctrl-C.
//!
//! **Invariant:** knows no crate of ours but sys; what it shows never moves the cursor, changes a
//! colour or adds a line by what a name holds.
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
mod shown;

pub use progress::{counting, progress, stages};
pub use shown::{line, lines, shown};
