//! What the tour reports: each step when it is done, and the whole tour at the end.

use super::layout::Seeks;
use crate::advise::Advice;
use crate::compare::Comparison;
use serde::Serialize;

/// What the tour reports while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step is done.
    Step(&'a Step),
    /// Part of a long step is done.
    Progress {
        /// The name of the step's work.
        what: &'static str,
        /// How much of it is done.
        done: u64,
        /// How much there is.
        total: u64,
    },
}

/// One step: the commands that a user would type for it in the tour's folder, and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What the step does.
    pub title: String,
    /// The commands.
    pub commands: Vec<String>,
    /// Its result, in one line.
    pub found: String,
}

/// A finished tour.
#[derive(Clone, Debug, Serialize)]
pub struct Tour {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// What a program of this machine waits for; `None` if that was not asked for, or is refused.
    pub advice: Option<Advice>,
    /// Files of the sample tree.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether the runs were recorded. If the machine refuses recording, they are imported.
    pub recorded: bool,
    /// How often the held-out run seeks in each order.
    pub seeks: Seeks,
    /// The held-out run, loaded from loose files and from the pack.
    pub comparison: Comparison,
}
