//! The memory of the cache: pages of 4 KiB in one piece, touched once and used again. A read brings
//! its bytes into neighbouring pages, where they stay. A page goes back when nothing holds it,
//! neither the cache nor a reader that copies from it.

use seekless_engine::{AlignedBuf, Arena, BufferPool, Page};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a frame: a page.
pub(super) const FRAME_BYTES: usize = 4096;

/// The memory.
#[derive(Debug)]
pub(super) struct Pool {
    arena: Arena,
    /// For reads that find no idle pages side by side: their bytes are copied into single ones.
    scattered: BufferPool,
    /// Pages held now that the arena had no room for.
    beyond: Arc<AtomicUsize>,
}

impl Pool {
    /// `pages` pages, and room for one idle buffer of `largest` pages beside them.
    pub(super) fn new(pages: usize, largest: usize) -> Self {
        let scattered = BufferPool::new(largest * FRAME_BYTES);
        Self { arena: Arena::new(pages), scattered, beyond: Arc::default() }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let pages = self.arena.pages() + self.beyond.load(Ordering::Relaxed);
        pages * FRAME_BYTES + self.scattered.idle_bytes()
    }

    /// A buffer for a read of `pages` pages.
    pub(super) fn buffer(&self, pages: usize) -> AlignedBuf {
        self.arena.take(pages).unwrap_or_else(|| self.scattered.take(pages * FRAME_BYTES))
    }

    /// The pages of a buffer. Each is `None` if `valid` says that the read did not bring it,
    /// otherwise how many bytes it brought.
    pub(super) fn frames(
        &self,
        buffer: AlignedBuf,
        pages: usize,
        valid: impl Fn(usize) -> Option<usize>,
    ) -> Vec<Option<Frame>> {
        match buffer.into_pages() {
            Ok(lent) => {
                let frame =
                    |(number, page)| Some(Frame { page, valid: valid(number)?, _beyond: None });
                lent.take(pages).enumerate().map(frame).collect()
            }
            Err(buffer) => {
                let frame = |number| {
                    let valid = valid(number)?;
                    Some(self.copy(&buffer[number * FRAME_BYTES..][..valid]))
                };
                let frames = (0..pages).map(frame).collect();
                self.scattered.give(buffer);
                frames
            }
        }
    }

    /// A page of its own for these bytes.
    pub(super) fn copy(&self, bytes: &[u8]) -> Frame {
        self.page(bytes, bytes.len())
    }

    /// A whole page that begins with these bytes; the others are zero.
    pub(super) fn whole(&self, bytes: &[u8]) -> Frame {
        self.page(bytes, FRAME_BYTES)
    }

    /// Pages held now that the memory had no room for.
    pub(super) fn beyond(&self) -> usize {
        self.beyond.load(Ordering::Relaxed)
    }

    fn page(&self, bytes: &[u8], valid: usize) -> Frame {
        let (mut buffer, beyond) = match self.arena.take(1) {
            Some(buffer) => (buffer, None),
            None => {
                let buffer = Arena::new(1).take(1).expect("a new arena has its page");
                (buffer, Some(Arc::new(Beyond::new(&self.beyond))))
            }
        };
        let (start, rest) = buffer.whole_mut()[..valid].split_at_mut(bytes.len());
        start.copy_from_slice(bytes);
        rest.fill(0);
        let page = buffer.into_pages().ok().and_then(|mut pages| pages.next());
        Frame { page: page.expect("it is of an arena"), valid, _beyond: beyond }
    }

    #[cfg(test)]
    fn idle(&self) -> usize {
        self.arena.idle()
    }
}

/// Counts a page beyond the arena as long as it is held.
#[derive(Debug)]
struct Beyond(Arc<AtomicUsize>);

impl Beyond {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Beyond {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bytes of one page of a file, up to its end. They never change while clones share them. What
/// was written to is a whole page, with zeros behind the file's end.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    page: Page,
    valid: usize,
    _beyond: Option<Arc<Beyond>>,
}

impl Frame {
    /// The page, for a write.
    pub(super) fn page(&self) -> Page {
        self.page.clone()
    }

    pub(super) fn is_whole(&self) -> bool {
        self.valid == FRAME_BYTES
    }

    /// All of it, to be written to: only if it is whole and has no other holder.
    pub(super) fn get_mut(&mut self) -> Option<&mut [u8]> {
        if self.is_whole() { self.page.get_mut() } else { None }
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.page[..self.valid]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A read of three pages that brought one and a half.
    fn read(pool: &Pool) -> Vec<Option<Frame>> {
        let mut buffer = pool.buffer(3);
        let bytes = (0..6000u32).map(|at| at as u8);
        buffer.whole_mut().iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        buffer.set_len(6000);
        pool.frames(buffer, 3, |page| [Some(4096), Some(1904), None][page])
    }

    fn check(frames: &[Option<Frame>]) {
        let bytes: Vec<u8> = (0..6000u32).map(|at| at as u8).collect();
        assert_eq!(frames[0].as_deref(), Some(&bytes[..4096]));
        assert_eq!(frames[1].as_deref(), Some(&bytes[4096..]));
        assert!(frames.len() == 3 && frames[2].is_none());
    }

    #[test]
    fn frames_hold_what_was_read_and_go_back() {
        let pool = Pool::new(3, 3);
        let frames = read(&pool);
        check(&frames);
        assert_eq!(pool.idle(), 1);
        drop(frames);
        assert_eq!(pool.idle(), 3);
    }

    #[test]
    fn a_read_without_idle_neighbours_is_copied_into_single_pages() {
        let pool = Pool::new(5, 3);
        let holes = read(&pool);
        let [first, ..] = &holes[..] else { panic!("three pages") };
        let first = first.clone();
        drop(holes);
        let second = pool.buffer(1);
        assert!(pool.arena.take(3).is_none(), "one page of the first read is still held");
        let frames = read(&pool);
        check(&frames);
        assert_eq!((pool.idle(), pool.memory_bytes()), (1, 8 * FRAME_BYTES));
        let more = read(&pool);
        check(&more);
        assert_eq!((pool.idle(), pool.memory_bytes()), (0, 9 * FRAME_BYTES));
        drop((frames, more, first, second));
        assert_eq!((pool.idle(), pool.memory_bytes()), (5, 8 * FRAME_BYTES));
    }
}
