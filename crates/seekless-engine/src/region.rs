//! Buffers in one reserved range of addresses. Physical memory is taken by the page as buffers are
//! written, and given back as they are dropped.
//!
//! Where a buffer lies is decided elsewhere ([`Placement`]). A table of what is handed out checks
//! every such decision, so two buffers never share a byte.

mod claims;
mod frozen;
mod lent;
mod shared;
mod sync;

pub use frozen::{Frozen, Part};
pub use shared::{BytesLender, SharedBytes, WeakBytes};

use crate::{ALIGNMENT, AlignedBuf};
use claims::Claims;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};
use rustix::mm::{madvise, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Buffers of a region begin at multiples of this many bytes, and take as many: a cache line.
pub const GRANULE_BYTES: usize = 64;

/// The unit in which memory is given back to the system and protected.
const PAGE_BYTES: usize = ALIGNMENT;

/// Most memory that no buffer uses and that was not given back: a call for each megabyte or two is
/// cheap, one for each small buffer is not.
const IDLE_BYTES_MAX: usize = 2 << 20;

/// What is asked of a region.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Length in bytes.
    pub bytes: usize,
    /// The address is a multiple of this power of two, at most 4096.
    pub alignment: usize,
    /// Whether it is expected to stay for long, so that it is laid apart from the others.
    pub long_lived: bool,
}

/// Decides where in a region buffers lie.
pub trait Placement: Send {
    /// The offset of a free part for `ask`, a multiple of 64 bytes; `None` if there is none. The
    /// part is taken as far as the next multiple of 64 bytes.
    fn place(&mut self, ask: &Ask) -> Option<usize>;
    /// Takes back a part, or a piece of one. Both numbers are multiples of 64 bytes.
    fn free(&mut self, offset: usize, bytes: usize);
}

/// The most bytes that the buffers of several regions may have together.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    held: AtomicU64,
}

impl Budget {
    /// A budget of `limit` bytes, none of them held yet.
    #[must_use]
    pub fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { limit, held: AtomicU64::new(0) })
    }

    /// The most bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes of all buffers now, each rounded up to 64.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> Result<(), Refusal> {
        let add = |held: u64| held.checked_add(bytes).filter(|&sum| sum <= self.limit);
        let taken = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        taken.map(drop).map_err(|held| Refusal::Budget { held, limit: self.limit })
    }

    fn give(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Why a region gave no buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No free part of the region is large enough.
    Room,
    /// The budget has no room for it.
    Budget {
        /// Bytes held.
        held: u64,
        /// Bytes that may be held.
        limit: u64,
    },
}

/// What a region holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionBytes {
    /// What its buffers were asked to hold.
    pub asked: u64,
    /// The pages that have physical memory: those that buffers touch, and those not given back yet.
    pub resident: u64,
}

/// A range of addresses that lends buffers. Clones share it; it is unmapped when the last clone and
/// the last buffer have gone.
#[derive(Clone, Debug)]
pub struct Region(Arc<Memory>);

/// A region that lives only as long as its buffers.
#[derive(Clone, Debug)]
pub struct WeakRegion(Weak<Memory>);

impl WeakRegion {
    /// The region, if it has buffers left.
    #[must_use]
    pub fn upgrade(&self) -> Option<Region> {
        self.0.upgrade().map(Region)
    }
}

impl Region {
    /// Reserves `bytes` bytes of addresses, rounded up to whole pages. This takes no memory but
    /// some 2 bytes for each 1,000 that are ever used.
    ///
    /// # Errors
    /// This process has not enough addresses left.
    pub fn new(
        bytes: usize,
        placement: Box<dyn Placement>,
        budget: Arc<Budget>,
    ) -> io::Result<Self> {
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE_BYTES);
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        let (prot, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, prot, flags)? };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let claims = Claims::new(bytes / PAGE_BYTES, placement);
        let memory = Memory { start, bytes, claims: Mutex::new(claims), budget };
        // A huge page would take the memory of 512 pages for one. A kernel without huge pages
        // refuses this.
        // SAFETY: advice about the mapping just made, which changes no byte.
        let _ = unsafe { madvise(memory.at(0), bytes, Advice::LinuxNoHugepage) };
        Ok(Self(Arc::new(memory)))
    }

    /// A buffer of the bytes asked for. What they are at first is not said.
    ///
    /// # Errors
    /// See [`Refusal`].
    ///
    /// # Panics
    /// If the placement hands out what is not free.
    pub fn take(&self, ask: Ask) -> Result<Piece, Refusal> {
        if ask.bytes == 0 {
            return Ok(Piece { memory: self.0.clone(), offset: 0, claimed: 0, len: 0 });
        }
        let claimed = ask.bytes.checked_next_multiple_of(GRANULE_BYTES).ok_or(Refusal::Room)?;
        self.0.budget.take(claimed as u64)?;
        match self.0.lock().take(&ask, claimed) {
            Some(offset) => Ok(Piece { memory: self.0.clone(), offset, claimed, len: ask.bytes }),
            None => {
                self.0.budget.give(claimed as u64);
                Err(Refusal::Room)
            }
        }
    }

    /// An empty buffer for reads of up to `bytes` bytes.
    ///
    /// # Errors
    /// As [`Region::take`].
    pub fn take_aligned(&self, bytes: usize) -> Result<AlignedBuf, Refusal> {
        let ask = Ask { bytes, alignment: ALIGNMENT, long_lived: false };
        self.take(ask).map(AlignedBuf::of_piece)
    }

    /// Whether `pointer` points into the region.
    #[must_use]
    pub fn contains(&self, pointer: *const u8) -> bool {
        let start = self.0.start.as_ptr() as usize;
        (start..start + self.0.bytes).contains(&(pointer as usize))
    }

    /// What it holds now.
    #[must_use]
    pub fn bytes(&self) -> RegionBytes {
        self.0.lock().bytes()
    }

    /// A handle that does not keep it.
    #[must_use]
    pub fn downgrade(&self) -> WeakRegion {
        WeakRegion(Arc::downgrade(&self.0))
    }
}

/// The mapping, and which parts of it are handed out.
struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    claims: Mutex<Claims>,
    budget: Arc<Budget>,
}

// SAFETY: the bytes are reached only through pieces, which no two owners share while one may write;
// the claims keep them apart.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, offset: usize) -> *mut c_void {
        assert!(offset <= self.bytes);
        // SAFETY: within the mapping, or its end.
        unsafe { self.start.add(offset) }.as_ptr().cast()
    }

    /// Takes back a part that was handed out for a request of `len` bytes. Memory that nothing uses
    /// goes back to the system once there is enough of it.
    fn release(&self, part: Range<usize>, len: usize) {
        if part.is_empty() {
            return;
        }
        let mut claims = self.lock();
        claims.free(part.clone(), len);
        self.budget.give(part.len() as u64);
        if claims.idle_pages() * PAGE_BYTES > IDLE_BYTES_MAX {
            claims.give_back(|pages| {
                let (start, bytes) = (pages.start * PAGE_BYTES, pages.len() * PAGE_BYTES);
                // SAFETY: whole pages of the mapping that no piece touches, and none can be handed
                // out while the claims are locked.
                unsafe { madvise(self.at(start), bytes, Advice::LinuxDontNeed) }.is_ok()
            });
        }
    }

    /// Allows or forbids writing to the whole pages of a part that is handed out. Refused, nothing
    /// changes: the process may have too many mappings.
    fn set_writable(&self, part: &Range<usize>, writable: bool) {
        let start = part.start.next_multiple_of(PAGE_BYTES);
        let end = part.end / PAGE_BYTES * PAGE_BYTES;
        if start < end {
            let write = if writable { MprotectFlags::WRITE } else { MprotectFlags::empty() };
            // SAFETY: whole pages of the mapping that belong to the caller's part alone.
            let _ = unsafe { mprotect(self.at(start), end - start, MprotectFlags::READ | write) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`. Each piece has a share of this value, so none
        // is left.
        let unmapped = unsafe { munmap(self.at(0), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Memory({} bytes)", self.bytes)
    }
}

/// A buffer of a region, which one owner may write to. Dropped, its memory is free again.
pub struct Piece {
    memory: Arc<Memory>,
    offset: usize,
    /// Bytes handed out, a multiple of the granule.
    claimed: usize,
    len: usize,
}

impl Piece {
    /// Ends the writing: see [`Frozen`]. With `protect`, the processor refuses writes to the pages
    /// that lie wholly in it.
    #[must_use]
    pub fn freeze(self, protect: bool) -> Frozen {
        Frozen::new(self, protect)
    }

    /// Splits off all bytes from `at` on, a multiple of 4096; `None` if there are none.
    ///
    /// # Panics
    /// If `at` is no such multiple and within the buffer.
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Option<Piece> {
        if at >= self.len {
            return None;
        }
        assert!(at.is_multiple_of(PAGE_BYTES), "{at} is no multiple of {PAGE_BYTES}");
        let (claimed, len) = (self.claimed - at, self.len - at);
        (self.claimed, self.len) = (at, at);
        Some(Piece { memory: self.memory.clone(), offset: self.offset + at, claimed, len })
    }

    /// Joins what was split off to the end again.
    ///
    /// # Panics
    /// If `next` does not lie directly behind this buffer's last byte.
    pub fn append(&mut self, mut next: Piece) {
        let joins = Arc::ptr_eq(&self.memory, &next.memory)
            && self.len == self.claimed
            && self.offset + self.claimed == next.offset;
        assert!(joins, "{next:?} is not behind {self:?}");
        // The memory of `next` is this value's from now on.
        let (claimed, len) = (std::mem::take(&mut next.claimed), std::mem::take(&mut next.len));
        self.claimed += claimed;
        self.len += len;
    }

    /// Makes the first `len` bytes the whole buffer; the rest of its memory stays its own.
    ///
    /// # Panics
    /// When it is shorter.
    pub(crate) fn truncate(&mut self, len: usize) {
        assert!(len <= self.len);
        self.memory.lock().asked(self.len, len);
        self.len = len;
    }

    fn part(&self) -> Range<usize> {
        self.offset..self.offset + self.claimed
    }

    fn start(&self) -> *mut u8 {
        self.memory.at(self.offset).cast()
    }

    pub(crate) fn address(&self) -> NonNull<u8> {
        NonNull::new(self.start()).expect("an address within a mapping")
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: these bytes of the mapping, which `memory` keeps, were handed out to this value
        // alone. Mapped memory has a value before it is first written.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }
}

impl DerefMut for Piece {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the borrow of self is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.memory.release(self.part(), self.len);
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Piece({} bytes at {})", self.len, self.offset)
    }
}

#[cfg(test)]
mod tests;
