//! Memory in one piece, lent out in runs of pages and given back page by page.
//!
//! It lies in huge pages where the system has them. The pieces of a read's memory are then few: a
//! virtual disk takes a tenth of the time for a megabyte in one piece that it takes for one in 256.

use crate::{ALIGNMENT, AlignedBuf};
use rustix::mm::{Advice, madvise};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a page of an arena.
const PAGE_BYTES: usize = ALIGNMENT;

/// Where a huge page may begin.
const HUGE_BYTES: usize = 2 << 20;

/// Pages of the bits of one word.
const WORD: usize = u64::BITS as usize;

/// Pages of memory, written once at the beginning: the first touch of fresh memory can take longer
/// than the read that it is for. Clones share it.
#[derive(Clone, Debug)]
pub struct Arena {
    memory: Arc<Memory>,
}

impl Arena {
    /// An arena of at least one page. Aborts, as `Vec` does, when memory runs out.
    ///
    /// # Panics
    /// When it is over `isize::MAX` bytes or 2³² pages.
    #[must_use]
    pub fn new(pages: usize) -> Self {
        Self { memory: Arc::new(Memory::new(pages.max(1))) }
    }

    /// Pages in all.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.memory.pages
    }

    /// Neighbouring idle pages as an empty buffer; `None` if no run is so long, or for no page.
    #[must_use]
    pub fn take(&self, pages: usize) -> Option<AlignedBuf> {
        let first = self.memory.claim(pages)?;
        Some(AlignedBuf::of_arena(Run { memory: Arc::clone(&self.memory), first, pages }))
    }

    /// Pages that nothing holds.
    #[must_use]
    pub fn idle(&self) -> usize {
        let ones = |word: &AtomicU64| word.load(Ordering::Relaxed).count_ones() as usize;
        self.memory.free.iter().map(ones).sum()
    }
}

/// Neighbouring pages of an arena that one owner may write to. Dropped, they are idle again.
#[derive(Debug)]
pub(crate) struct Run {
    memory: Arc<Memory>,
    first: usize,
    pages: usize,
}

impl Run {
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.memory.page(self.first)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pages * PAGE_BYTES
    }

    fn split_first(&mut self) -> Option<usize> {
        self.pages = self.pages.checked_sub(1)?;
        self.first += 1;
        Some(self.first - 1)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.memory.release(self.first, self.pages);
    }
}

/// The pages of a buffer of an arena, one after the other: see [`AlignedBuf::into_pages`]. Those
/// that are not taken are idle again.
#[derive(Debug)]
pub struct Pages(Run);

impl Pages {
    pub(crate) fn new(run: Run) -> Self {
        Self(run)
    }
}

impl Iterator for Pages {
    type Item = Page;

    fn next(&mut self) -> Option<Page> {
        let number = self.0.split_first()?;
        self.0.memory.holders[number].store(1, Ordering::Relaxed);
        Some(Page { memory: Arc::clone(&self.0.memory), number: number as u32 })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.pages, Some(self.0.pages))
    }
}

/// One page of an arena, whose bytes never change while it is shared. Clones share it; when the
/// last is dropped the page is idle.
pub struct Page {
    memory: Arc<Memory>,
    number: u32,
}

impl Clone for Page {
    fn clone(&self) -> Self {
        self.holders().fetch_add(1, Ordering::Relaxed);
        Self { memory: Arc::clone(&self.memory), number: self.number }
    }
}

impl Page {
    /// Its bytes, to be written to; `None` if another clone shares them.
    pub fn get_mut(&mut self) -> Option<&mut [u8]> {
        // Reads of other holders before their release happen before the writes that follow here.
        if self.holders().load(Ordering::Acquire) != 1 {
            return None;
        }
        let start = self.memory.page(self.number as usize);
        // SAFETY: as in `deref`; and this is the only `Page` of these bytes. It is borrowed
        // exclusively, so that no thread can clone it meanwhile.
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), PAGE_BYTES) })
    }

    fn holders(&self) -> &AtomicU32 {
        &self.memory.holders[self.number as usize]
    }
}

impl Deref for Page {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let start = self.memory.page(self.number as usize);
        // SAFETY: the page lies within the memory, which this value keeps alive. All of it has been
        // written. Nothing writes to it now: it is claimed, and only a `Run` is written through,
        // which gave this page up when it made a `Page` of it, and in `get_mut`, while this value
        // is borrowed exclusively and has no clones.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), PAGE_BYTES) }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if self.holders().fetch_sub(1, Ordering::Release) == 1 {
            // What other holders read comes before what the next owner writes.
            fence(Ordering::Acquire);
            self.memory.release(self.number as usize, 1);
        }
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Page({})", self.number)
    }
}

struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    pages: usize,
    /// A bit for each page, set while it is idle. Bits are cleared under the lock of `next` alone;
    /// any thread sets them.
    free: Box<[AtomicU64]>,
    /// How many `Page`s share each page.
    holders: Box<[AtomicU32]>,
    /// Where to look next. What is taken in one order is mostly given back in the same, so pages
    /// stay free in long runs.
    next: Mutex<usize>,
}

// SAFETY: the bytes are reached only through a `Run`, which one owner has, and `Page`s, which only
// read; the bits keep these apart.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(pages: usize) -> Self {
        assert!(u32::try_from(pages).is_ok(), "an arena of 2^32 pages or more");
        let bytes = pages.checked_mul(PAGE_BYTES).expect("an arena under isize::MAX bytes");
        let alignment = if bytes >= HUGE_BYTES { HUGE_BYTES } else { PAGE_BYTES };
        let layout =
            Layout::from_size_align(bytes, alignment).expect("an arena under isize::MAX bytes");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        if alignment == HUGE_BYTES {
            // SAFETY: the range is our own, and the advice changes no byte. Refused, it is only
            // slower.
            let _ = unsafe { madvise(start.as_ptr().cast(), bytes, Advice::LinuxHugepage) };
        }
        // SAFETY: the range was just allocated.
        unsafe { start.as_ptr().write_bytes(1, bytes) };
        let bits = |word: usize| match pages - word * WORD {
            whole if whole >= WORD => u64::MAX,
            rest => (1 << rest) - 1,
        };
        Self {
            start,
            layout,
            pages,
            free: (0..pages.div_ceil(WORD)).map(|word| AtomicU64::new(bits(word))).collect(),
            holders: (0..pages).map(|_| AtomicU32::new(0)).collect(),
            next: Mutex::new(0),
        }
    }

    fn page(&self, number: usize) -> NonNull<u8> {
        assert!(number <= self.pages);
        // SAFETY: within the allocation, or its end.
        unsafe { self.start.add(number * PAGE_BYTES) }
    }

    /// Takes a run of idle pages, and returns the first.
    fn claim(&self, pages: usize) -> Option<usize> {
        if pages == 0 || pages > self.pages {
            return None;
        }
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let again = (*next + pages - 1).min(self.pages);
        let first = self.find(*next, self.pages, pages).or_else(|| self.find(0, again, pages))?;
        for (word, bits) in words(first, pages) {
            // Sees all that earlier holders did before they set the bits.
            self.free[word].fetch_and(!bits, Ordering::Acquire);
        }
        *next = first + pages;
        Some(first)
    }

    /// The first run of `pages` idle pages from `from` on that ends before `end`.
    fn find(&self, from: usize, end: usize, pages: usize) -> Option<usize> {
        let (mut start, mut at) = (from, from);
        while at < end {
            let room = WORD - at % WORD;
            let bits = self.free[at / WORD].load(Ordering::Relaxed) >> (at % WORD);
            let idle = (bits.trailing_ones() as usize).min(room);
            if (at + idle).min(end) - start >= pages {
                return Some(start);
            }
            at += idle;
            if idle < room {
                let busy = ((bits >> idle).trailing_zeros() as usize).min(room - idle);
                at += busy;
                start = at;
            }
        }
        None
    }

    fn release(&self, first: usize, pages: usize) {
        for (word, bits) in words(first, pages) {
            self.free[word].fetch_or(bits, Ordering::Release);
        }
    }
}

/// The bits of a run of pages, word by word.
fn words(first: usize, pages: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = first + pages;
    (first / WORD..end.div_ceil(WORD)).filter(move |_| pages > 0).map(move |word| {
        let from = first.max(word * WORD) - word * WORD;
        let to = end.min((word + 1) * WORD) - word * WORD;
        let below = |bit: usize| if bit == WORD { u64::MAX } else { (1 << bit) - 1 };
        (word, below(to) & !below(from))
    })
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this very layout, and freed only here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Memory({} pages)", self.pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(arena: &Arena, pages: usize, byte: u8) -> Option<Vec<Page>> {
        let mut buffer = arena.take(pages)?;
        buffer.whole_mut().fill(byte);
        Some(buffer.into_pages().ok()?.collect())
    }

    #[test]
    fn runs_are_whole_and_pages_go_back_one_by_one() {
        let arena = Arena::new(200);
        assert!(arena.take(201).is_none() && arena.take(0).is_none());
        let mut first = filled(&arena, 150, 1).unwrap();
        let second = filled(&arena, 50, 2).unwrap();
        assert!(arena.take(1).is_none());
        let held = first.split_off(70);
        let copy = held[0].clone();
        drop(first);
        assert_eq!(arena.idle(), 70);
        assert!(arena.take(71).is_none());
        let third = filled(&arena, 70, 3).unwrap();
        assert!(copy.iter().all(|&byte| byte == 1) && second[49].iter().all(|&byte| byte == 2));
        drop((third, second, held));
        assert_eq!(arena.idle(), 199, "one is still held");
        assert!(copy.iter().all(|&byte| byte == 1));
        drop(copy);
        assert_eq!(arena.idle(), 200);
    }

    #[test]
    fn a_page_is_written_to_only_while_nobody_else_holds_it() {
        let arena = Arena::new(1);
        let mut page = filled(&arena, 1, 1).unwrap().pop().unwrap();
        let copy = page.clone();
        assert!(page.get_mut().is_none());
        drop(copy);
        page.get_mut().unwrap()[7] = 2;
        assert_eq!((page[6], page[7]), (1, 2));
    }

    #[test]
    fn what_is_not_made_pages_of_goes_back_too() {
        let arena = Arena::new(10);
        let mut buffer = arena.take(8).unwrap();
        buffer.whole_mut().fill(4);
        let mut pages = buffer.into_pages().unwrap();
        let kept = pages.nth(2).unwrap();
        drop(pages);
        assert_eq!((arena.idle(), kept[4095]), (9, 4));
        assert!(AlignedBuf::with_capacity(4096).into_pages().is_err(), "it is of no arena");
        drop(arena);
        assert_eq!(kept[0], 4, "a page keeps the memory");
    }

    #[test]
    fn threads_never_share_what_they_write() {
        let arena = Arena::new(97);
        std::thread::scope(|scope| {
            for number in 0..4u8 {
                let arena = &arena;
                scope.spawn(move || {
                    let mut held = Vec::new();
                    for turn in 0..400usize {
                        let pages = filled(arena, 1 + turn * 7 % 20, number);
                        held.extend(pages.into_iter().flatten());
                        assert!(held.iter().all(|page| page.iter().all(|&byte| byte == number)));
                        held.drain(..held.len() * (turn % 3) / 2);
                    }
                });
            }
        });
        assert_eq!(arena.idle(), 97);
    }
}
