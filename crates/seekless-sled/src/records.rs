//! What must not be cut apart when a file is read in pieces.

/// The records of a file: a chunk holds whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Records {
    /// Bytes stand alone: chunks may end anywhere.
    #[default]
    None,
    /// A record ends with this byte; the last may lack it. The edges of cached ranges are pulled in to record boundaries (the paper's Fig. 4).
    Delimiter(u8),
    /// Records of `bytes` (not 0) from byte `origin` on; what lies before `origin` is one record, and the last may be short.
    Fixed {
        /// Where the first record starts.
        origin: u64,
        /// The length of each.
        bytes: u64,
    },
}
