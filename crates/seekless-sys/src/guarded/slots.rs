//! The pages of the address space that are guarded, and which of them were lost: a small table that
//! the signal handler reads without a lock.
//!
//! The protocol, which `tests/guarded_model.rs` checks under every order of two threads' steps:
//!
//! 1. A slot is claimed before its window is mapped, and names the window after. It is freed
//!    **before** the window is unmapped: the kernel may give the same addresses to another thread
//!    at once, and a loss there is that thread's.
//! 2. One word holds a whole range, so that no reader sees the start of one window with the length
//!    of another.
//! 3. A loss is marked **before** zeros take the place of the lost page: another thread may read
//!    those zeros and ask.

use super::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// No window.
pub(super) const FREE: u64 = 0;
/// A window that is being mapped: page 0, which no window has.
const CLAIMED: u64 = 1;
/// Bits of a range that hold its length; the rest hold its first page.
const COUNT_BITS: u32 = 24;

/// A range of pages of the address space, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pages(u64);

impl Pages {
    /// `count` pages from page `first` on, neither 0. `None` for more than 16 Mi pages (64 GiB in
    /// pages of 4 KiB), and for addresses that the kernel hands out only on request.
    pub(super) fn new(first: u64, count: u64) -> Option<Self> {
        let fits =
            first > 0 && first >> (64 - COUNT_BITS) == 0 && count > 0 && count >> COUNT_BITS == 0;
        fits.then_some(Pages(first << COUNT_BITS | count))
    }

    pub(super) fn holds(self, page: u64) -> bool {
        let (first, count) = (self.0 >> COUNT_BITS, self.0 & ((1 << COUNT_BITS) - 1));
        (first..first + count).contains(&page)
    }
}

/// Room for one window.
pub(super) struct Slot {
    /// [`FREE`], [`CLAIMED`] or the pages.
    pub(super) range: AtomicU64,
    pub(super) lost: AtomicBool,
}

/// Room for `N` windows.
pub(super) struct Slots<const N: usize>(pub(super) [Slot; N]);

impl<const N: usize> Slots<N> {
    /// Guards the window that `map` maps, and returns its slot. `None` if every slot is taken or
    /// nothing was mapped.
    pub(super) fn guard<T>(&self, map: impl FnOnce() -> Option<(Pages, T)>) -> Option<(usize, T)> {
        let index = self.0.iter().position(|slot| {
            slot.range.compare_exchange(FREE, CLAIMED, Ordering::Acquire, Ordering::Relaxed).is_ok()
        })?;
        let slot = &self.0[index];
        let Some((pages, mapped)) = map() else {
            slot.range.store(FREE, Ordering::Release);
            return None;
        };
        slot.lost.store(false, Ordering::Relaxed);
        slot.range.store(pages.0, Ordering::Release);
        Some((index, mapped))
    }

    /// Frees the slot, then unmaps its window, which must have no readers left.
    pub(super) fn release(&self, index: usize, unmap: impl FnOnce()) {
        self.0[index].range.store(FREE, Ordering::Release);
        unmap();
    }

    /// Handles a page that could not be read: marks the window that has it, and puts zeros in its
    /// place. False if no window has it, or zeros could not be put there.
    pub(super) fn on_loss(&self, page: u64, put_zeros: impl FnOnce() -> bool) -> bool {
        let holds = |slot: &&Slot| Pages(slot.range.load(Ordering::Acquire)).holds(page);
        let Some(slot) = self.0.iter().find(holds) else { return false };
        slot.lost.store(true, Ordering::Release);
        put_zeros()
    }

    /// Whether a page of the window was lost before the bytes that this thread has read of it.
    pub(super) fn is_lost(&self, index: usize) -> bool {
        // The bytes were read by plain loads, which must not move behind the look at the mark.
        fence(Ordering::Acquire);
        self.0[index].lost.load(Ordering::Relaxed)
    }
}
