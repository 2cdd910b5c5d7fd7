//! `seekless tour`: advises on a program of this machine, then walks the whole path on a sample
//! workload that it makes itself. It records runs, packs the files in an order made from them, and
//! compares on a run that was held out.
//!
//! The sample's files and sessions model a game (see `sample` and `session`). Every figure comes
//! from the same code that the other verbs run on a user's own program.

mod dice;
mod layout;
mod local;
mod options;
mod recording;
mod report;
mod room;
mod sample;
mod session;
mod steps;
mod tree;

#[cfg(test)]
mod tests;

pub use layout::Seeks;
pub use options::Options;
pub use report::{Event, Step, Tour};
pub use room::room_for;

use seekless_job::Result;
use std::path::Path;

/// Walks the path in `directory`, which should be empty, and calls `tell` with each step. Nothing
/// is written outside that folder.
///
/// # Errors
/// The folder cannot be written to, or a step fails.
pub fn tour(directory: &Path, options: &Options, tell: &mut dyn FnMut(Event<'_>)) -> Result<Tour> {
    steps::walk(directory, options, tell)
}
