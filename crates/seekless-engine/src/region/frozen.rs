//! Buffers that nothing writes to any more. Parts of one are shared, and hold only the pages that
//! they lie in.

use super::{Memory, PAGE_BYTES, Piece};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Arc, OnceLock};

/// A whole buffer of a region that nothing writes to any more. Dropped, its memory is free again,
/// but for the pages of the [`Part`]s that were made of it.
pub struct Frozen(Arc<Held>);

/// A range of a [`Frozen`] buffer, which it outlives.
pub struct Part {
    held: Arc<Held>,
    range: Range<usize>,
}

struct Held {
    memory: Arc<Memory>,
    offset: usize,
    claimed: usize,
    len: usize,
    protected: bool,
    /// For each page, how many of the whole and its parts hold it. Absent until the first part.
    holders: OnceLock<Box<[AtomicU32]>>,
}

// What a `Held` refers to is freed by the `Frozen` and the `Part`s, each for the pages it was the
// last to hold. So a slice may be read for as long as one of these holds all of its pages.
impl Held {
    /// # Safety
    /// The caller holds all pages of the range, which lies in the buffer.
    unsafe fn slice(&self, range: &Range<usize>) -> &[u8] {
        let start = self.memory.at(self.offset + range.start).cast_const().cast();
        // SAFETY: within the part of the mapping that was handed out. The caller's promise keeps it
        // so, and nothing writes to a frozen buffer.
        unsafe { std::slice::from_raw_parts(start, range.len()) }
    }

    /// The first page, and one after the last, of a range of the buffer.
    fn pages(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.offset / PAGE_BYTES;
        let at = |byte: usize| (self.offset + byte) / PAGE_BYTES - first;
        if range.is_empty() { 0..0 } else { at(range.start)..at(range.end - 1) + 1 }
    }

    fn holders(&self) -> &[AtomicU32] {
        self.holders
            .get_or_init(|| self.pages(&(0..self.claimed)).map(|_| AtomicU32::new(1)).collect())
    }

    /// Releases pages, and frees those that nothing holds any more.
    fn give_up(&self, pages: Range<usize>) {
        let Some(holders) = self.holders.get() else { return };
        let mut run = pages.start..pages.start;
        for page in pages {
            if holders[page].fetch_sub(1, Ordering::Release) == 1 {
                // What other holders read comes before what the next owner writes.
                fence(Ordering::Acquire);
                run.end = page + 1;
            } else {
                self.free(run);
                run = page + 1..page + 1;
            }
        }
        self.free(run);
    }

    fn free(&self, pages: Range<usize>) {
        if pages.is_empty() {
            return;
        }
        let first = self.offset / PAGE_BYTES;
        let start = ((first + pages.start) * PAGE_BYTES).max(self.offset);
        let end = ((first + pages.end) * PAGE_BYTES).min(self.offset + self.claimed);
        let asked_end = end.min(self.offset + self.len);
        self.release(start..end, asked_end.saturating_sub(start));
    }

    fn release(&self, part: Range<usize>, len: usize) {
        if self.protected {
            self.memory.set_writable(&part, true);
        }
        self.memory.release(part, len);
    }
}

impl Frozen {
    pub(super) fn new(piece: Piece, protect: bool) -> Self {
        // The memory of the piece is this value's from now on.
        let mut piece = piece;
        let (offset, claimed, len) = (piece.offset, piece.claimed, piece.len);
        (piece.claimed, piece.len) = (0, 0);
        let memory = piece.memory.clone();
        if protect {
            memory.set_writable(&(offset..offset + claimed), false);
        }
        let holders = OnceLock::new();
        Self(Arc::new(Held { memory, offset, claimed, len, protected: protect, holders }))
    }

    /// The bytes `range` of this buffer, to be held by themselves.
    ///
    /// # Panics
    /// If it does not lie in the buffer.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Part {
        assert!(range.start <= range.end && range.end <= self.0.len, "{range:?} of {self:?}");
        Part::new(&self.0, range)
    }
}

impl Part {
    /// A range of the buffer, whose pages the caller holds.
    fn new(held: &Arc<Held>, range: Range<usize>) -> Self {
        let holders = held.holders();
        for page in held.pages(&range) {
            holders[page].fetch_add(1, Ordering::Relaxed);
        }
        Self { held: held.clone(), range }
    }

    /// The bytes `range` of these, to be held by themselves.
    ///
    /// # Panics
    /// If it does not lie in them.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Part {
        assert!(range.start <= range.end && range.end <= self.range.len(), "{range:?} of {self:?}");
        Part::new(&self.held, self.range.start + range.start..self.range.start + range.end)
    }

    /// Splits off all bytes from `at` on, so that they are held by themselves.
    ///
    /// # Panics
    /// If `at` is more than there are, or if a page would have bytes of both.
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Part {
        assert!(at <= self.range.len(), "{at} of {self:?}");
        let at = self.range.start + at;
        let is_inside = self.range.start < at && at < self.range.end;
        let address = self.held.offset + at;
        assert!(!is_inside || address.is_multiple_of(PAGE_BYTES), "{at} lies within a page");
        // No page is held by both parts, so the count of each page stays right.
        let rest = at..self.range.end;
        self.range.end = at;
        Part { held: self.held.clone(), range: rest }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let held = &self.0;
        match held.holders.get() {
            Some(_) => held.give_up(held.pages(&(0..held.claimed))),
            None => held.release(held.offset..held.offset + held.claimed, held.len),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.held.give_up(self.held.pages(&self.range));
    }
}

impl Deref for Frozen {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: this value holds all pages of the buffer.
        unsafe { self.0.slice(&(0..self.0.len)) }
    }
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: this value holds the pages of its range.
        unsafe { self.held.slice(&self.range) }
    }
}

impl fmt::Debug for Frozen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Frozen({} bytes)", self.0.len)
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Part({:?})", self.range)
    }
}
