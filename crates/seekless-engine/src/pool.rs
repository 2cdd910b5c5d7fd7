//! Buffers that are given back and taken again: a fresh large one costs page faults for every 4 KiB
//! of it.

use crate::{ALIGNMENT, AlignedBuf};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Idle buffers by size, up to a limit of bytes in all. Shared by threads.
#[derive(Debug)]
pub struct BufferPool {
    limit_bytes: usize,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    by_size: BTreeMap<usize, Vec<AlignedBuf>>,
    bytes: usize,
}

impl BufferPool {
    /// A pool that keeps at most `limit_bytes` of idle memory.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        BufferPool { limit_bytes, idle: Mutex::default() }
    }

    /// An empty buffer of exactly this capacity: an idle one that is at most twice as large, or a
    /// new one.
    #[must_use]
    pub fn take(&self, capacity: usize) -> AlignedBuf {
        let size = size_class(capacity);
        let idle = &mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((&fits, buffers)) = idle.by_size.range_mut(size..=size.saturating_mul(2)).next()
        {
            let buffer = buffers.pop().expect("a size without buffers is removed");
            if buffers.is_empty() {
                idle.by_size.remove(&fits);
            }
            idle.bytes -= fits;
            return buffer.reuse(capacity);
        }
        AlignedBuf::with_capacity(size).reuse(capacity)
    }

    /// Gives a buffer back; it is freed when the pool is full.
    pub fn give(&self, buffer: AlignedBuf) {
        let size = buffer.allocated();
        let idle = &mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if size > 0 && idle.bytes + size <= self.limit_bytes {
            idle.bytes += size;
            idle.by_size.entry(size).or_default().push(buffer);
        }
    }

    /// Bytes of idle memory.
    #[must_use]
    pub fn idle_bytes(&self) -> usize {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

/// Sizes come in quarters of a power of two, so that buffers of nearly the same length stand in for
/// each other.
fn size_class(capacity: usize) -> usize {
    let pages = capacity.div_ceil(ALIGNMENT).max(1);
    let step = (pages.next_power_of_two() / 8).max(1);
    pages.next_multiple_of(step).saturating_mul(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_again() {
        let pool = BufferPool::new(1 << 20);
        let first = pool.take(100_000);
        let start = first.as_ptr();
        pool.give(first);
        assert!(pool.idle_bytes() >= 100_000);
        let again = pool.take(99_000);
        assert_eq!(
            (again.as_ptr(), again.capacity(), again.len(), pool.idle_bytes()),
            (start, 99_000, 0, 0)
        );
    }

    #[test]
    fn keeps_no_more_than_its_limit_and_lends_no_giant_to_a_dwarf() {
        let pool = BufferPool::new(1 << 20);
        pool.give(pool.take(2 << 20));
        assert_eq!(pool.idle_bytes(), 0);
        pool.give(pool.take(1 << 20));
        assert_eq!(pool.idle_bytes(), 1 << 20);
        let small = pool.take(4096);
        assert_eq!((small.allocated(), pool.idle_bytes()), (4096, 1 << 20));
    }

    #[test]
    fn size_classes_waste_at_most_a_quarter() {
        for capacity in (0..40_000_000).step_by(77_777) {
            let size = size_class(capacity);
            assert!(
                size >= capacity
                    && size <= (capacity + capacity / 4).next_multiple_of(ALIGNMENT).max(ALIGNMENT)
            );
        }
    }
}
