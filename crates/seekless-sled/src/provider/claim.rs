//! What a provider is asked, and the claims that it answers with.

use crate::{Confidence, Error, Level};
use seekless_device::Zone;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// Knows something about where a file's bytes are.
pub trait Provider {
    /// Its name in notes.
    fn name(&self) -> &'static str;

    /// What it knows: ranges in order, not overlapping. It knows nothing about what it leaves out.
    ///
    /// Must not move data towards this machine, and must not open a file that [`Target::file`] has
    /// not opened.
    ///
    /// # Errors
    /// The provider cannot be asked. The providers below it decide then.
    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error>;
}

/// The file that is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Open for reading; `None` as long as opening it might recall it from an archive.
    pub file: Option<&'a File>,
    /// Absolute, without links; `None` if it has no name (any more).
    pub path: Option<&'a Path>,
    /// Its size.
    pub bytes: u64,
    /// The bytes of its allocated blocks.
    pub allocated_bytes: u64,
}

/// What a provider knows about a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// First byte.
    pub offset: u64,
    /// Length in bytes, not 0.
    pub bytes: u64,
    /// Whether it is here.
    pub presence: Presence,
    /// How long ago the claim was true.
    pub age: Duration,
}

/// Whether the provider holds a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// It does, at this cost.
    Here {
        /// The level that delivers the range.
        level: Level,
        /// Time to the first byte.
        latency: Duration,
        /// Bytes per second from then on.
        bandwidth: f64,
        /// How sure that is.
        confidence: Confidence,
    },
    /// It does not, with this confidence. The providers below know more.
    Absent(Confidence),
    /// Unknown.
    Unknown,
}

impl Claim {
    /// The offset of the first byte after the range.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// A claim that is true now.
    #[must_use]
    pub fn now(offset: u64, bytes: u64, presence: Presence) -> Self {
        Claim { offset, bytes, presence, age: Duration::ZERO }
    }
}

impl Presence {
    /// The range is held at the cost of a zone of the device table.
    #[must_use]
    pub fn at(level: Level, zone: &Zone, confidence: Confidence) -> Self {
        let latency = Duration::from_nanos(zone.latency_ns);
        Presence::Here { level, latency, bandwidth: zone.bytes_per_second as f64, confidence }
    }

    /// The range is a hole: zeros that no device delivers.
    #[must_use]
    pub fn hole() -> Self {
        let (level, confidence) = (Level::Hole, Confidence::Exact);
        Presence::Here { level, latency: Duration::ZERO, bandwidth: f64::INFINITY, confidence }
    }
}
