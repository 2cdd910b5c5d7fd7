//! The reads that the kernel has, numbered for the ring. Their buffers are not freed as long as
//! they are here, not even after a panic.

use crate::fill::Fill;
use rustix::io::Errno;

/// Reads in flight by number.
#[derive(Debug, Default)]
pub(super) struct Slots {
    fills: Vec<Option<Fill>>,
    free: Vec<usize>,
}

impl Slots {
    /// How many reads the kernel has.
    pub(super) fn in_flight(&self) -> usize {
        self.fills.len() - self.free.len()
    }

    /// Takes a read in; its number stays its own until it is removed.
    pub(super) fn insert(&mut self, fill: Fill) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.fills.push(None);
            self.fills.len() - 1
        });
        self.fills[slot] = Some(fill);
        slot
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Fill> {
        self.fills.get_mut(slot)?.as_mut()
    }

    /// Gives back a read that the kernel has ended.
    pub(super) fn remove(&mut self, slot: usize) -> Option<Fill> {
        let fill = self.fills.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(fill)
    }

    /// Completes what is in flight with an error, without its buffers: the kernel may still write
    /// to them.
    pub(super) fn abandon(&mut self, errno: Errno) {
        self.free.clear();
        self.fills.drain(..).flatten().for_each(|fill| fill.abandon(errno.into()));
    }
}

impl Drop for Slots {
    /// Not empty only when the ring's thread panicked.
    fn drop(&mut self) {
        self.abandon(Errno::CANCELED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AlignedBuf, Read};
    use std::sync::{Arc, mpsc};

    fn fill(tag: u64, done: &mpsc::Sender<crate::Completion>) -> Fill {
        let file = Arc::new(std::fs::File::open("/dev/null").unwrap());
        let read =
            Read { file, offset: 0, buffer: AlignedBuf::with_capacity(8), tag, done: done.clone() };
        Fill::batch(vec![read]).next().unwrap()
    }

    #[test]
    fn numbers_are_used_again_only_after_removal() {
        let (done, _completions) = mpsc::channel();
        let mut slots = Slots::default();
        let (first, second) = (slots.insert(fill(1, &done)), slots.insert(fill(2, &done)));
        assert_eq!((first, second, slots.in_flight()), (0, 1, 2));
        assert!(slots.remove(first).is_some() && slots.remove(first).is_none());
        assert_eq!((slots.insert(fill(3, &done)), slots.in_flight()), (first, 2));
    }

    #[test]
    fn what_is_left_completes_without_its_buffer() {
        let (done, completions) = mpsc::channel();
        let mut slots = Slots::default();
        slots.insert(fill(5, &done));
        drop((slots, done));
        let ended: Vec<_> = completions.iter().collect();
        assert_eq!((ended.len(), ended[0].tag, ended[0].buffer.capacity()), (1, 5, 0));
        assert!(ended[0].result.is_err());
    }
}
