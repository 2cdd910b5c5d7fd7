//! Those who know where ranges of a file lie, one small file each behind one trait.
//!
//! They are laid over each other: what is nearest to the program speaks first (a mock, the page cache), and where it has
//! nothing to say, the next below it (a cache file, another machine), down to the device itself.

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

/// One who knows something of where a file's bytes are.
pub trait Provider {
    /// What notes call it.
    fn name(&self) -> &'static str;

    /// What it knows: ranges in order, not overlapping; it has nothing to say of what it leaves out.
    ///
    /// Must not move data towards this machine, nor open what [`Target::file`] has not opened.
    ///
    /// # Errors
    /// It cannot be asked; those below it speak then.
    fn ranges(&self, target: &Target<'_>) -> Result<Vec<Range>, Error>;
}

/// The file in question.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Open for reading; `None` before it is known whether opening would recall it.
    pub file: Option<&'a File>,
    /// Absolute, without links; `None` if it has no name (any more).
    pub path: Option<&'a Path>,
    /// Its size.
    pub bytes: u64,
    /// What its blocks hold.
    pub allocated_bytes: u64,
}

/// What a provider knows of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// First byte.
    pub offset: u64,
    /// Length in bytes, not 0.
    pub bytes: u64,
    /// Whether it is here.
    pub claim: Claim,
    /// How long ago that was so.
    pub age: Duration,
}

/// Whether a range is where a provider looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// It is, and costs this.
    Has {
        /// The level that delivers it.
        level: Level,
        /// Time to the first byte.
        latency: Duration,
        /// Bytes per second from then on.
        bandwidth: f64,
        /// How sure that is.
        confidence: Confidence,
    },
    /// It is not, so sure: who lies below knows.
    Lacks(Confidence),
    /// It may be here or not.
    Unknown,
}

impl Range {
    /// The first byte behind it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// A claim of this moment.
    #[must_use]
    pub fn now(offset: u64, bytes: u64, claim: Claim) -> Self {
        Range { offset, bytes, claim, age: Duration::ZERO }
    }
}

impl Claim {
    /// It is here, at what a zone of the device table says.
    #[must_use]
    pub fn at(level: Level, zone: &Zone, confidence: Confidence) -> Self {
        let latency = Duration::from_nanos(zone.latency_ns);
        Claim::Has { level, latency, bandwidth: zone.bytes_per_second as f64, confidence }
    }

    /// Zeros that nobody delivers.
    #[must_use]
    pub fn hole() -> Self {
        let (level, confidence) = (Level::Hole, Confidence::Exact);
        Claim::Has { level, latency: Duration::ZERO, bandwidth: f64::INFINITY, confidence }
    }
}
