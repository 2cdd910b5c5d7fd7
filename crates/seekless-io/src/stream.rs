//! A large entry is read in blocks and decoded as they come: so it takes as long as reading it or
//! decoding it, whichever takes longer, and not as long as both.
//!
//! A few blocks are in flight, or in memory and not yet decoded. An entry with chunks that can be
//! inflated alone is decoded by all workers at once ([`chunked`]); any other by one worker at a
//! time, block after block ([`in_order`]).

mod chunked;
mod in_order;

use crate::buffer::Buffer;
use crate::error::Error;
use crate::memory::Memory;
use crate::sources::Sources;
use chunked::Chunked;
use in_order::InOrder;
use seekless_engine::{AlignedBuf, Completion};
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::Start;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// Tags of blocks have their number, from 1 on, above these bits.
const TAG_BITS: u32 = 32;

/// The large read that a tag names, and the number of its block; `None` if it names a whole read.
pub(crate) fn block_of(tag: u64) -> Option<(u64, usize)> {
    let read = tag & ((1 << TAG_BITS) - 1);
    let block = (tag >> TAG_BITS).checked_sub(1)?;
    Some((read, block as usize))
}

/// A block to be read.
pub(crate) struct Block {
    pub(crate) tag: u64,
    /// From the beginning of the read on.
    pub(crate) offset: u64,
    pub(crate) buffer: AlignedBuf,
}

/// What a large read came to.
pub(crate) struct Streamed {
    pub(crate) id: Id,
    /// Bytes from the beginning of the read.
    pub(crate) bytes: u64,
    pub(crate) result: Result<Buffer, Error>,
}

/// What a worker's step came to.
#[derive(Default)]
pub(crate) struct Progress {
    /// Chunks that may be decoded from now on, each by a job of its own.
    pub(crate) chunks: usize,
    /// What the read came to, once all has ended.
    pub(crate) streamed: Option<Streamed>,
}

/// One large read.
pub(crate) enum Stream {
    InOrder(InOrder),
    Chunked(Chunked),
}

/// What a store has for its large reads.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) memory: &'a Memory,
}

impl Stream {
    /// Begins a large read of one entry. Adds the blocks to be submitted.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn begin(
        means: Means<'_>,
        start: &Start,
        id: Id,
        long_lived: bool,
        out: &mut Vec<Block>,
    ) -> io::Result<Arc<Self>> {
        let line = Line::new(start);
        Ok(Arc::new(match means.sources.chunks(id) {
            Some(chunks) => {
                Self::Chunked(Chunked::begin(means, line, id, chunks, long_lived, out)?)
            }
            None => Self::InOrder(InOrder::begin(means, line, id, long_lived, out)?),
        }))
    }

    /// A block has ended. Calls `submit` with each further one to be read.
    pub(crate) fn ended(
        &self,
        means: Means<'_>,
        block: usize,
        completion: Completion,
        submit: &mut dyn FnMut(Block),
    ) -> Progress {
        match self {
            Self::InOrder(stream) => {
                let streamed = stream.ended(means, block, completion, submit);
                Progress { chunks: 0, streamed }
            }
            Self::Chunked(stream) => stream.ended(means, block, completion, submit),
        }
    }

    /// Decodes a chunk, if one is left to be decoded, and then submits as [`Stream::ended`] does.
    pub(crate) fn decode_chunk(&self, means: Means<'_>, submit: &mut dyn FnMut(Block)) -> Progress {
        match self {
            Self::InOrder(_) => Progress::default(),
            Self::Chunked(stream) => stream.decode(means, submit),
        }
    }
}

/// The blocks of a read, as far as they were not submitted.
struct Line {
    tag: u64,
    extent: Extent,
    rest: VecDeque<Extent>,
    submitted: usize,
    block_bytes: u64,
    /// How many blocks are in flight, or in memory and not used yet, at most.
    in_flight_max: usize,
}

impl Line {
    fn new(start: &Start) -> Self {
        let &Start { tag, extent, block_bytes, .. } = start;
        let (rest, in_flight_max) = (start.blocks().collect(), start.blocks_in_flight());
        Self { tag, extent, rest, submitted: 0, block_bytes, in_flight_max }
    }

    /// The bytes of the next block, if there is one.
    fn next_bytes(&self) -> Option<u64> {
        self.rest.front().map(|extent| extent.bytes)
    }

    /// The next block, to be read into `buffer`, which has room for it.
    fn submit(&mut self, buffer: AlignedBuf) -> Option<Block> {
        let extent = self.rest.pop_front()?;
        self.submitted += 1;
        let tag = self.tag | (self.submitted as u64) << TAG_BITS;
        Some(Block { tag, offset: extent.offset - self.extent.offset, buffer })
    }

    /// Whether another block may be submitted, when all data before `used` bytes of the read is no
    /// longer needed.
    fn has_room(&self, used: u64) -> bool {
        self.submitted < (used / self.block_bytes) as usize + self.in_flight_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_a_read_and_a_block() {
        assert_eq!(block_of(7), None);
        assert_eq!(block_of(7 | 1 << TAG_BITS), Some((7, 0)));
        assert_eq!(block_of(7 | 600 << TAG_BITS), Some((7, 599)));
    }
}
