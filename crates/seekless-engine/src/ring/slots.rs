//! The reads and writes that the kernel has, numbered for the ring. Their memory is not freed as
//! long as they are here, not even after a panic.

use crate::job::Job;
use rustix::io::Errno;

/// Jobs in flight by number.
#[derive(Debug, Default)]
pub(super) struct Slots {
    jobs: Vec<Option<Job>>,
    free: Vec<usize>,
}

impl Slots {
    /// How many the kernel has.
    pub(super) fn in_flight(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// Takes a job in; its number stays its own until it is removed.
    pub(super) fn insert(&mut self, job: Job) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() - 1
        });
        self.jobs[slot] = Some(job);
        slot
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Job> {
        self.jobs.get_mut(slot)?.as_mut()
    }

    /// Gives back a job that the kernel has ended.
    pub(super) fn remove(&mut self, slot: usize) -> Option<Job> {
        let fill = self.jobs.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(fill)
    }

    /// Completes what is in flight with an error, without its memory: the kernel may still use
    /// it.
    pub(super) fn abandon(&mut self, errno: Errno) {
        self.free.clear();
        self.jobs.drain(..).flatten().for_each(|job| job.abandon(errno.into()));
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
    use crate::Done;
    use crate::fill::Fill;
    use crate::{AlignedBuf, Read};
    use std::sync::{Arc, mpsc};

    fn fill(tag: u64, done: &Done) -> Job {
        let file = Arc::new(std::fs::File::open("/dev/null").unwrap());
        let read =
            Read { file, offset: 0, buffer: AlignedBuf::with_capacity(8), tag, done: done.clone() };
        Job::Read(Fill::batch(vec![read]).next().unwrap())
    }

    #[test]
    fn numbers_are_used_again_only_after_removal() {
        let done = Done::new(drop);
        let mut slots = Slots::default();
        let (first, second) = (slots.insert(fill(1, &done)), slots.insert(fill(2, &done)));
        assert_eq!((first, second, slots.in_flight()), (0, 1, 2));
        assert!(slots.remove(first).is_some() && slots.remove(first).is_none());
        assert_eq!((slots.insert(fill(3, &done)), slots.in_flight()), (first, 2));
    }

    #[test]
    fn what_is_left_completes_without_its_buffer() {
        let (sender, completions) = mpsc::channel();
        let done = Done::from(sender);
        let mut slots = Slots::default();
        slots.insert(fill(5, &done));
        drop((slots, done));
        let ended: Vec<_> = completions.iter().collect();
        assert_eq!((ended.len(), ended[0].tag, ended[0].buffer.capacity()), (1, 5, 0));
        assert!(ended[0].result.is_err());
    }
}
