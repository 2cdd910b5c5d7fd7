//! The storage latency estimation descriptor (Van Meter and Gao 2000, section 3 and Fig. 2).

use crate::Level;
use std::time::Duration;

/// What one range of a file costs to read now. Neighbours of one level are one SLED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sled {
    /// First byte, from the file's start.
    pub offset: u64,
    /// Length in bytes, never 0.
    pub bytes: u64,
    /// Estimated time to the first byte.
    pub latency: Duration,
    /// Estimated bytes per second from then on; infinite for a hole.
    pub bandwidth: f64,
    /// Who would deliver it.
    pub level: Level,
    /// How sure that is.
    pub confidence: Confidence,
    /// How long ago it was asked.
    pub age: Duration,
}

/// How sure the level of a range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Each page was asked.
    Exact,
    /// Most pages of the range, or a sample of them, are so.
    Sampled,
    /// Nothing is known of its state.
    Unknown,
}
