//! The bytes of the reads that the planner keeps, so that entries read ahead with a requested one
//! cost no second request. Of a read in the store's memory only the pages stay that the planner
//! keeps.

use seekless_engine::{AlignedBuf, Frozen, Part};
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::kept_reads::{Found, Slot};
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
    Part(Part),
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
            Bytes::Part(bytes) => bytes,
            Bytes::Other(bytes) => bytes,
        }
    }

    /// A part of the bytes, which keeps no more of the read than the pages that it lies in; `None`
    /// if the memory is not the store's.
    pub(crate) fn part(&self, range: Range<usize>) -> Option<Part> {
        match &self.bytes {
            Bytes::Ours(bytes) => Some(bytes.part(range)),
            Bytes::Part(bytes) => Some(bytes.part(range)),
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
pub(crate) struct ReadCache(Vec<Kept>);

/// What is kept of one read.
enum Kept {
    /// Pieces of it, by offset; none in an empty slot.
    Pieces(Vec<Piece>),
    /// All of it, until its last entry goes: its memory is not the store's.
    Whole(Arc<ReadData>),
}

/// Whole pages of a read that follow each other. The last may end with the read.
struct Piece {
    offset: u64,
    bytes: Part,
}

impl ReadCache {
    /// Keeps these pieces of a read in an empty slot.
    pub(crate) fn keep(
        &mut self,
        slot: Slot,
        read: &Arc<ReadData>,
        pieces: impl Iterator<Item = Extent>,
    ) {
        let slot = slot as usize;
        if slot >= self.0.len() {
            self.0.resize_with(slot + 1, || Kept::Pieces(Vec::new()));
        }
        self.0[slot] = match read.bytes {
            Bytes::Other(_) => Kept::Whole(read.clone()),
            _ => Kept::Pieces(pieces.filter_map(|extent| piece(read, extent)).collect()),
        };
    }

    /// Empties a slot. What it returns gives the memory back when it is dropped.
    pub(crate) fn drop(&mut self, slot: Slot) -> impl Sized + use<> {
        std::mem::replace(&mut self.0[slot as usize], Kept::Pieces(Vec::new()))
    }

    /// The bytes of `entry`, where the planner found it. They alone hold what is kept no longer.
    pub(crate) fn take(&mut self, found: Found, entry: Extent) -> Option<Arc<ReadData>> {
        let read = match &self.0[found.slot as usize] {
            Kept::Whole(read) => Some(read.clone()),
            Kept::Pieces(pieces) => {
                let piece = &pieces[holding(pieces, entry.offset)?];
                let begin = (entry.offset - piece.offset) as usize;
                let range = begin..begin + entry.bytes as usize;
                (range.end <= piece.bytes.len()).then(|| {
                    let bytes = Bytes::Part(piece.bytes.part(range));
                    Arc::new(ReadData { offset: entry.offset, bytes })
                })
            }
        };
        drop(self.free(found));
        read
    }

    /// Keeps no longer what the planner has freed. What it returns gives the memory back when it is
    /// dropped.
    pub(crate) fn free(&mut self, found: Found) -> impl Sized + use<> {
        let Found { slot, freed, is_last } = found;
        let part = match &mut self.0[slot as usize] {
            Kept::Pieces(pieces) if freed.bytes > 0 => cut(pieces, freed),
            _ => None,
        };
        (part, is_last.then(|| self.drop(slot)))
    }
}

/// A piece of a read, unless the read has no such bytes.
fn piece(read: &ReadData, extent: Extent) -> Option<Piece> {
    let bytes = read.part(read.range(extent).ok()?)?;
    Some(Piece { offset: extent.offset, bytes })
}

/// The place of the piece that holds the byte at `offset`.
fn holding(pieces: &[Piece], offset: u64) -> Option<usize> {
    pieces.partition_point(|piece| piece.offset <= offset).checked_sub(1)
}

/// Takes pages out of the piece that holds them.
fn cut(pieces: &mut Vec<Piece>, freed: Extent) -> Option<Part> {
    let place = holding(pieces, freed.offset)?;
    let Piece { offset, bytes } = &mut pieces[place];
    let mut part = bytes.split_off((freed.offset - *offset) as usize);
    let behind = part.split_off(freed.bytes as usize);
    let is_empty = bytes.is_empty();
    if !behind.is_empty() {
        pieces.insert(place + 1, Piece { offset: freed.end(), bytes: behind });
    }
    if is_empty {
        pieces.remove(place);
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    const PAGE: u64 = 4096;

    fn extent(offset: u64, bytes: u64) -> Extent {
        Extent { offset, bytes }
    }

    /// A read whose bytes are the numbers of their pages, and the memory that it lies in.
    fn ours(offset: u64, bytes: u64) -> (Arc<ReadData>, Memory) {
        let memory = Memory::new(1 << 20, 1 << 20, false).unwrap();
        let mut buffer = memory.read_buffer(bytes).unwrap();
        buffer.set_len(bytes as usize);
        buffer.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at as u64 / PAGE) as u8);
        (Arc::new(ReadData::new(offset, buffer)), memory)
    }

    #[test]
    fn what_is_freed_goes_and_what_was_handed_out_stays() {
        let (read, memory) = ours(10, 10 * PAGE + 100);
        let held = || memory.bytes().held;
        let mut cache = ReadCache::default();
        let pieces = [extent(10, 4 * PAGE), extent(10 + 6 * PAGE, 4 * PAGE + 100)];
        cache.keep(1, &read, pieces.into_iter());
        drop(read);
        assert_eq!(held(), 8 * PAGE + 128);
        let freed = extent(10 + PAGE, PAGE);
        let entry = extent(10 + PAGE - 5, PAGE + 10);
        let taken = cache.take(Found { slot: 1, freed, is_last: false }, entry).unwrap();
        assert_eq!((taken.extent(), held()), (entry, 8 * PAGE + 128), "it has all its pages");
        assert_eq!(taken.bytes()[4..6], [0, 1]);
        assert_eq!(taken.bytes()[5 + PAGE as usize], 2);
        drop(taken);
        assert_eq!(held(), 7 * PAGE + 128);
        drop(cache.free(Found { slot: 1, freed: extent(10, PAGE), is_last: false }));
        drop(cache.free(Found { slot: 1, freed: extent(10 + 6 * PAGE, PAGE), is_last: false }));
        assert_eq!(held(), 5 * PAGE + 128);
        let last = cache.take(
            Found { slot: 1, freed: extent(10 + 10 * PAGE, 100), is_last: false },
            extent(10 + 10 * PAGE, 100),
        );
        assert!(last.unwrap().bytes().iter().all(|&byte| byte == 10));
        assert_eq!(held(), 5 * PAGE);
        let copy = cache.take(
            Found { slot: 1, freed: extent(0, 0), is_last: false },
            extent(10 + 7 * PAGE, 3 * PAGE),
        );
        drop(cache.drop(1));
        assert_eq!((copy.as_ref().unwrap().bytes()[0], held()), (7, 3 * PAGE));
        drop(copy);
        assert_eq!(held(), 0);
        assert!(
            cache.take(Found { slot: 1, freed: extent(10, 5), is_last: true }, entry).is_none()
        );
    }

    #[test]
    fn memory_that_is_not_the_stores_goes_with_the_last_entry() {
        let mut cache = ReadCache::default();
        cache.keep(1, &read(0, 60), [extent(0, 60)].into_iter());
        let found = |is_last| Found { slot: 1, freed: extent(0, 60), is_last };
        assert!(cache.take(found(false), extent(0, 10)).is_some());
        assert!(cache.take(found(true), extent(10, 10)).is_some());
        assert!(cache.take(found(true), extent(10, 10)).is_none());
    }

    fn read(offset: u64, bytes: usize) -> Arc<ReadData> {
        let mut buffer = AlignedBuf::with_capacity(bytes);
        buffer.set_len(bytes);
        Arc::new(ReadData::new(offset, buffer))
    }

    #[test]
    fn a_range_outside_says_how_much_is_here() {
        let read = read(100, 50);
        assert_eq!(read.range(Extent { offset: 110, bytes: 5 }), Ok(10..15));
        assert_eq!(read.range(Extent { offset: 140, bytes: 20 }), Err(10));
        assert_eq!(read.range(Extent { offset: 90, bytes: 20 }), Err(0));
    }
}
