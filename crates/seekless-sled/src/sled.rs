//! The storage latency estimation descriptor (Van Meter and Gao 2000, section 3 and Fig. 2).

use crate::Level;
use serde::{Deserialize, Serialize};
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

/// How sure the level of a range is, the surest first. In text and JSON its [`Confidence::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Each page was asked.
    Exact,
    /// Most pages of the range, or a sample of them, are so.
    Sampled,
    /// Nothing is known of its state.
    Unknown,
}

impl Sled {
    /// The first byte behind it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// What reading all of it costs by itself; [`Duration::MAX`] when that is beyond all measure.
    #[must_use]
    pub fn cost(&self) -> Duration {
        let transfer = Duration::try_from_secs_f64(self.bytes as f64 / self.bandwidth);
        self.latency.saturating_add(transfer.unwrap_or(Duration::MAX))
    }
}

impl Confidence {
    /// The word for it in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Exact => "exact",
            Confidence::Sampled => "sampled",
            Confidence::Unknown => "unknown",
        }
    }
}
