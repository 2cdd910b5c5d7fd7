//! The storage latency estimation descriptor (Van Meter and Gao 2000, section 3 and Fig. 2).

use crate::Level;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What one range of a file costs to read now. Neighbouring ranges that differ in nothing else are
/// one SLED.
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
    /// The storage that would deliver it.
    pub level: Level,
    /// How sure the level is.
    pub confidence: Confidence,
    /// How long ago the system was asked.
    pub age: Duration,
}

/// How sure the level of a range is, from the surest to the least sure. Text and JSON show its
/// [`Confidence::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Every page was asked about.
    Exact,
    /// Most pages of the range, or a sample of them, are at this level.
    Sampled,
    /// Nothing is known about the range.
    Unknown,
}

impl Sled {
    /// The offset of the first byte after the range.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// The time to read all of it by itself; [`Duration::MAX`] if it is larger than a duration can
    /// hold.
    #[must_use]
    pub fn cost(&self) -> Duration {
        let transfer = Duration::try_from_secs_f64(self.bytes as f64 / self.bandwidth);
        self.latency.saturating_add(transfer.unwrap_or(Duration::MAX))
    }
}

impl Confidence {
    /// The word for the confidence in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Exact => "exact",
            Confidence::Sampled => "sampled",
            Confidence::Unknown => "unknown",
        }
    }
}
