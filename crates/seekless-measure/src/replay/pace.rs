//! When each I/O is started.

use serde::{Serialize, Serializer};
use std::fmt;

/// When each I/O is started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pace {
    /// As fast as possible, in the order of the trace: as many in flight as the depth allows.
    #[default]
    Depth,
    /// As Ozen's player does (2018): slots are filled in order; when all are taken, what was not
    /// handed over yet is, if it is half of the slots or more; then the player waits for one. With
    /// 64 slots the batches are of 32 to 64, without any order between them.
    Ozen,
    /// Each thread starts its next I/O when its last has ended, and keeps its order.
    Closed,
    /// Each I/O at its time in the trace, divided by this speed; never moved by those before it.
    Timed {
        /// 2 plays in half the time.
        speed: f64,
    },
}

impl Pace {
    /// The slots that it needs if the user names no depth.
    #[must_use]
    pub fn depth(self) -> u32 {
        match self {
            Pace::Depth => 32,
            Pace::Ozen => 64,
            // As many as there may be: I/Os in flight are the trace's, not ours.
            Pace::Closed | Pace::Timed { .. } => 1024,
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Depth => f.write_str("as fast as possible"),
            Pace::Ozen => f.write_str("as Ozen's player"),
            Pace::Closed => f.write_str("each thread in its order"),
            Pace::Timed { speed: 1.0 } => f.write_str("at the trace's times"),
            Pace::Timed { speed } => write!(f, "at {speed} times the trace's speed"),
        }
    }
}

impl Serialize for Pace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
