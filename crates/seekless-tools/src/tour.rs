//! The whole path on a sample workload that it makes itself: record, order, pack, compare on a run
//! that was held out.
//!
//! Nothing here measures: the sample's files and sessions are a model of a game (see `sample` and
//! `session`), and every figure comes from the same code that the verbs run on a user's own
//! program.

use crate::compare::Comparison;
use crate::error::Result;
use seekless_device::DeviceSpec;
use serde::Serialize;
use std::ffi::OsString;
use std::path::Path;

mod dice;
mod layout;
mod recording;
mod room;
mod sample;
mod session;
mod steps;
mod tree;

#[cfg(test)]
mod tests;

pub use room::room_for;

/// How large a tour, and on which device.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files of the sample tree, about; a run loads a tenth of them.
    pub files: usize,
    /// The modelled device of the last step.
    pub device: DeviceSpec,
    /// Timed rounds of the last step.
    pub rounds: u32,
    /// The program to record and its first arguments; a folder and a list of files follow. It must
    /// load them in order.
    pub reader: Vec<OsString>,
}

impl Options {
    /// The tour as the user sees it, on a disk of 120 requests and 150 MB a second.
    #[must_use]
    pub fn full(reader: Vec<OsString>) -> Self {
        let device = DeviceSpec::Volume { iops: 120, bytes_per_second: 150_000_000 };
        Options { files: sample::FULL_FILES, device, rounds: 3, reader }
    }

    /// A tenth of it and one round, for tests.
    #[must_use]
    pub fn small(reader: Vec<OsString>) -> Self {
        Options { files: sample::FULL_FILES / 10, rounds: 1, ..Options::full(reader) }
    }
}

/// What the tour tells while it goes.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step is done.
    Step(&'a Step),
    /// Part of a long step is done, of its total.
    Progress {
        /// What is being done.
        what: &'static str,
        /// How much of it is done.
        done: u64,
        /// How much there is.
        total: u64,
    },
}

/// One step: what a user would type for it in the tour's folder, and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What is done and why.
    pub title: String,
    /// The commands.
    pub commands: Vec<String>,
    /// What came of it, in a line.
    pub found: String,
}

/// A tour that was walked to its end.
#[derive(Clone, Debug, Serialize)]
pub struct Tour {
    /// Each step in turn.
    pub steps: Vec<Step>,
    /// Files of the sample tree.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether the runs were recorded; if recording is refused here they are imported instead.
    pub recorded: bool,
    /// How often the held-out run seeks in each order, of its steps from file to file.
    pub seeks: Seeks,
    /// The held-out run from loose files and from the pack.
    pub comparison: Comparison,
}

/// Seeks of the held-out run: first loads whose file does not lie directly after the one loaded
/// before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Seeks {
    /// First loads of the run.
    pub loads: u64,
    /// With the files in order of their names.
    pub by_name: u64,
    /// In the greedy order made from the other runs.
    pub greedy: u64,
}

/// Walks the path in `directory`, which should be empty, and tells each step. Nothing outside it is
/// written.
///
/// # Errors
/// When the folder cannot be written to or a step fails.
pub fn tour(directory: &Path, options: &Options, tell: &mut dyn FnMut(Event<'_>)) -> Result<Tour> {
    steps::walk(directory, options, tell)
}
