//! The set of columns that a reader asks for. No other column is decoded.

use std::ops::BitOr;

/// A set of columns of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Columns(u16);

impl Columns {
    /// No column.
    pub const NONE: Columns = Columns(0);
    /// `run`
    pub const RUN: Columns = Columns(1);
    /// `time_ns`
    pub const TIME_NS: Columns = Columns(1 << 1);
    /// `pid`
    pub const PID: Columns = Columns(1 << 2);
    /// `tid`
    pub const TID: Columns = Columns(1 << 3);
    /// `op`
    pub const OP: Columns = Columns(1 << 4);
    /// `file`
    pub const FILE: Columns = Columns(1 << 5);
    /// `offset`
    pub const OFFSET: Columns = Columns(1 << 6);
    /// `bytes`
    pub const BYTES: Columns = Columns(1 << 7);
    /// `latency_ns`
    pub const LATENCY_NS: Columns = Columns(1 << 8);
    /// `error`
    pub const ERROR: Columns = Columns(1 << 9);
    /// `file_bytes`
    pub const FILE_BYTES: Columns = Columns(1 << 10);
    /// `device`
    pub const DEVICE: Columns = Columns(1 << 11);
    /// `inode`
    pub const INODE: Columns = Columns(1 << 12);
    /// `ttl_ns`, which only traces of objects with lifetimes have
    pub const TTL_NS: Columns = Columns(1 << 13);
    /// Every column of an [`Access`](crate::Access).
    pub const ALL: Columns = Columns((1 << 14) - 1);

    /// Whether all of `other` is in the set.
    #[must_use]
    pub fn contains(self, other: Columns) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Columns {
    type Output = Columns;

    fn bitor(self, other: Columns) -> Columns {
        Columns(self.0 | other.0)
    }
}
