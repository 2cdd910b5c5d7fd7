//! Sources of knowledge about where ranges of a file lie, each in a small file behind one trait.
//!
//! Their answers are laid over each other. The provider nearest to the program comes first (a mock,
//! then the page cache). Where it says nothing, the next one below decides (a cache file, another
//! machine), down to the device itself.

mod cache_file;
mod device;
mod mock;
mod page_cache;
mod recall;
pub(crate) mod remote;

pub use cache_file::CacheFile;
pub use device::{Device, Holes};
pub use mock::Mock;
pub use page_cache::PageCache;
pub use recall::Recall;
pub use remote::Remote;

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
    fn ranges(&self, target: &Target<'_>) -> Result<Vec<Range>, Error>;
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
pub struct Range {
    /// First byte.
    pub offset: u64,
    /// Length in bytes, not 0.
    pub bytes: u64,
    /// Whether it is here.
    pub claim: Claim,
    /// How long ago the claim was true.
    pub age: Duration,
}

/// Whether the provider holds a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// It does, at this cost.
    Has {
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
    Lacks(Confidence),
    /// Unknown.
    Unknown,
}

impl Range {
    /// The offset of the first byte after the range.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// A claim that is true now.
    #[must_use]
    pub fn now(offset: u64, bytes: u64, claim: Claim) -> Self {
        Range { offset, bytes, claim, age: Duration::ZERO }
    }
}

impl Claim {
    /// The range is held at the cost of a zone of the device table.
    #[must_use]
    pub fn at(level: Level, zone: &Zone, confidence: Confidence) -> Self {
        let latency = Duration::from_nanos(zone.latency_ns);
        Claim::Has { level, latency, bandwidth: zone.bytes_per_second as f64, confidence }
    }

    /// The range is a hole: zeros that no device delivers.
    #[must_use]
    pub fn hole() -> Self {
        let (level, confidence) = (Level::Hole, Confidence::Exact);
        Claim::Has { level, latency: Duration::ZERO, bandwidth: f64::INFINITY, confidence }
    }
}
