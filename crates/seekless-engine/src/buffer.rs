//! Bytes that O_DIRECT accepts, aligned to a page: of the heap, or lent by an arena or a region. A
//! record says how far they have ever been written. So no uninitialised byte can be seen, and no
//! byte must be zeroed before the kernel overwrites it.

use crate::arena::{Pages, Run};
use crate::region::Piece;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Alignment of every buffer in bytes: the largest that a Linux block device demands.
pub const ALIGNMENT: usize = 4096;

/// Gives the empty buffer an aligned address.
#[repr(align(4096))]
struct Page;

const _: () = assert!(align_of::<Page>() == ALIGNMENT);

/// A buffer of fixed capacity, aligned to [`ALIGNMENT`]. Derefs to its first `len` bytes.
pub struct AlignedBuf {
    start: NonNull<u8>,
    /// Bytes owned, a multiple of the alignment; 0 owns nothing.
    allocated: usize,
    capacity: usize,
    len: usize,
    /// How many of the first bytes have been written at some time:
    /// `len <= initialised <= allocated`.
    initialised: usize,
    owner: Owner,
}

/// Whose memory a buffer is.
enum Owner {
    Heap,
    Arena(Run),
    Region(Piece),
}

// SAFETY: the bytes are owned by this value alone and reached only through its borrow rules.
unsafe impl Send for AlignedBuf {}
// SAFETY: as above; a shared reference gives only reads.
unsafe impl Sync for AlignedBuf {}

impl AlignedBuf {
    /// An empty buffer for up to `capacity` bytes.
    ///
    /// # Panics
    /// When `capacity` is over `isize::MAX`; aborts, as `Vec` does, when memory runs out.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let layout = layout(capacity).expect("a buffer under isize::MAX bytes");
        Self::allocate(layout, capacity).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// As [`with_capacity`](Self::with_capacity), for a size that comes from outside the program,
    /// such as an archive: too large a one is an error.
    ///
    /// # Errors
    /// `OutOfMemory` when there is no memory for it.
    pub fn try_with_capacity(capacity: usize) -> io::Result<Self> {
        let buffer = layout(capacity).and_then(|layout| Self::allocate(layout, capacity));
        buffer.ok_or_else(|| io::ErrorKind::OutOfMemory.into())
    }

    fn allocate(layout: Layout, capacity: usize) -> Option<Self> {
        let start = match layout.size() {
            0 => NonNull::<Page>::dangling().cast(),
            // SAFETY: the layout's size is not zero.
            _ => NonNull::new(unsafe { alloc(layout) })?,
        };
        Some(AlignedBuf {
            start,
            allocated: layout.size(),
            capacity,
            len: 0,
            initialised: 0,
            owner: Owner::Heap,
        })
    }

    /// Pages of an arena, which have all been written before.
    pub(crate) fn of_arena(run: Run) -> Self {
        let (start, bytes) = (run.start(), run.bytes());
        let owner = Owner::Arena(run);
        AlignedBuf { start, allocated: bytes, capacity: bytes, len: 0, initialised: bytes, owner }
    }

    /// A piece of a region that begins at a page, as an empty buffer. Mapped memory has a value
    /// before it is first written.
    pub(crate) fn of_piece(piece: Piece) -> Self {
        let (start, bytes) = (piece.address(), piece.len());
        assert!(start.as_ptr().addr().is_multiple_of(ALIGNMENT), "a piece at a page");
        let owner = Owner::Region(piece);
        AlignedBuf { start, allocated: bytes, capacity: bytes, len: 0, initialised: bytes, owner }
    }

    /// The piece of a [`Region`](crate::Region) that this buffer is, as long as the buffer.
    ///
    /// # Errors
    /// The buffer itself, if it is of no region.
    pub fn into_piece(mut self) -> Result<Piece, Self> {
        match std::mem::replace(&mut self.owner, Owner::Heap) {
            Owner::Region(mut piece) => {
                self.allocated = 0;
                piece.truncate(self.len);
                Ok(piece)
            }
            other => {
                self.owner = other;
                Err(self)
            }
        }
    }

    /// The pages of a buffer that an [`Arena`](crate::Arena) has lent, to be shared and given back
    /// each by itself. Nothing writes to them any more.
    ///
    /// # Errors
    /// The buffer itself, if it is of no arena.
    pub fn into_pages(mut self) -> Result<Pages, Self> {
        match std::mem::replace(&mut self.owner, Owner::Heap) {
            Owner::Arena(run) => {
                self.allocated = 0;
                Ok(Pages::new(run))
            }
            other => {
                self.owner = other;
                Err(self)
            }
        }
    }

    /// Bytes that fit; the length of a read into this buffer.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Makes the first `len` bytes visible; those never written before are zero.
    ///
    /// # Panics
    /// When `len` is over the capacity.
    pub fn set_len(&mut self, len: usize) {
        assert!(len <= self.capacity, "length {len} over the buffer's capacity {}", self.capacity);
        self.initialise(len);
        self.len = len;
    }

    /// All bytes up to the capacity, to be written by the caller, who then says how many with
    /// [`set_len`](Self::set_len).
    pub fn whole_mut(&mut self) -> &mut [u8] {
        self.initialise(self.capacity);
        // SAFETY: `capacity <= allocated` bytes are owned, and just initialised; the borrow of self
        // is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.capacity) }
    }

    /// The bytes from `from` to the capacity, for the kernel to write to. What was written is then
    /// declared with [`assume_initialised`](Self::assume_initialised).
    pub(crate) fn unfilled(&mut self, from: usize) -> &mut [MaybeUninit<u8>] {
        assert!(from <= self.capacity);
        // SAFETY: the range is within what is owned, and MaybeUninit needs no initialised bytes.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.start.as_ptr().add(from).cast(),
                self.capacity - from,
            )
        }
    }

    /// Records that the first `bytes` have been written.
    ///
    /// # Safety
    /// They have been.
    pub(crate) unsafe fn assume_initialised(&mut self, bytes: usize) {
        assert!(bytes <= self.capacity);
        self.initialised = self.initialised.max(bytes);
    }

    /// Bytes of the heap, which may be more than the capacity.
    pub(crate) fn allocated(&self) -> usize {
        if matches!(self.owner, Owner::Heap) { self.allocated } else { 0 }
    }

    /// The same memory as an empty buffer of another capacity, at most what is allocated.
    pub(crate) fn reuse(mut self, capacity: usize) -> Self {
        assert!(capacity <= self.allocated());
        self.capacity = capacity;
        self.len = 0;
        self
    }

    fn initialise(&mut self, bytes: usize) {
        if bytes > self.initialised {
            // SAFETY: `initialised..bytes` is within the owned bytes, as every caller keeps `bytes
            // <= capacity <= allocated`.
            unsafe {
                self.start.as_ptr().add(self.initialised).write_bytes(0, bytes - self.initialised)
            };
            self.initialised = bytes;
        }
    }
}

/// Whole pages for `bytes` bytes.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_next_multiple_of(ALIGNMENT)?, ALIGNMENT).ok()
}

impl From<Piece> for AlignedBuf {
    /// An empty buffer as long as the piece, which must begin at a page.
    fn from(piece: Piece) -> Self {
        Self::of_piece(piece)
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        let heap_bytes = self.allocated();
        if heap_bytes > 0
            && let Some(layout) = layout(heap_bytes)
        {
            // SAFETY: allocated by `allocate` with this very layout, and freed only here.
            unsafe { dealloc(self.start.as_ptr(), layout) };
        }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len <= initialised` bytes are owned and initialised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the borrow of self is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Default for AlignedBuf {
    fn default() -> Self {
        AlignedBuf::with_capacity(0)
    }
}

impl fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBuf({} of {} bytes)", self.len, self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_and_never_uninitialised() {
        for capacity in [0, 1, 511, 4096, 4097, 1 << 20] {
            let mut buffer = AlignedBuf::with_capacity(capacity);
            assert_eq!(buffer.as_ptr() as usize % ALIGNMENT, 0);
            assert_eq!((buffer.len(), buffer.capacity()), (0, capacity));
            buffer.set_len(capacity / 2);
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.whole_mut().fill(7);
            buffer.set_len(capacity);
            assert_eq!(buffer.iter().filter(|&&byte| byte == 7).count(), capacity);
        }
    }

    #[test]
    fn reuse_shows_only_what_was_written() {
        let mut buffer = AlignedBuf::with_capacity(10);
        buffer.whole_mut().fill(1);
        let mut buffer = buffer.reuse(4096);
        buffer.set_len(4096);
        assert_eq!(buffer.iter().map(|&byte| u32::from(byte)).sum::<u32>(), 10);
    }

    #[test]
    fn a_buffer_larger_than_memory_is_an_error() {
        for capacity in [usize::MAX, isize::MAX as usize, 1 << 60] {
            let error = AlignedBuf::try_with_capacity(capacity).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
        }
        assert_eq!(AlignedBuf::try_with_capacity(5).unwrap().capacity(), 5);
    }

    #[test]
    #[should_panic(expected = "over the buffer's capacity 10")]
    fn a_length_over_the_capacity_panics() {
        AlignedBuf::with_capacity(10).set_len(11);
    }
}
