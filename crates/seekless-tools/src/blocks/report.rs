//! What became of the accesses of a trace.

use super::locate::Why;
use serde::Serialize;
use std::collections::BTreeMap;

/// What was written, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Rows of the block trace.
    pub rows: u64,
    /// Reads, writes and first touches of the trace of files.
    pub accesses: u64,
    /// The devices, the one with the most rows first.
    pub devices: Vec<OnDevice>,
    /// Parts of accesses that are on no device, by reason.
    pub left_out: BTreeMap<Why, LeftOut>,
    /// Files that are no longer there. Of a recording with places: those that were gone after the
    /// program's end, which were looked up before.
    pub gone: Vec<String>,
    /// Files that were moved: the traced name, and the name now.
    pub moved: Vec<(String, String)>,
    /// Names that stand for another file now than when they were traced.
    pub replaced: Vec<String>,
    /// Looks that the kernel or a file system refused while the program ran.
    pub refused: u64,
}

/// The accesses on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OnDevice {
    /// The device's name, such as `sda`.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Bytes read, in whole sectors.
    pub read_bytes: u64,
    /// Bytes written, in whole sectors.
    pub written_bytes: u64,
}

/// Parts of accesses that were left out for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many parts.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Report {
    pub(super) fn leave_out(&mut self, why: Why, bytes: u64) {
        let sum = self.left_out.entry(why).or_default();
        sum.parts += 1;
        sum.bytes = sum.bytes.saturating_add(bytes);
    }
}
