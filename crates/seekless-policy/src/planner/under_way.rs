//! Reads between plan and completion. Reads planned ahead wait in a queue of our own, and no more
//! are started than the device serves at once. So a demand read never waits behind all of them.

use super::{BLOCKS_IN_FLIGHT, READ_BYTES_MAX};
use crate::arrays::queues::Queues;
use crate::id::Id;
use crate::layout::extents::Extent;
use std::collections::VecDeque;

/// A read to be submitted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Names the read until it has ended. Small numbers, used again.
    pub tag: u64,
    /// What to read.
    pub extent: Extent,
    /// The only entry that it is for, if it is larger than a block: the owner reads it in
    /// [`blocks`](Start::blocks).
    pub alone: Option<Id>,
    /// Bytes of a block.
    pub block_bytes: u64,
}

impl Start {
    /// The requests in which a large read is made, in their order: each of one block but for the
    /// last. The first [`blocks_in_flight`](Self::blocks_in_flight) are submitted at once, and each
    /// further one when an earlier has been used.
    pub fn blocks(&self) -> impl Iterator<Item = Extent> + use<> {
        let &Start { extent, block_bytes, .. } = self;
        (extent.offset..extent.end())
            .step_by(block_bytes as usize)
            .map(move |offset| Extent { offset, bytes: block_bytes.min(extent.end() - offset) })
    }

    /// How many of these are in flight, or in memory and not used yet.
    #[must_use]
    pub fn blocks_in_flight(&self) -> usize {
        BLOCKS_IN_FLIGHT * (READ_BYTES_MAX / self.block_bytes).max(1) as usize
    }
}

/// What a read is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// What is read.
    pub(super) extent: Extent,
    /// What of it may be joined: all, or of a large read the entry that it is for.
    pub(super) offered: Extent,
    /// A read of more bytes is made in blocks of so many, unless it is a guess.
    pub(super) block_bytes: u64,
}

/// One read that has not ended.
#[derive(Clone, Copy, Debug)]
struct Pending {
    extent: Extent,
    offered: Extent,
    block_bytes: u64,
    /// Whether it was begun for what is only guessed.
    is_guess: bool,
    /// Rises with every read: distinguishes reads of the same offset.
    number: u64,
}

/// Where a read begins, for the search by offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Begin {
    offset: u64,
    number: u64,
    slot: u32,
}

/// All reads that have not ended.
///
/// - **Cost:** to find the read that covers an extent takes the logarithm of the number of reads;
///   to add or end one moves the places of those behind it.
/// - **Memory:** 12 bytes an entry of the archive, and about 64 a read. It grows to the most reads
///   at one time and is used again.
#[derive(Clone, Debug)]
pub(super) struct UnderWay {
    depth: usize,
    next_number: u64,
    in_flight: usize,
    /// Bytes of the reads in flight that were begun for what is only guessed.
    guessed_bytes: u64,
    /// By slot, which is the tag.
    reads: Vec<Pending>,
    free: Vec<u32>,
    /// The entries that each slot's read is to bring.
    wanted: Queues,
    /// Sorted, to find the read that covers an entry.
    by_offset: Vec<Begin>,
    /// Slots of the reads that have not been started.
    queue: VecDeque<u32>,
}

impl UnderWay {
    /// No reads yet, for `entries` entries. Of those planned ahead, `depth` may be in flight.
    pub(super) fn new(entries: u32, depth: usize) -> Self {
        let mut wanted = Queues::new();
        wanted.grow(entries);
        Self {
            depth,
            next_number: 0,
            in_flight: 0,
            guessed_bytes: 0,
            reads: Vec::new(),
            free: Vec::new(),
            wanted,
            by_offset: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    pub(super) fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }

    /// Reads that were started and have not ended.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight as u32
    }

    /// A read that starts at once.
    pub(super) fn demand(&mut self, asked: Asked, id: Id) -> Start {
        let slot = self.add(asked);
        self.wanted.push(slot, id);
        self.start(slot)
    }

    /// A read that starts at once, for what is only guessed.
    pub(super) fn guess(&mut self, asked: Asked) -> Start {
        let slot = self.add(asked);
        self.reads[slot as usize].is_guess = true;
        self.guessed_bytes += asked.extent.bytes;
        self.start(slot)
    }

    /// Whether a read is made at once, and may serve several entries.
    pub(super) fn is_shared(&self, tag: u64) -> bool {
        let read = &self.reads[tag as usize];
        read.is_guess || read.extent.bytes <= read.block_bytes
    }

    /// Bytes in flight of reads for what is only guessed.
    pub(super) fn guessed_bytes(&self) -> u64 {
        self.guessed_bytes
    }

    /// A read that waits for its turn.
    pub(super) fn enqueue(&mut self, asked: Asked, wanted: &[Id]) {
        let slot = self.add(asked);
        wanted.iter().for_each(|&id| self.wanted.push(slot, id));
        self.queue.push_back(slot);
    }

    /// A read of one entry that waits before all others.
    pub(super) fn enqueue_first(&mut self, asked: Asked, id: Id) {
        let slot = self.add(asked);
        self.wanted.push(slot, id);
        self.queue.push_front(slot);
    }

    fn add(&mut self, Asked { extent, offered, block_bytes }: Asked) -> u32 {
        let number = self.next_number;
        self.next_number += 1;
        let pending = Pending { extent, offered, block_bytes, is_guess: false, number };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.reads[slot as usize] = pending;
                slot
            }
            None => {
                let slot = self.reads.len() as u32;
                self.reads.push(pending);
                self.wanted.grow_queues(slot + 1);
                slot
            }
        };
        let begin = Begin { offset: extent.offset, number, slot };
        let place = self.by_offset.partition_point(|other| *other < begin);
        self.by_offset.insert(place, begin);
        slot
    }

    /// The read that covers `extent`. Where several overlap, only the one with the highest offset
    /// is tried.
    fn covering(&self, extent: Extent) -> Option<u32> {
        let after = self.by_offset.partition_point(|begin| begin.offset <= extent.offset);
        let slot = self.by_offset[..after].last()?.slot;
        self.reads[slot as usize].offered.covers(extent).then_some(slot)
    }

    /// Whether a read covers `extent`, as far as [`UnderWay::join`] would find it.
    pub(super) fn covers(&self, extent: Extent) -> bool {
        self.covering(extent).is_some()
    }

    /// Adds `id`, which lies at `extent`, to a read that covers it; returns that read's tag.
    pub(super) fn join(&mut self, id: Id, extent: Extent) -> Option<u64> {
        let slot = self.covering(extent)?;
        self.wanted.push(slot, id);
        Some(slot.into())
    }

    /// A caller waits for the entry at `extent`: its read leaves the queue and starts.
    pub(super) fn hurry_covering(&mut self, extent: Extent) -> Option<Start> {
        self.hurry(self.covering(extent)?.into())
    }

    /// A caller waits for this read: it leaves the queue and starts, if it has not started.
    pub(super) fn hurry(&mut self, tag: u64) -> Option<Start> {
        let at = self.queue.iter().position(|&queued| u64::from(queued) == tag)?;
        let slot = self.queue.remove(at)?;
        Some(self.start(slot))
    }

    /// The read that covers `extent` is the next to start, unless it has started.
    pub(super) fn put_first(&mut self, extent: Extent) {
        let Some(slot) = self.covering(extent) else { return };
        if let Some(at) = self.queue.iter().position(|&queued| queued == slot) {
            self.queue.remove(at);
            self.queue.push_front(slot);
        }
    }

    /// Starts the reads whose turn has come.
    pub(super) fn start_next(&mut self, starts: &mut Vec<Start>) {
        while self.in_flight < self.depth
            && let Some(slot) = self.queue.pop_front()
        {
            starts.push(self.start(slot));
        }
    }

    fn start(&mut self, slot: u32) -> Start {
        self.in_flight += 1;
        let Pending { extent, block_bytes, .. } = self.reads[slot as usize];
        let is_alone = !self.is_shared(slot.into());
        let alone = is_alone.then(|| self.wanted.oldest(slot)).flatten();
        Start { tag: slot.into(), extent, alone, block_bytes }
    }

    /// What a read that was started is to bring: the extent.
    pub(super) fn extent(&self, tag: u64) -> Extent {
        self.reads[tag as usize].extent
    }

    /// Whether this read is to bring `id`.
    pub(super) fn wants(&self, tag: u64, id: Id) -> bool {
        self.wanted.queue_of(id).is_some_and(|slot| u64::from(slot) == tag)
    }

    /// A read that was started has ended. Adds the entries that it was to bring to `wanted`.
    pub(super) fn finish(&mut self, tag: u64, wanted: &mut Vec<Id>) {
        let slot = tag as u32;
        while let Some(id) = self.wanted.oldest(slot) {
            self.wanted.unlink(id);
            wanted.push(id);
        }
        self.in_flight -= 1;
        self.remove(slot);
    }

    fn remove(&mut self, slot: u32) {
        let Pending { extent, is_guess, number, .. } = self.reads[slot as usize];
        self.guessed_bytes -= if is_guess { extent.bytes } else { 0 };
        let begin = Begin { offset: extent.offset, number, slot };
        if let Ok(place) = self.by_offset.binary_search(&begin) {
            self.by_offset.remove(place);
        }
        self.free.push(slot);
    }

    /// Removes from the queued reads the entries for which `unwanted` is true, and reads that hold
    /// no others.
    pub(super) fn cancel(&mut self, mut unwanted: impl FnMut(Id) -> bool) {
        let mut queue = std::mem::take(&mut self.queue);
        let mut leaving = Vec::new();
        queue.retain(|&slot| {
            leaving.clear();
            leaving.extend(self.wanted.iter(slot).filter(|&id| unwanted(id)));
            leaving.iter().for_each(|&id| self.wanted.unlink(id));
            let stays = !self.wanted.is_empty(slot);
            if !stays {
                self.remove(slot);
            }
            stays
        });
        self.queue = queue;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(offset: u64, bytes: u64) -> Extent {
        Extent { offset, bytes }
    }

    fn asked(offset: u64, bytes: u64) -> Asked {
        let extent = extent(offset, bytes);
        Asked { extent, offered: extent, block_bytes: READ_BYTES_MAX }
    }

    fn starts(reads: &mut UnderWay) -> Vec<Start> {
        let mut starts = Vec::new();
        reads.start_next(&mut starts);
        starts
    }

    fn finish(reads: &mut UnderWay, start: Start) -> Vec<Id> {
        let mut wanted = Vec::new();
        reads.finish(start.tag, &mut wanted);
        wanted
    }

    #[test]
    fn the_queue_is_kept_full_and_no_fuller() {
        let mut reads = UnderWay::new(10, 2);
        (0..5).for_each(|n| reads.enqueue(asked(n * 10, 10), &[n as Id]));
        let first = starts(&mut reads);
        assert_eq!(first.len(), 2);
        assert!(starts(&mut reads).is_empty());
        assert_eq!(finish(&mut reads, first[0]), [0]);
        assert_eq!(starts(&mut reads)[0].extent, extent(20, 10));
        assert!(starts(&mut reads).is_empty());
    }

    #[test]
    fn a_waiting_demand_pulls_its_read_out_of_the_line() {
        let mut reads = UnderWay::new(10, 1);
        reads.enqueue(asked(0, 10), &[0]);
        reads.enqueue(asked(10, 10), &[1]);
        starts(&mut reads);
        assert_eq!(reads.join(7, extent(12, 9)), None, "ends outside");
        let tag = reads.join(7, extent(12, 3)).unwrap();
        let start = reads.hurry(tag).unwrap();
        assert!(reads.hurry(tag).is_none(), "already on its way");
        assert_eq!(finish(&mut reads, start), [1, 7]);
    }

    #[test]
    fn what_goes_to_the_head_of_the_line_is_the_next_to_start() {
        let mut reads = UnderWay::new(10, 1);
        (0..4).for_each(|n| reads.enqueue(asked(n * 10, 10), &[n as Id]));
        let first = starts(&mut reads)[0];
        for extent in [first.extent, extent(32, 5), extent(90, 1)] {
            reads.put_first(extent);
        }
        finish(&mut reads, first);
        let mut order = Vec::new();
        while let [start] = starts(&mut reads)[..] {
            order.extend(finish(&mut reads, start));
        }
        assert_eq!(order, [3, 1, 2]);
    }

    #[test]
    fn what_is_read_again_stands_first_in_line() {
        let mut reads = UnderWay::new(10, 1);
        let joined = reads.demand(asked(0, 30), 0);
        reads.enqueue(asked(30, 10), &[2]);
        finish(&mut reads, joined);
        reads.enqueue_first(asked(10, 10), 1);
        reads.enqueue_first(asked(0, 10), 0);
        let mut order = Vec::new();
        while let [start] = starts(&mut reads)[..] {
            order.push((start.extent, finish(&mut reads, start)));
        }
        let expected =
            [(extent(0, 10), vec![0]), (extent(10, 10), vec![1]), (extent(30, 10), vec![2])];
        assert_eq!(order, expected);
    }

    #[test]
    fn only_what_is_in_line_and_unwanted_is_cancelled() {
        let mut reads = UnderWay::new(10, 1);
        reads.enqueue(asked(0, 10), &[0]);
        reads.enqueue(asked(10, 10), &[1, 2]);
        reads.enqueue(asked(20, 10), &[3]);
        let started = starts(&mut reads);
        reads.cancel(|id| id != 2);
        assert_eq!(finish(&mut reads, started[0]), [0]);
        let rest = starts(&mut reads);
        assert_eq!(rest.len(), 1);
        assert_eq!(finish(&mut reads, rest[0]), [2]);
        assert!(reads.join(3, extent(20, 1)).is_none());
    }

    #[test]
    fn only_the_entry_of_a_large_read_joins_it() {
        let mut reads = UnderWay::new(10, 4);
        let large = extent(4096, READ_BYTES_MAX + 4096);
        let offered = extent(5000, READ_BYTES_MAX);
        let start = reads.demand(Asked { extent: large, offered, block_bytes: READ_BYTES_MAX }, 3);
        assert_eq!((start.extent, start.alone), (large, Some(3)));
        assert_eq!(reads.join(2, extent(4500, 400)), None, "it lies in the first page");
        assert_eq!(reads.join(4, offered), Some(start.tag));
        assert_eq!(reads.demand(asked(0, 4096), 1).alone, None);
    }

    #[test]
    fn of_reads_that_overlap_the_one_that_begins_last_is_joined() {
        let mut reads = UnderWay::new(10, 4);
        let wide = reads.demand(asked(0, 100), 0);
        let narrow = reads.demand(asked(40, 20), 1);
        assert_eq!(reads.join(2, extent(45, 10)), Some(narrow.tag));
        assert_eq!(reads.join(3, extent(10, 10)), Some(wide.tag));
        assert!(!reads.covers(extent(45, 30)), "only the last is tried");
        finish(&mut reads, narrow);
        assert!(reads.covers(extent(45, 30)));
    }
}
