//! What the tour tells: its steps while it goes, and the whole at its end.

use super::layout::Seeks;
use crate::compare::Comparison;
use serde::Serialize;

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
