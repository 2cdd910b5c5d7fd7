//! A step of writing a pack.

use seekless_policy::eviction::Id;
use std::ops::Range;

/// What to write next.
pub(super) enum Step {
    /// This file of the folder.
    Pack(Id),
    /// These entries of the pack as it was, which lie directly behind each other.
    Copy(Range<u32>),
    /// This entry of the pack as it was, with the second that its file's time has now.
    Retime(u32),
}
