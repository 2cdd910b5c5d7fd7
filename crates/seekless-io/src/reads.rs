//! Reads between plan and completion. Reads planned ahead wait in a queue of our own, and no more
//! are started than the device serves at once. So a demand read never waits behind all of them.

use crate::read_cache::ReadData;
use seekless_policy::eviction::Id;
use seekless_policy::extents::Extent;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// Reads up to this size are one request to a device: 254 pages. A virtio disk takes as many pieces
/// of memory in one request (`max_segments` in /sys/block/*/queue), and the pages of a buffer are
/// seldom neighbours in memory. Linux cuts a direct read into 256 pages and each of these into 254
/// and 2, which a volume counts as two requests; larger reads cost two for each MiB.
pub(crate) const READ_BYTES_MAX: u64 = 254 * 4096;

/// Where the bytes come from.
pub(crate) enum Source {
    Device,
    /// Already read; only to be decoded.
    Held(Arc<ReadData>),
}

/// One read, and the entries that are to be decoded from it.
pub(crate) struct Pending {
    pub(crate) extent: Extent,
    pub(crate) wanted: Vec<Id>,
    pub(crate) source: Source,
}

/// A read to be submitted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) tag: u64,
    pub(crate) extent: Extent,
}

/// All reads that have not ended.
pub(crate) struct Reads {
    depth: usize,
    next_tag: u64,
    in_flight: usize,
    pending: HashMap<u64, Pending>,
    /// (offset, tag) of the reads from the device, to find the one that covers an entry.
    by_offset: BTreeSet<(u64, u64)>,
    queue: VecDeque<u64>,
}

impl Reads {
    /// No reads yet. Of those planned ahead, `depth` may be in flight at once.
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            depth,
            next_tag: 0,
            in_flight: 0,
            pending: HashMap::new(),
            by_offset: BTreeSet::new(),
            queue: VecDeque::new(),
        }
    }

    /// A read that is to start at once.
    pub(crate) fn demand(&mut self, extent: Extent, wanted: Vec<Id>) -> Start {
        let tag = self.add(Pending { extent, wanted, source: Source::Device });
        self.in_flight += 1;
        Start { tag, extent }
    }

    /// A read that waits for its turn.
    pub(crate) fn enqueue(&mut self, extent: Extent, wanted: Vec<Id>) {
        let tag = self.add(Pending { extent, wanted, source: Source::Device });
        self.queue.push_back(tag);
    }

    /// Queues a read of each entry alone, before all queued reads: for entries that a read did not
    /// bring.
    pub(crate) fn enqueue_alone(&mut self, entries: impl DoubleEndedIterator<Item = (Id, Extent)>) {
        for (id, extent) in entries.rev() {
            let tag = self.add(Pending { extent, wanted: vec![id], source: Source::Device });
            self.queue.push_front(tag);
        }
    }

    /// Adds a decode of entry `id` from a read that has ended. Returns the tag under which a worker
    /// finds it.
    pub(crate) fn decode(&mut self, read: Arc<ReadData>, id: Id) -> u64 {
        self.add(Pending { extent: read.extent(), wanted: vec![id], source: Source::Held(read) })
    }

    fn add(&mut self, pending: Pending) -> u64 {
        let tag = self.next_tag;
        self.next_tag += 1;
        if matches!(pending.source, Source::Device) {
            self.by_offset.insert((pending.extent.offset, tag));
        }
        self.pending.insert(tag, pending);
        tag
    }

    /// The read that covers `extent`. Where several overlap, only the one with the highest offset
    /// is tried.
    fn covering(&self, extent: Extent) -> Option<u64> {
        let &(_, tag) = self.by_offset.range(..=(extent.offset, u64::MAX)).next_back()?;
        self.pending.get(&tag)?.extent.covers(extent).then_some(tag)
    }

    /// Whether a read covers `extent`, as far as [`Reads::join`] would find it.
    pub(crate) fn covers(&self, extent: Extent) -> bool {
        self.covering(extent).is_some()
    }

    /// Adds `id`, which lies at `extent`, to a read that covers it; returns that read's tag.
    pub(crate) fn join(&mut self, id: Id, extent: Extent) -> Option<u64> {
        let tag = self.covering(extent)?;
        self.pending.get_mut(&tag)?.wanted.push(id);
        Some(tag)
    }

    /// A caller waits for the entry at `extent`: its read leaves the queue and starts.
    pub(crate) fn hurry_covering(&mut self, extent: Extent) -> Option<Start> {
        self.hurry(self.covering(extent)?)
    }

    /// A caller waits for this read: it leaves the queue and starts, if it has not started.
    pub(crate) fn hurry(&mut self, tag: u64) -> Option<Start> {
        let at = self.queue.iter().position(|&queued| queued == tag)?;
        self.queue.remove(at);
        self.in_flight += 1;
        Some(Start { tag, extent: self.pending.get(&tag)?.extent })
    }

    /// The reads whose turn has come.
    pub(crate) fn start_next(&mut self) -> Vec<Start> {
        let mut starts = Vec::new();
        while self.in_flight < self.depth
            && let Some(tag) = self.queue.pop_front()
        {
            if let Some(pending) = self.pending.get(&tag) {
                self.in_flight += 1;
                starts.push(Start { tag, extent: pending.extent });
            }
        }
        starts
    }

    /// A read has ended.
    pub(crate) fn finish(&mut self, tag: u64) -> Option<Pending> {
        let pending = self.pending.remove(&tag)?;
        if matches!(pending.source, Source::Device) {
            self.by_offset.remove(&(pending.extent.offset, tag));
            self.in_flight -= 1;
        }
        Some(pending)
    }

    /// Removes from the queued reads the entries for which `unwanted` is true, and reads that hold
    /// no others.
    pub(crate) fn cancel(&mut self, mut unwanted: impl FnMut(Id) -> bool) {
        let Self { queue, pending, by_offset, .. } = self;
        queue.retain(|tag| {
            let Some(read) = pending.get_mut(tag) else { return false };
            read.wanted.retain(|&id| !unwanted(id));
            if read.wanted.is_empty() {
                by_offset.remove(&(read.extent.offset, *tag));
                pending.remove(tag);
                return false;
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(offset: u64, bytes: u64) -> Extent {
        Extent { offset, bytes }
    }

    #[test]
    fn the_queue_is_kept_full_and_no_fuller() {
        let mut reads = Reads::new(2);
        (0..5).for_each(|n| reads.enqueue(extent(n * 10, 10), vec![n as Id]));
        let first = reads.start_next();
        assert_eq!(first.len(), 2);
        assert!(reads.start_next().is_empty());
        assert_eq!(reads.finish(first[0].tag).unwrap().wanted, [0]);
        assert_eq!(reads.start_next(), [Start { tag: 2, extent: extent(20, 10) }]);
    }

    #[test]
    fn a_waiting_demand_pulls_its_read_out_of_the_line() {
        let mut reads = Reads::new(1);
        reads.enqueue(extent(0, 10), vec![0]);
        reads.enqueue(extent(10, 10), vec![1]);
        reads.start_next();
        assert_eq!(reads.join(7, extent(12, 9)), None, "ends outside");
        let tag = reads.join(7, extent(12, 3)).unwrap();
        assert!(reads.hurry(tag).is_some());
        assert!(reads.hurry(tag).is_none(), "already on its way");
        assert_eq!(reads.finish(tag).unwrap().wanted, [1, 7]);
    }

    #[test]
    fn what_is_read_again_stands_first_in_line_each_entry_alone() {
        let mut reads = Reads::new(1);
        let joined = reads.demand(extent(0, 30), vec![0, 1]);
        reads.enqueue(extent(30, 10), vec![2]);
        reads.finish(joined.tag).unwrap();
        reads.enqueue_alone([(0, extent(0, 10)), (1, extent(10, 10))].into_iter());
        let mut order = Vec::new();
        while let [start] = reads.start_next()[..] {
            order.push((start.extent, reads.finish(start.tag).unwrap().wanted));
        }
        let expected =
            [(extent(0, 10), vec![0]), (extent(10, 10), vec![1]), (extent(30, 10), vec![2])];
        assert_eq!(order, expected);
    }

    #[test]
    fn only_what_is_in_line_and_unwanted_is_cancelled() {
        let mut reads = Reads::new(1);
        reads.enqueue(extent(0, 10), vec![0]);
        reads.enqueue(extent(10, 10), vec![1, 2]);
        reads.enqueue(extent(20, 10), vec![3]);
        let started = reads.start_next();
        reads.cancel(|id| id != 2);
        assert_eq!(reads.finish(started[0].tag).unwrap().wanted, [0]);
        let rest = reads.start_next();
        assert_eq!(rest.len(), 1);
        assert_eq!(reads.finish(rest[0].tag).unwrap().wanted, [2]);
        assert!(reads.join(3, extent(20, 1)).is_none());
    }
}
