//! What was read of a file: a block of bytes in memory, and the pieces of whole records in it.

use seekless_engine::AlignedBuf;
use seekless_sys::guarded::GuardedMap;
use std::ops::Range;

/// Bytes of a file in memory.
#[derive(Debug, Default)]
pub(super) enum Block {
    #[default]
    Empty,
    /// Read into this buffer, in this range of it.
    Read(AlignedBuf, Range<usize>),
    /// A mapping of the page cache, and the range in it.
    Mapped(GuardedMap, Range<usize>),
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Block::Empty => &[],
            Block::Read(buffer, range) => &buffer[range.clone()],
            Block::Mapped(map, range) => &map.bytes()[range.clone()],
        }
    }

    /// The mapping that the bytes lie in, if they were not copied.
    pub(super) fn map(&self) -> Option<&GuardedMap> {
        match self {
            Block::Mapped(map, _) => Some(map),
            _ => None,
        }
    }

    /// Whether bytes were cut off the file while they were looked at.
    pub(super) fn is_lost(&self) -> bool {
        self.map().is_some_and(GuardedMap::is_lost)
    }
}

/// Whole records of a file, and where they lie.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Counted from where the file stood when it was added.
    pub(super) offset: u64,
    pub(super) bytes: Bytes,
}

/// Where the bytes of a piece lie.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    /// In the block.
    Block(Range<usize>),
    /// On their own: a record across the edges of blocks.
    Own(Vec<u8>),
    /// In the buffer of the stream that is being read.
    Stream,
}
