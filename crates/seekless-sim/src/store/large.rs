//! Large reads, made in blocks, several of them in flight.

use super::Reader;
use seekless_device::{Io, Nanos};
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::Start;
use std::collections::VecDeque;

/// A large read under way.
pub(super) struct Large {
    rest: VecDeque<Extent>,
    in_flight: usize,
    bytes: u64,
}

/// Which block of a large read a request was.
pub(super) enum Block {
    /// None: the request was a whole read.
    OfNone,
    /// Others are still to come.
    Earlier,
    /// The last. The bytes that came with all of them.
    Last(u64),
}

impl Reader<'_> {
    pub(super) fn begin_large(&mut self, when: Nanos, start: &Start) {
        let rest = start.blocks().collect();
        self.large.insert(start.tag, Large { rest, in_flight: 0, bytes: 0 });
        (0..start.blocks_in_flight()).for_each(|_| self.submit_block(when, start.tag));
    }

    fn submit_block(&mut self, when: Nanos, tag: u64) {
        let Some(large) = self.large.get_mut(&tag) else { return };
        if let Some(block) = large.rest.pop_front() {
            large.in_flight += 1;
            self.ask_there(when, tag, block);
        }
    }

    /// Takes in the end of a request at `end`, and submits the next block if it was one.
    pub(super) fn block_ended(&mut self, end: Nanos, io: &Io) -> Block {
        let Some(large) = self.large.get_mut(&io.tag) else { return Block::OfNone };
        large.in_flight -= 1;
        large.bytes += io.bytes;
        if large.in_flight == 0 && large.rest.is_empty() {
            let bytes = large.bytes;
            self.large.remove(&io.tag);
            return Block::Last(bytes);
        }
        self.submit_block(end, io.tag);
        Block::Earlier
    }
}
