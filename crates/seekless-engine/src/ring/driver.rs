//! The ring's thread: take what came in, hand it to the kernel, wait, and send back what has ended.

use super::shared::Shared;
use super::slots::Slots;
use crate::job::Job;
use crate::progress::Next;
use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use rustix::event::PollFlags;
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The wake-up's number; reads and writes are numbered from 0.
const WAKE: u64 = u64::MAX;

pub(super) struct Driver {
    ring: IoUring,
    shared: Arc<Shared>,
    depth: usize,
    slots: Slots,
    queue: VecDeque<Job>,
    /// The kernel polls the eventfd for us. It writes to no memory of ours, so the poll may outlive
    /// this thread.
    wake_polled: bool,
    closing: bool,
}

impl Driver {
    pub(super) fn new(ring: IoUring, shared: Arc<Shared>, depth: usize) -> Self {
        let (slots, queue) = (Slots::default(), VecDeque::new());
        Driver { ring, shared, depth, slots, queue, wake_polled: false, closing: false }
    }

    /// Runs until the engine is dropped and the kernel has ended every read and write.
    pub(super) fn run(mut self) {
        loop {
            self.take_incoming();
            if self.closing && self.slots.in_flight() == 0 {
                return;
            }
            self.push_wake();
            self.push_jobs();
            let entered = self.ring.submit_and_wait(1);
            let ended = self.reap();
            match entered.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
                Ok(_) | Err(Errno::INTR) => {}
                // The kernel is short of something that our own completions may give back.
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOMEM) if ended > 0 => {}
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOMEM) => {
                    std::thread::sleep(Duration::from_millis(1))
                }
                Err(errno) => return self.fail(errno),
            }
        }
    }

    fn take_incoming(&mut self) {
        let mut incoming = self.shared.lock();
        self.queue.extend(incoming.jobs.drain(..));
        self.closing = incoming.closing;
        drop(incoming);
        if self.closing {
            self.queue.drain(..).for_each(Job::cancel);
        }
    }

    fn push_wake(&mut self) {
        if !self.wake_polled {
            let wake = types::Fd(self.shared.wake.as_raw_fd());
            let poll =
                opcode::PollAdd::new(wake, u32::from(PollFlags::IN.bits())).build().user_data(WAKE);
            // SAFETY: a poll touches no memory of ours, and the eventfd lives as long as `shared`.
            self.wake_polled = unsafe { push(&mut self.ring, &poll) };
        }
    }

    fn push_jobs(&mut self) {
        while self.slots.in_flight() < self.depth {
            let Some(job) = self.queue.pop_front() else { return };
            let slot = self.slots.insert(job);
            let Some(entry) = self.slots.get_mut(slot).map(|job| entry(job, slot)) else {
                return;
            };
            // SAFETY: the entry points into the memory of the job in `slot`, which stays there,
            // neither moved nor freed, until its completion is reaped; the job also holds its file
            // open.
            if !unsafe { push(&mut self.ring, &entry) } {
                self.queue.extend(self.slots.remove(slot));
                self.queue.rotate_right(1);
                return;
            }
        }
    }

    /// Takes all completions that are there, and returns how many.
    fn reap(&mut self) -> usize {
        let ended: Vec<(u64, i32)> =
            self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
        for &(number, result) in &ended {
            match usize::try_from(number) {
                Ok(slot) if number != WAKE => self.job_ended(slot, result),
                _ => self.woken(),
            }
        }
        ended.len()
    }

    fn woken(&mut self) {
        self.wake_polled = false;
        // Empties the counter, so that the next poll waits; what came in is taken after this, so
        // none is missed.
        let _ = rustix::io::read(&self.shared.wake, &mut [0u8; 8]);
    }

    fn job_ended(&mut self, slot: usize, result: i32) {
        let Some(mut job) = self.slots.remove(slot) else { return };
        let result = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
        // SAFETY: the kernel has written as many bytes of the target as it says.
        match unsafe { job.called(result, &self.shared.tally) } {
            Next::Done(result) => job.complete(result),
            Next::More if self.closing => job.cancel(),
            Next::More => self.queue.push_front(job),
        }
    }

    /// The ring cannot be used any more: every read and write, now and later, gets this
    /// error.
    fn fail(mut self, errno: Errno) {
        let mut incoming = self.shared.lock();
        incoming.broken = Some(errno);
        self.queue.extend(incoming.jobs.drain(..));
        drop(incoming);
        self.slots.abandon(errno);
        self.queue.drain(..).for_each(|job| job.complete(Err(errno.into())));
    }
}

/// A read or write for the ring, named by its slot.
pub(super) fn entry(job: &mut Job, slot: usize) -> Entry {
    let entry = match job {
        Job::Read(fill) => {
            let (file, offset, target) = fill.target();
            let bytes = u32::try_from(target.len()).expect("one call reads at most 1 GiB");
            opcode::Read::new(types::Fd(file.as_raw_fd()), target.as_mut_ptr().cast(), bytes)
                .offset(offset)
                .build()
        }
        Job::Write(drain) => {
            let (file, offset, pieces) = drain.target();
            let count = u32::try_from(pieces.len()).expect("one call writes at most 1024 pages");
            opcode::Writev::new(types::Fd(file.as_raw_fd()), pieces.as_ptr(), count)
                .offset(offset)
                .build()
        }
    };
    entry.user_data(slot as u64)
}

/// Puts an entry on the submission queue; false when it is full.
///
/// # Safety
/// What the entry points to stays valid until its completion.
unsafe fn push(ring: &mut IoUring, entry: &Entry) -> bool {
    // SAFETY: the caller's promise.
    unsafe { ring.submission().push(entry) }.is_ok()
}
