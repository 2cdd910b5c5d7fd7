//! Where a range of a file lies now.

use serde::{Deserialize, Serialize};

/// The kind of storage that would deliver a range, from the nearest to the farthest. Text and JSON
/// show its [`Level::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// A hole or an unwritten extent: zeros that no device delivers.
    Hole,
    /// The page cache of this machine.
    Memory,
    /// A device of this machine.
    Device,
    /// Another machine: the first byte costs a network round trip.
    Network,
    /// An archive: the file must be recalled from tape, from an object store's archive or the like
    /// before the first byte comes.
    Archive,
    /// Unknown: nothing that can be asked without reading the file says where it lies.
    Unknown,
}

impl Level {
    /// The word for the level in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Hole => "hole",
            Level::Memory => "memory",
            Level::Device => "device",
            Level::Network => "network",
            Level::Archive => "archive",
            Level::Unknown => "unknown",
        }
    }
}
