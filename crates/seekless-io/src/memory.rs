//! The memory of a store: one region of addresses for the decoded files and for the reads, placed
//! by the allocator of `seekless-policy`, and a bound on what they hold together.

use crate::buffer::Buffer;
use crate::lock;
use seekless_engine::{
    AlignedBuf, Ask, Budget, GRANULE_BYTES, Piece, Placement, Refusal, Region, RegionBytes,
    WeakRegion,
};
use seekless_policy::cache::allocator::{Allocator, Lifetime, Place};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Addresses for each byte of the cache: so a large file hardly ever lacks a place in one piece.
/// Only what is used takes memory.
const ADDRESS_SPACE: u64 = 4;

/// Bounds of the addresses that are reserved at once. The tables of a region take a 500th of what
/// is ever used of it.
const REGION_BYTES: std::ops::RangeInclusive<u64> = 64 << 20..=8 << 30;

/// The unit of physical memory, and of what the processor protects.
const PAGE_BYTES: usize = 4096;

/// Files below this lie at the one end of the region and others at its other end, so that a small
/// file, which a policy often keeps for longer, does not part the room of large ones.
const SMALL_BYTES: usize = 64 << 10;

/// Waste that costs no file its place, beside a sixteenth of the cache: what a region keeps for the
/// next buffer, and the last pages of reads.
const WASTE_BYTES: u64 = 3 << 20;

pub(crate) struct Memory {
    main: Region,
    region_bytes: usize,
    /// Regions for what finds no place in the main one. Each goes with its last buffer.
    others: Mutex<Vec<WeakRegion>>,
    budget: Arc<Budget>,
    kept_bytes: u64,
    beyond_bytes: u64,
    waste_max: u64,
    protect: bool,
    copied: AtomicU64,
}

/// What a store's memory holds now, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryBytes {
    pub(crate) held: u64,
    pub(crate) resident: u64,
    pub(crate) waste: u64,
}

impl Memory {
    /// The memory of a store that keeps `kept_bytes` at rest, and holds `beyond_bytes` more at
    /// most.
    pub(crate) fn new(kept_bytes: u64, beyond_bytes: u64, protect: bool) -> io::Result<Self> {
        let (least, most) = REGION_BYTES.into_inner();
        let wanted = kept_bytes.saturating_mul(ADDRESS_SPACE).clamp(least, most);
        let budget = Budget::new(kept_bytes.saturating_add(beyond_bytes));
        // Under a limit of addresses, a smaller region is better than none.
        let sizes = std::iter::successors(Some(wanted), |bytes| Some(bytes / 2));
        let mut refused = io::Error::from(io::ErrorKind::OutOfMemory);
        for bytes in sizes.take_while(|&bytes| bytes >= least / 16) {
            match region(bytes as usize, &budget) {
                Ok(main) => {
                    let (region_bytes, others) = (bytes as usize, Mutex::default());
                    let waste_max = kept_bytes / 16 + WASTE_BYTES;
                    let copied = AtomicU64::new(0);
                    return Ok(Self {
                        main,
                        region_bytes,
                        others,
                        budget,
                        kept_bytes,
                        beyond_bytes,
                        waste_max,
                        protect,
                        copied,
                    });
                }
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// The bytes that the store keeps at rest, as given to the builder.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// What a list of loads may run ahead at most, in bytes, so that none of them lacks memory
    /// while the program holds no more than a file.
    pub(crate) fn window_max(&self) -> u64 {
        self.beyond_bytes / 2
    }

    /// Memory for the content of a file.
    pub(crate) fn content(&self, bytes: usize, long_lived: bool) -> io::Result<Piece> {
        let long_lived = long_lived || bytes < SMALL_BYTES;
        self.take(Ask { bytes, alignment: self.alignment(), long_lived })
    }

    /// A buffer of its own with these bytes.
    pub(crate) fn copy_of(&self, bytes: &[u8], long_lived: bool) -> io::Result<Buffer> {
        let mut content = self.content(bytes.len(), long_lived)?;
        content.copy_from_slice(bytes);
        self.note_copy(bytes.len());
        Ok(Buffer::new(content.freeze(self.protect)))
    }

    /// `bytes` bytes of stored content were copied from where the device put them.
    pub(crate) fn note_copy(&self, bytes: usize) {
        self.copied.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// All that was noted.
    pub(crate) fn copied_bytes(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// A buffer for a read.
    pub(crate) fn read_buffer(&self, bytes: u64) -> io::Result<AlignedBuf> {
        self.read_piece(bytes).map(AlignedBuf::from)
    }

    /// Memory for a read, which may be made in several parts.
    pub(crate) fn read_piece(&self, bytes: u64) -> io::Result<Piece> {
        let bytes = usize::try_from(bytes).map_err(|_| no_memory())?;
        self.take(Ask { bytes, alignment: PAGE_BYTES, long_lived: false })
    }

    /// Of the content of files. Protected content has its pages to itself.
    fn alignment(&self) -> usize {
        if self.protect { PAGE_BYTES } else { GRANULE_BYTES }
    }

    /// Whether content becomes read-only for the processor too.
    pub(crate) fn protects(&self) -> bool {
        self.protect
    }

    fn take(&self, ask: Ask) -> io::Result<Piece> {
        match self.main.take(ask) {
            Err(Refusal::Room) => self.take_beside(ask),
            taken => taken.map_err(|refusal| self.refused(ask, refusal)),
        }
    }

    fn take_beside(&self, ask: Ask) -> io::Result<Piece> {
        let mut others = lock(&self.others);
        others.retain(|region| region.upgrade().is_some());
        for region in others.iter().filter_map(WeakRegion::upgrade) {
            match region.take(ask) {
                Err(Refusal::Room) => {}
                taken => return taken.map_err(|refusal| self.refused(ask, refusal)),
            }
        }
        let needed = ask.bytes.checked_next_multiple_of(PAGE_BYTES).ok_or_else(no_memory)?;
        let bytes = self.region_bytes.max(needed);
        let region = region(bytes, &self.budget).map_err(|_| no_memory())?;
        others.push(region.downgrade());
        region.take(ask).map_err(|refusal| self.refused(ask, refusal))
    }

    fn refused(&self, ask: Ask, refusal: Refusal) -> io::Error {
        let Refusal::Budget { held, limit } = refusal else { return no_memory() };
        let message = format!(
            "it needs {} bytes, and {held} of the {limit} bytes that the store may hold are in use; \
             drop buffers that are no longer needed, or raise beyond_cache",
            ask.bytes
        );
        io::Error::new(io::ErrorKind::OutOfMemory, message)
    }

    /// Whether `pointer` points into memory of this store.
    pub(crate) fn contains(&self, pointer: *const u8) -> bool {
        self.regions().iter().any(|region| region.contains(pointer))
    }

    pub(crate) fn bytes(&self) -> MemoryBytes {
        let sum = |sum: RegionBytes, region: &Region| {
            let RegionBytes { asked, resident } = region.bytes();
            RegionBytes { asked: sum.asked + asked, resident: sum.resident + resident }
        };
        let RegionBytes { asked, resident } =
            self.regions().iter().fold(RegionBytes::default(), sum);
        let waste = resident.saturating_sub(asked);
        MemoryBytes { held: self.budget.held(), resident, waste }
    }

    /// Whether more memory is lost between buffers than the cache should tolerate.
    pub(crate) fn is_wasteful(&self) -> bool {
        let RegionBytes { asked, resident } = self.main.bytes();
        resident.saturating_sub(asked) > self.waste_max
    }

    fn regions(&self) -> Vec<Region> {
        let others = lock(&self.others);
        others.iter().filter_map(WeakRegion::upgrade).chain([self.main.clone()]).collect()
    }
}

fn no_memory() -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, "there is no memory for it")
}

fn region(bytes: usize, budget: &Arc<Budget>) -> io::Result<Region> {
    let places = Allocator::new(bytes as u64, GRANULE_BYTES as u64, PAGE_BYTES as u64);
    Region::new(bytes, Box::new(Places(places)), budget.clone())
}

/// The decisions of the allocator, for a region.
struct Places(Allocator);

impl Placement for Places {
    fn place(&mut self, ask: &Ask) -> Option<usize> {
        let lifetime = if ask.long_lived { Lifetime::Long } else { Lifetime::Short };
        let place = self.0.allocate(ask.bytes as u64, ask.alignment as u64, lifetime)?;
        Some(place.offset as usize)
    }

    fn free(&mut self, offset: usize, bytes: usize) {
        self.0.free(Place { offset: offset as u64, bytes: bytes as u64 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_finds_no_place_lies_in_a_region_that_goes_with_it() {
        let memory = Memory::new(MIB, 1 << 40, false).unwrap();
        let giant = memory.content(100 << 20, false).unwrap();
        let beside = memory.content(1000, false).unwrap();
        assert!(memory.contains(giant.as_ptr()) && memory.contains(beside.as_ptr()));
        assert_eq!((memory.regions().len(), memory.bytes().held), (2, (100 << 20) + 1024));
        let address = giant.as_ptr();
        drop(giant);
        assert!(!memory.contains(address));
        assert_eq!(memory.bytes().held, 1024);
    }

    #[test]
    fn the_bound_is_refused_in_words() {
        let memory = Memory::new(MIB, MIB, false).unwrap();
        let first = memory.read_buffer(MIB + 1).unwrap();
        let error = memory.content(1 << 20, false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(
            error.to_string(),
            "it needs 1048576 bytes, and 1048640 of the 2097152 bytes that the store may hold are \
             in use; drop buffers that are no longer needed, or raise beyond_cache"
        );
        drop(first);
        assert!(memory.content(1 << 20, false).is_ok());
    }

    #[test]
    fn long_lives_lie_apart() {
        let memory = Memory::new(64 * MIB, MIB << 10, false).unwrap();
        let ask = |long| memory.content(100_000, long).unwrap();
        let (first, long, second) = (ask(false), ask(true), ask(false));
        let at = |piece: &Piece| piece.as_ptr() as usize;
        assert!(at(&second) - at(&first) < 200_000);
        assert!(at(&long) - at(&second) > 200 << 20);
        assert!([at(&first), at(&long)].iter().all(|address| address.is_multiple_of(64)));
    }
}
