//! The bytes of reads, kept so that entries read ahead with a requested one cost no second request.

use seekless_engine::AlignedBuf;
use seekless_policy::eviction::Id;
use seekless_policy::extents::Extent;
use seekless_policy::kept_reads::{Found, KeptReads, Slot};
use std::ops::Range;
use std::sync::Arc;

/// The bytes that one read brought, as the device gave them.
pub(crate) struct ReadData {
    offset: u64,
    buffer: AlignedBuf,
}

impl ReadData {
    pub(crate) fn new(offset: u64, buffer: AlignedBuf) -> Self {
        Self { offset, buffer }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    pub(crate) fn into_buffer(self) -> AlignedBuf {
        self.buffer
    }

    /// The extent that was read; shorter than asked for if the file ended or the read failed.
    pub(crate) fn extent(&self) -> Extent {
        Extent { offset: self.offset, bytes: self.buffer.len() as u64 }
    }

    /// Where `extent` lies in [`ReadData::bytes`]. The error is the number of its bytes that are
    /// here, at most.
    pub(crate) fn range(&self, extent: Extent) -> Result<Range<usize>, u64> {
        let held = self.extent();
        if extent.offset < held.offset {
            return Err(0);
        }
        if extent.end() > held.end() {
            return Err(held.end().saturating_sub(extent.offset));
        }
        let start = (extent.offset - held.offset) as usize;
        Ok(start..start + extent.bytes as usize)
    }
}

/// The bytes of the reads that [`KeptReads`] decides to keep.
pub(crate) struct ReadCache {
    decisions: KeptReads,
    /// By slot.
    reads: Vec<Option<Arc<ReadData>>>,
}

impl ReadCache {
    /// Keeps no read yet, and later at most `capacity` bytes; for an archive of `entries` entries.
    pub(crate) fn new(capacity: u64, entries: u32) -> Self {
        let mut decisions = KeptReads::new(capacity);
        decisions.grow(entries);
        Self { decisions, reads: Vec::new() }
    }

    /// Keeps a read that holds `unused`, entries that have not been requested, if the policy
    /// decides so. Adds the reads that are kept no longer to `released`.
    pub(crate) fn insert(
        &mut self,
        read: &Arc<ReadData>,
        unused: &[Id],
        released: &mut Vec<Arc<ReadData>>,
    ) {
        let Self { decisions, reads } = self;
        let dropped = |slot: Slot| released.extend(reads[slot as usize].take());
        let Some(slot) = decisions.insert(read.extent().bytes, unused, dropped) else { return };
        if slot as usize == reads.len() {
            reads.push(None);
        }
        reads[slot as usize] = Some(read.clone());
    }

    /// Whether entry `id` was read ahead and has not been requested since.
    pub(crate) fn has(&self, id: Id) -> bool {
        self.decisions.has(id)
    }

    /// The read that holds all of entry `id`, if it was read ahead and has not been requested
    /// since.
    pub(crate) fn take(&mut self, id: Id) -> Option<Arc<ReadData>> {
        match self.decisions.take(id)? {
            Found::Kept(slot) => self.reads[slot as usize].clone(),
            Found::Last(slot) => self.reads[slot as usize].take(),
        }
    }

    #[cfg(test)]
    fn bytes(&self) -> u64 {
        self.decisions.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(offset: u64, bytes: usize) -> Arc<ReadData> {
        let mut buffer = AlignedBuf::with_capacity(bytes);
        buffer.set_len(bytes);
        Arc::new(ReadData::new(offset, buffer))
    }

    #[test]
    fn an_extent_goes_when_its_last_unused_entry_was_asked_for() {
        let mut cache = ReadCache::new(100, 10);
        cache.insert(&read(0, 60), &[4, 5], &mut Vec::new());
        assert!(cache.take(6).is_none());
        assert!(cache.take(4).is_some());
        assert!(cache.take(4).is_none(), "asked for once: the file cache has it now");
        assert_eq!(cache.bytes(), 60);
        assert!(cache.take(5).is_some());
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn the_least_recently_used_extent_makes_room() {
        let mut cache = ReadCache::new(100, 10);
        let mut released = Vec::new();
        cache.insert(&read(0, 40), &[0, 1], &mut released);
        cache.insert(&read(40, 40), &[2, 3], &mut released);
        assert!(cache.take(0).is_some());
        cache.insert(&read(80, 40), &[4], &mut released);
        assert_eq!(released.len(), 1);
        assert!(cache.take(2).is_none() && cache.take(1).is_some() && cache.take(4).is_some());
        cache.insert(&read(0, 101), &[9], &mut released);
        assert!(cache.take(9).is_none(), "larger than the cache");
    }

    #[test]
    fn what_is_read_again_is_served_from_the_newer_extent() {
        let mut cache = ReadCache::new(100, 10);
        let (old, new) = (read(0, 40), read(20, 40));
        cache.insert(&old, &[1, 2], &mut Vec::new());
        cache.insert(&new, &[2, 3], &mut Vec::new());
        assert!(cache.take(2).is_some_and(|found| Arc::ptr_eq(&found, &new)));
        assert!(cache.has(1) && !cache.has(2) && cache.has(3));
        assert!(cache.take(1).is_some_and(|found| Arc::ptr_eq(&found, &old)));
        assert_eq!(cache.bytes(), 40);
    }

    #[test]
    fn a_range_outside_says_how_much_is_here() {
        let read = read(100, 50);
        assert_eq!(read.range(Extent { offset: 110, bytes: 5 }), Ok(10..15));
        assert_eq!(read.range(Extent { offset: 140, bytes: 20 }), Err(10));
        assert_eq!(read.range(Extent { offset: 90, bytes: 20 }), Err(0));
    }
}
