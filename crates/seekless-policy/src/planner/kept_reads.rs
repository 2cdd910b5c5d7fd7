//! Which reads a store keeps because they hold archive entries that have not been requested yet.
//!
//! A read brings more entries than the program asked for ([`ahead`](super::ahead)). Their bytes
//! stay in memory until they are requested or until newer reads need the room. This is the archive
//! block cache of Wassenberg 2006, section 4.3; here are its decisions, without the bytes.
//!
//! A kept read occupies only the pages that hold an entry which nothing has requested: memory is
//! given back by the page, so a page stays until the last of these entries has gone.

#[cfg(test)]
mod tests;

use crate::arrays::list::Lists;
use crate::arrays::queues::Queues;
use crate::id::Id;
use crate::layout::extents::Extent;
use std::ops::Range;
use std::sync::Arc;

/// Most reads that are kept, however small they are. Bounds the columns by slot.
pub const READS_MAX: u32 = 1024;

/// The unit in which the memory of a read is given back. A read begins at a page of memory.
pub const PAGE_BYTES: u64 = 4096;

/// The only list of [`KeptReads::order`].
const ALL: usize = 0;

/// Names a kept read: a number below [`READS_MAX`]. A slot is used again after its read is dropped.
pub type Slot = u32;

/// A kept read where an entry was found, and what this request frees of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The read.
    pub slot: Slot,
    /// The pages of it that held this entry and none that is still to be requested. They are kept
    /// no longer. It may be empty.
    pub freed: Extent,
    /// Whether the read held no further entry. Then it is dropped.
    pub is_last: bool,
}

/// What the owner of kept reads knows of their entries, and what is reported to it.
pub trait Owner {
    /// Whether `entry` is to be kept longer than what merely came with a read.
    fn expects(&self, entry: Id) -> bool;

    /// `entry` is kept no longer, and nothing has requested it.
    fn wasted(&mut self, entry: Id);

    /// These pages of an older read are kept no longer.
    fn freed(&mut self, found: Found);

    /// The read in this slot has made room.
    fn dropped(&mut self, slot: Slot);
}

/// A read that is kept.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    read: Extent,
    /// Bytes of its pages that are kept.
    bytes: u64,
    /// The round in which its turn to go came last, and only what was not expected of it has gone;
    /// 0 if there was none.
    spared_in: u32,
}

/// The most recently used reads, bounded by bytes and by number.
///
/// - **Idea:** a read is worth keeping for the entries in it that have not been requested, and
///   counts as many bytes as the pages that these lie in. A request for one of them makes the read
///   the most recently used. From then on the file cache decides about the entry, so pages and
///   reads without further entries are dropped at once. When the turn of a read to go has come, it
///   first loses only the entries that the owner does not expect, and counts as used: once in a
///   round.
/// - **Cost per request:** O(1). An insert is O(1) for each entry and for each read that it pushes
///   out.
/// - **Memory:** 12 bytes an entry of the archive and at most 52 a slot.
#[derive(Clone, Debug)]
pub struct KeptReads {
    entries: Arc<[Extent]>,
    capacity_bytes: u64,
    bytes: u64,
    /// The owner's expectations changed this often, and once more.
    round: u32,
    /// Slots in use, most recently used first.
    order: Lists<1>,
    /// The entries of each slot that have not been requested, in the order of the archive.
    unused: Queues,
    /// The read in each slot.
    held: Vec<Held>,
    /// Slots that hold no read.
    free: Vec<Slot>,
}

impl KeptReads {
    /// Keeps no read yet, and later reads of at most `capacity_bytes` together. `entries` are those
    /// of the archive, by number; none begins before the end of the one before it.
    #[must_use]
    pub fn new(entries: Arc<[Extent]>, capacity_bytes: u64) -> Self {
        let (order, mut unused) = (Lists::new(), Queues::new());
        unused.grow(entries.len() as u32);
        let (held, free) = (Vec::new(), Vec::new());
        Self { entries, capacity_bytes, bytes: 0, round: 1, order, unused, held, free }
    }

    /// `read` has ended. It holds `unused`: entries that have not been requested, in the order of
    /// the archive. Returns the slot of the read, or `None` if it is not kept: it has no such
    /// entries, or their pages are more than the capacity.
    ///
    /// An entry that an older read holds too is served from the newer read: `owner` is notified of
    /// the entries that the older one no longer keeps, and of those dropped from others to make
    /// room. The returned slot may be one that was dropped.
    pub fn insert(&mut self, read: Extent, unused: &[Id], owner: &mut impl Owner) -> Option<Slot> {
        debug_assert!(unused.is_sorted());
        let extents = unused.iter().map(|&id| self.entries[id as usize]);
        let bytes = pieces(read, extents).map(|piece| piece.bytes).sum();
        if unused.is_empty() || bytes > self.capacity_bytes {
            return None;
        }
        unused.iter().filter_map(|&entry| self.take(entry)).for_each(|found| owner.freed(found));
        let room = self.capacity_bytes - bytes;
        while self.bytes > room || self.is_full() {
            let Some(oldest) = self.order.back(ALL) else { break };
            if self.spare(oldest, owner) {
                continue;
            }
            self.unused.iter(oldest).for_each(|entry| owner.wasted(entry));
            self.drop_read(oldest);
            owner.dropped(oldest);
        }
        let slot = self.free_slot();
        self.bytes += bytes;
        debug_assert!(self.bytes <= self.capacity_bytes, "{} bytes are kept", self.bytes);
        self.held[slot as usize] = Held { read, bytes, spared_in: 0 };
        self.order.push_front(ALL, slot);
        unused.iter().for_each(|&entry| self.unused.push(slot, entry));
        Some(slot)
    }

    /// The turn of a read to go has come: drops the entries of it that the owner does not expect,
    /// if it expects others. `false` if it expects none, or if the read was spared before in this
    /// round.
    fn spare(&mut self, slot: Slot, owner: &mut impl Owner) -> bool {
        let spared_in = std::mem::replace(&mut self.held[slot as usize].spared_in, self.round);
        if spared_in == self.round || !self.unused.iter(slot).any(|entry| owner.expects(entry)) {
            return false;
        }
        let mut next = self.unused.oldest(slot);
        while let Some(entry) = next {
            next = self.unused.neighbours(entry).1;
            if !owner.expects(entry) {
                owner.wasted(entry);
                let freed = self.keep_no_longer(entry, slot);
                owner.freed(Found { slot, freed, is_last: false });
            }
        }
        self.order.move_to_front(ALL, slot);
        true
    }

    /// What the owner expects has changed: a read may be spared once more.
    pub fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1).max(1);
    }

    /// Changes the capacity. Reads that no longer fit go at the next insertion.
    pub fn set_capacity(&mut self, capacity_bytes: u64) {
        self.capacity_bytes = capacity_bytes;
    }

    /// The most bytes of all kept reads.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity_bytes
    }

    /// Whether a kept read holds `entry`, which has not been requested since.
    #[must_use]
    pub fn has(&self, entry: Id) -> bool {
        self.unused.queue_of(entry).is_some()
    }

    /// The parts of the read in a used slot that are kept, as separate pieces: its pages that hold
    /// an entry which has not been requested.
    pub fn pieces(&self, slot: Slot) -> impl Iterator<Item = Extent> + '_ {
        let entries = self.unused.iter(slot).map(|id| self.entries[id as usize]);
        pieces(self.held[slot as usize].read, entries)
    }

    /// `entry` is requested. Returns the kept read that holds it, if any. A second request finds
    /// nothing.
    pub fn take(&mut self, entry: Id) -> Option<Found> {
        let slot = self.unused.queue_of(entry)?;
        let freed = self.keep_no_longer(entry, slot);
        let is_last = self.unused.is_empty(slot);
        if is_last {
            self.drop_read(slot);
        } else {
            self.order.move_to_front(ALL, slot);
        }
        Some(Found { slot, freed, is_last })
    }

    /// Keeps `entry` no longer. Returns the pages that it had to itself in its read.
    fn keep_no_longer(&mut self, entry: Id, slot: Slot) -> Extent {
        let freed = self.only_of(entry, slot);
        self.unused.unlink(entry);
        debug_assert!(freed.bytes <= self.held[slot as usize].bytes, "{freed:?} of slot {slot}");
        self.bytes -= freed.bytes;
        self.held[slot as usize].bytes -= freed.bytes;
        freed
    }

    /// The kept pages that `entry` has to itself in its read.
    fn only_of(&self, entry: Id, slot: Slot) -> Extent {
        let read = self.held[slot as usize].read;
        let pages = |id: Id| pages(read, self.entries[id as usize]);
        let (before, after) = self.unused.neighbours(entry);
        let mut own = pages(entry);
        if let Some(before) = before {
            own.start = own.start.max(pages(before).end);
        }
        if let Some(after) = after {
            own.end = own.end.min(pages(after).start);
        }
        bytes_of(read, own)
    }

    /// Bytes that are kept of all reads.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_full(&self) -> bool {
        self.free.is_empty() && self.held.len() == READS_MAX as usize
    }

    fn free_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.held.len() as Slot;
            self.held.push(Held::default());
            self.order.grow(slot + 1);
            self.unused.grow_queues(slot + 1);
            self.free.reserve(self.held.len()); // all may be free at once
            slot
        })
    }

    fn drop_read(&mut self, slot: Slot) {
        while let Some(entry) = self.unused.oldest(slot) {
            self.unused.unlink(entry);
        }
        self.order.unlink(slot);
        self.bytes -= self.held[slot as usize].bytes;
        self.free.push(slot);
    }
}

/// The pages of a read that hold `entry`, counted from the read's first byte. An empty entry has
/// the page where it lies.
fn pages(read: Extent, entry: Extent) -> Range<u64> {
    let begin = entry.offset - read.offset;
    begin / PAGE_BYTES..(begin + entry.bytes.max(1)).div_ceil(PAGE_BYTES)
}

/// The bytes that these pages of a read have.
fn bytes_of(read: Extent, pages: Range<u64>) -> Extent {
    let at = |page: u64| (page * PAGE_BYTES).min(read.bytes);
    let (begin, end) = (at(pages.start), at(pages.end));
    Extent { offset: read.offset + begin, bytes: end.saturating_sub(begin) }
}

/// The pages of a read that hold these entries, which come in order: runs of them, as bytes.
fn pieces(read: Extent, entries: impl Iterator<Item = Extent>) -> impl Iterator<Item = Extent> {
    let mut all = entries.map(move |entry| pages(read, entry)).peekable();
    std::iter::from_fn(move || {
        let mut run = all.next()?;
        while let Some(next) = all.next_if(|next| next.start <= run.end) {
            run.end = run.end.max(next.end);
        }
        Some(bytes_of(read, run))
    })
}
