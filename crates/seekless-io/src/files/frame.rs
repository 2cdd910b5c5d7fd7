//! The memory of the cache: frames of 4 KiB, made and touched once, and used again. A frame goes
//! back to its pool when nothing holds it, neither the cache nor a reader that copies from it.

use crate::lock;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes of a frame: a page.
pub(super) const FRAME_BYTES: usize = 4096;

/// Idle frames.
#[derive(Debug, Default)]
pub(super) struct Pool {
    idle: Mutex<Vec<Box<[u8]>>>,
    /// Frames ever made: none is freed before the pool is.
    made: AtomicUsize,
}

impl Pool {
    /// A pool of so many frames whose memory is there already: the first touch of fresh memory can
    /// cost more than the read that it is for.
    pub(super) fn touched(frames: usize) -> Self {
        let touched = || {
            let mut frame = fresh();
            frame.fill(1);
            frame
        };
        let idle = std::iter::repeat_with(touched).take(frames).collect();
        Self { idle: Mutex::new(idle), made: AtomicUsize::new(frames) }
    }

    pub(super) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    /// So many frames; new ones where too few are idle.
    fn take(&self, frames: usize) -> Vec<Box<[u8]>> {
        let mut idle = lock(&self.idle);
        let keep = idle.len().saturating_sub(frames);
        let mut taken = idle.split_off(keep);
        drop(idle);
        self.made.fetch_add(frames - taken.len(), Ordering::Relaxed);
        taken.resize_with(frames, fresh);
        taken
    }

    /// Frames with the bytes of a read, page by page. Each page is `None` if `valid` says that the
    /// read did not bring it.
    pub(super) fn fill(
        self: &Arc<Self>,
        bytes: &[u8],
        pages: usize,
        valid: impl Fn(usize) -> Option<usize>,
    ) -> Vec<Option<Arc<Frame>>> {
        let memory = self.take(pages);
        let page = |(number, mut memory): (usize, Box<[u8]>)| match valid(number) {
            Some(valid) => {
                let start = number * FRAME_BYTES;
                memory[..valid].copy_from_slice(&bytes[start..start + valid]);
                Some(Arc::new(Frame { memory, valid, pool: Arc::clone(self) }))
            }
            None => {
                lock(&self.idle).push(memory);
                None
            }
        };
        memory.into_iter().enumerate().map(page).collect()
    }

    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        lock(&self.idle).len()
    }
}

fn fresh() -> Box<[u8]> {
    vec![0; FRAME_BYTES].into_boxed_slice()
}

/// The bytes of one page of a file, up to its end. They never change.
#[derive(Debug)]
pub(super) struct Frame {
    memory: Box<[u8]>,
    valid: usize,
    pool: Arc<Pool>,
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.valid]
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        lock(&self.pool.idle).push(std::mem::take(&mut self.memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_hold_what_was_read_and_go_back() {
        let pool = Arc::new(Pool::touched(3));
        let bytes: Vec<u8> = (0..6000u32).map(|at| at as u8).collect();
        let valid = |page| [Some(4096), Some(1904), None][page];
        let frames = pool.fill(&bytes, 3, valid);
        assert_eq!(frames[0].as_deref().map(|frame| &frame[..]), Some(&bytes[..4096]));
        assert_eq!(frames[1].as_deref().map(|frame| &frame[..]), Some(&bytes[4096..]));
        assert!(frames[2].is_none());
        assert_eq!(pool.idle(), 1);
        drop(frames);
        assert_eq!(pool.idle(), 3);
    }
}
