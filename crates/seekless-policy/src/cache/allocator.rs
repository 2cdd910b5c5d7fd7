//! Where the bytes of each file lie in one region of memory: the file-buffer allocator of
//! Wassenberg 2006, section 3.5.1. Here are its decisions, as offsets into the region; the memory
//! itself belongs to the owner.
//!
//! - **Idea:** nothing is written into the region, so a buffer may begin where a device demands it.
//!   The owner knows the [`Place`] of each buffer and gives it back; what a header would have said
//!   is in the place, and what is free is known outside the region. Memory that was never used goes
//!   first, since that splits fewer free blocks. Then the smallest class of free blocks that fits
//!   gives its block with the lowest address (*address-ordered good fit*). A freed block is joined
//!   with its free neighbours at once.
//! - **Address space:** the region may be several times as large as what its places hold together,
//!   since memory that no place touches can go back to the operating system by the page. A region
//!   of just the cache's size leaves a fifth to a half of it unused, because a large file needs one
//!   piece; [`Account::resident_bytes`] is what the memory really takes.
//! - **Lifetimes:** buffers that will stay lie at the upper end of the region, all others at its
//!   lower end, so that a long life does not pin the middle.
//! - **Cost:** O(log n) in the number of free blocks.
//! - **Memory:** about 40 bytes a free block; none for a buffer.
//!
//! ```
//! use seekless_policy::cache::allocator::{Allocator, Lifetime};
//!
//! let mut region = Allocator::new(1 << 20, 64, 4096);
//! let wall = region.allocate(1000, 64, Lifetime::Short).unwrap();
//! let door = region.allocate(10, 4096, Lifetime::Short).unwrap();
//! assert_eq!((wall.offset, wall.bytes), (0, 1024));
//! assert_eq!((door.offset, door.bytes), (4096, 64));
//! assert_eq!(region.account().resident_bytes, 8192);
//! assert_eq!(region.free(wall), 0..4096);
//! assert_eq!(region.account().used_bytes, 64);
//! ```

mod blocks;
#[cfg(test)]
mod tests;

use blocks::{Block, Blocks};
use std::ops::Range;

/// A part of the region, from [`Allocator::allocate`] until [`Allocator::free`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Bytes from the start of the region.
    pub offset: u64,
    /// What was asked for, rounded up to the granule.
    pub bytes: u64,
}

/// How long a buffer is expected to stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// As long as a cache happens to keep it.
    #[default]
    Short,
    /// Until the program ends or nearly so.
    Long,
}

/// What a region holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Bytes of all places, each rounded up to the granule.
    pub used_bytes: u64,
    /// All pages that a place touches.
    pub resident_bytes: u64,
    /// The region without the places.
    pub free_bytes: u64,
    /// The largest part of it that is in one piece.
    pub largest_free_bytes: u64,
    /// In how many pieces it lies.
    pub free_blocks: u64,
}

/// Which parts of a region are free.
#[derive(Clone, Debug)]
pub struct Allocator {
    granule: u64,
    /// In granules, as everything below.
    page: u32,
    size: u32,
    /// What was never used. Empty once a request did not fit in it.
    fresh: Block,
    free: Blocks,
    used: u32,
    /// What the pages take that a place touches.
    resident: u32,
}

impl Allocator {
    /// A region of `bytes` bytes, all free. Places begin at multiples of `granule` bytes, a power
    /// of two, and are as long; what is left over at the end is not used. Memory goes back to the
    /// operating system in units of `page` bytes, a multiple of the granule.
    ///
    /// # Panics
    /// If a size is not as said, or the region has 2^32 granules or more.
    #[must_use]
    pub fn new(bytes: u64, granule: u64, page: u64) -> Self {
        assert!(granule.is_power_of_two(), "a granule of {granule} bytes is no power of two");
        assert!(page.is_power_of_two() && page >= granule, "a page of {page} bytes");
        let size = u32::try_from(bytes / granule).expect("a region of less than 2^32 granules");
        let page = u32::try_from(page / granule).expect("a page of less than 2^32 granules");
        let (fresh, free) = (Block::new(0, size), Blocks::default());
        Self { granule, page, size, fresh, free, used: 0, resident: 0 }
    }

    /// A place for `bytes` bytes that begins at a multiple of `alignment`, a power of two. `None`
    /// if no free part is large enough. No bytes need no place: theirs is empty.
    pub fn allocate(&mut self, bytes: u64, alignment: u64, lifetime: Lifetime) -> Option<Place> {
        debug_assert!(alignment.is_power_of_two());
        if bytes == 0 {
            return Some(Place { offset: 0, bytes: 0 });
        }
        let request = Request {
            size: u32::try_from(bytes.div_ceil(self.granule)).ok()?,
            alignment: u32::try_from((alignment / self.granule).max(1)).ok()?,
            lifetime,
        };
        if request.size > self.size - self.used {
            return None;
        }
        let block = self.take_fresh(request).or_else(|| self.take_free(request))?;
        self.used += block.size;
        let place = self.place(block);
        debug_assert!(place.bytes >= bytes && place.offset.is_multiple_of(alignment), "{place:?}");
        debug_assert!(block.end() <= self.size && self.used <= self.resident, "{block:?}");
        Some(place)
    }

    /// Takes back a place that [`Allocator::allocate`] gave, once. Returns the offsets of the whole
    /// pages that no place touches any more: their memory may be given back.
    pub fn free(&mut self, place: Place) -> Range<u64> {
        if place.bytes == 0 {
            return 0..0;
        }
        let block = self.block(place);
        debug_assert!(!self.free.overlaps(block), "freed twice: {place:?}");
        debug_assert!(block.end() <= self.size && block.size <= self.used, "not given: {place:?}");
        self.used -= block.size;
        let whole = self.free.insert(block);
        let pages = self.pages_within(self.with_fresh(whole), block);
        debug_assert!(pages.size <= self.resident, "{pages:?} of {}", self.resident);
        self.resident -= pages.size;
        let pages = self.place(pages);
        pages.offset..pages.offset + pages.bytes
    }

    /// What the region holds now.
    #[must_use]
    pub fn account(&self) -> Account {
        let bytes = |granules: u32| u64::from(granules) * self.granule;
        Account {
            used_bytes: bytes(self.used),
            resident_bytes: bytes(self.resident),
            free_bytes: bytes(self.size - self.used),
            largest_free_bytes: bytes(self.free.largest().max(self.fresh.size)),
            free_blocks: self.free.len() as u64 + u64::from(self.fresh.size > 0),
        }
    }

    /// A place at the one end of what was never used. If it does not fit, the rest becomes an
    /// ordinary free block, which joins its neighbours.
    fn take_fresh(&mut self, request: Request) -> Option<Block> {
        if self.fresh.size == 0 {
            return None;
        }
        let whole = std::mem::take(&mut self.fresh);
        let Some(taken) = request.fit(whole) else {
            self.free.insert(whole);
            return None;
        };
        // A free block beside it may have a part of the same page.
        let free = self.free.with_neighbours(whole);
        self.resident += self.pages_within(free, taken).size;
        let (before, after) = whole.around(taken);
        let (gap, fresh) = match request.lifetime {
            Lifetime::Short => (before, after),
            Lifetime::Long => (after, before),
        };
        self.fresh = fresh;
        self.free.insert(gap);
        Some(taken)
    }

    fn take_free(&mut self, request: Request) -> Option<Block> {
        let whole = self.free.take(request)?;
        let taken = request.fit(whole)?;
        self.resident += self.pages_within(self.with_fresh(whole), taken).size;
        let (before, after) = whole.around(taken);
        self.free.insert(before);
        self.free.insert(after);
        Some(taken)
    }

    /// A free block, what was never used beside it, and the free block beyond that.
    fn with_fresh(&self, block: Block) -> Block {
        block.joined(self.fresh).map_or(block, |both| self.free.with_neighbours(both))
    }

    /// The whole pages that touch `block` and lie within the free memory `free` around it.
    fn pages_within(&self, free: Block, block: Block) -> Block {
        let (page, down) = (self.page, |at: u32| at / self.page * self.page);
        let up = |at: u32| at.checked_next_multiple_of(page).unwrap_or(u32::MAX);
        let start =
            if free.start <= down(block.start) { down(block.start) } else { up(block.start) };
        // The last page of the region may be cut short.
        let last = up(block.end()).min(self.size);
        let end = if last <= free.end() { last } else { down(block.end()) };
        Block::new(start, end.saturating_sub(start))
    }

    fn place(&self, block: Block) -> Place {
        Place {
            offset: u64::from(block.start) * self.granule,
            bytes: u64::from(block.size) * self.granule,
        }
    }

    fn block(&self, place: Place) -> Block {
        let granules = |bytes: u64| (bytes / self.granule) as u32;
        Block::new(granules(place.offset), granules(place.bytes))
    }
}

/// What is asked of a free block, in granules.
#[derive(Clone, Copy)]
struct Request {
    size: u32,
    alignment: u32,
    lifetime: Lifetime,
}

impl Request {
    /// Where in `block` it fits: at the lower end, or for a long life at the upper.
    fn fit(self, block: Block) -> Option<Block> {
        let spare = block.size.checked_sub(self.size)?;
        let start = match self.lifetime {
            Lifetime::Short => block.start.checked_next_multiple_of(self.alignment)?,
            Lifetime::Long => (block.start + spare) / self.alignment * self.alignment,
        };
        let fits = (block.start..=block.start + spare).contains(&start);
        fits.then(|| Block::new(start, self.size))
    }
}
