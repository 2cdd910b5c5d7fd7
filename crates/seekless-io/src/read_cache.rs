//! The bytes of the reads that the planner keeps, so that entries read ahead with a requested one
//! cost no second request.

use seekless_engine::{AlignedBuf, Frozen, Part};
use seekless_policy::extents::Extent;
use seekless_policy::kept_reads::{Found, Slot};
use std::ops::Range;
use std::sync::Arc;

/// The bytes that one read brought, as the device gave them.
pub(crate) struct ReadData {
    offset: u64,
    bytes: Bytes,
}

/// The memory of a read. An engine may give back a buffer that is not the store's.
enum Bytes {
    Ours(Frozen),
    Other(AlignedBuf),
}

impl ReadData {
    pub(crate) fn new(offset: u64, buffer: AlignedBuf) -> Self {
        let ours = |piece: seekless_engine::Piece| Bytes::Ours(piece.freeze(false));
        Self { offset, bytes: buffer.into_piece().map_or_else(Bytes::Other, ours) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Ours(bytes) => bytes,
            Bytes::Other(bytes) => bytes,
        }
    }

    /// A part of the bytes, which keeps no more of the read than the pages that it lies in; `None`
    /// if the memory is not the store's.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Part> {
        match &self.bytes {
            Bytes::Ours(bytes) => Some(bytes.part(range)),
            Bytes::Other(_) => None,
        }
    }

    /// The extent that was read; shorter than asked for if the file ended or the read failed.
    pub(crate) fn extent(&self) -> Extent {
        Extent { offset: self.offset, bytes: self.bytes().len() as u64 }
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

/// The bytes of the reads that the planner keeps, by slot.
#[derive(Default)]
pub(crate) struct ReadCache(Vec<Option<Arc<ReadData>>>);

impl ReadCache {
    /// Keeps a read in an empty slot.
    pub(crate) fn keep(&mut self, slot: Slot, read: Arc<ReadData>) {
        let slot = slot as usize;
        if slot >= self.0.len() {
            self.0.resize(slot + 1, None);
        }
        self.0[slot] = Some(read);
    }

    /// Empties a slot.
    pub(crate) fn drop(&mut self, slot: Slot) -> Option<Arc<ReadData>> {
        self.0[slot as usize].take()
    }

    /// The read where the planner found an entry.
    pub(crate) fn take(&mut self, found: Found) -> Option<Arc<ReadData>> {
        match found {
            Found::Kept(slot) => self.0[slot as usize].clone(),
            Found::Last(slot) => self.drop(slot),
        }
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
    fn a_read_goes_with_its_last_entry() {
        let mut cache = ReadCache::default();
        cache.keep(1, read(0, 60));
        assert!(cache.take(Found::Kept(1)).is_some());
        assert!(cache.take(Found::Last(1)).is_some());
        assert!(cache.drop(1).is_none());
    }

    #[test]
    fn a_range_outside_says_how_much_is_here() {
        let read = read(100, 50);
        assert_eq!(read.range(Extent { offset: 110, bytes: 5 }), Ok(10..15));
        assert_eq!(read.range(Extent { offset: 140, bytes: 20 }), Err(10));
        assert_eq!(read.range(Extent { offset: 90, bytes: 20 }), Err(0));
    }
}
