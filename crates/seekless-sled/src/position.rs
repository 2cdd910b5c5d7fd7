//! Where on a volume, such as a tape, an archive keeps a file.

use serde::Serialize;

/// A place in an archive. Positions are in the order in which a drive should come to them: volume
/// by volume, from the start of each to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The name of the volume; empty if the configuration or the file names none.
    pub volume: String,
    /// How far the file is from the start of the volume, in any unit: blocks, say.
    pub at: u64,
}
