//! What was read of a file: a block of bytes in memory, and the pieces of whole records in it.

use seekless_engine::AlignedBuf;
use seekless_sys::guarded::GuardedMap;
use std::ops::Range;

/// Bytes of a file in memory.
#[derive(Debug, Default)]
pub(super) enum Block {
    #[default]
    Empty,
    /// Read into this buffer, there.
    Read(AlignedBuf, Range<usize>),
    /// As they lie in the page cache.
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

    /// Whether bytes of it left the file while they were looked at.
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
    /// Here: a record across the edges of blocks.
    Own(Vec<u8>),
    /// In the buffer of the stream that is being read.
    Stream,
}
