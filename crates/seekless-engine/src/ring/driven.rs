//! io_uring without a thread of its own: the thread that submits hands the reads to the kernel, and
//! the thread that waits takes completions. On a fast device, to wake another thread takes as long
//! as a read.

use super::driver::entry;
use super::slots::Slots;
use super::{DEPTH, probe};
use crate::fill::Fill;
use crate::job::Job;
use crate::progress::Next;
use crate::tally::Tally;
use crate::write::{Drain, Write};
use crate::{AlignedBuf, BufferAndResult, Counters, Engine, Read};
use io_uring::IoUring;
use rustix::io::Errno;
use seekless_device::Costs;
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The io_uring engine for callers that wait by [`Engine::drive`]. It works only while they do: a
/// read may have ended long before its completion is sent.
pub struct DrivenRing {
    ring: IoUring,
    /// Guards both queues of the ring.
    state: Mutex<State>,
    /// What has ended was sent.
    changed: Condvar,
    tally: Tally,
}

#[derive(Debug, Default)]
struct State {
    slots: Slots,
    /// What waits for a place in the ring.
    queue: VecDeque<Job>,
    /// A thread waits for the kernel, and takes what ends next.
    driven: bool,
    /// Threads that wait for that one.
    waiting: usize,
    /// The ring has failed for good; later reads and writes get this error.
    broken: Option<Errno>,
}

impl DrivenRing {
    /// A ring that keeps up to 64 reads in flight.
    ///
    /// # Errors
    /// As [`Ring::new`](super::Ring::new).
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            ring: probe::open(DEPTH)?,
            state: Mutex::default(),
            changed: Condvar::new(),
            tally: Tally::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, jobs: impl Iterator<Item = Job>) {
        let mut state = self.lock();
        match state.broken {
            Some(errno) => jobs.for_each(|job| job.complete(Err(errno.into()))),
            None => {
                state.queue.extend(jobs);
                self.hand_over(&mut state);
            }
        }
    }

    /// Fills the ring from the queue, and hands it over.
    fn hand_over(&self, state: &mut State) {
        // SAFETY: the lock of the state is held, and nothing else touches this queue.
        let mut submission = unsafe { self.ring.submission_shared() };
        while state.slots.in_flight() < DEPTH as usize {
            let Some(job) = state.queue.pop_front() else { break };
            let slot = state.slots.insert(job);
            let Some(entry) = state.slots.get_mut(slot).map(|job| entry(job, slot)) else {
                break;
            };
            // SAFETY: the entry points into the memory of the job in `slot`, which stays there,
            // neither moved nor freed, until its completion is reaped; the job also holds its file
            // open.
            if unsafe { submission.push(&entry) }.is_err() {
                state.queue.extend(state.slots.remove(slot));
                state.queue.rotate_right(1);
                break;
            }
        }
        drop(submission);
        if let Err(errno) = self.ring.submit().map_err(errno_of) {
            self.check(state, errno);
        }
    }

    /// The kernel may be short of something, or have been interrupted: then the next call does it.
    fn check(&self, state: &mut State, errno: Errno) {
        if !matches!(errno, Errno::INTR | Errno::AGAIN | Errno::BUSY | Errno::NOMEM) {
            self.fail(state, errno);
        }
    }

    /// Takes what has ended, and hands over what this makes room for. How many calls had ended.
    fn reap(&self, state: &mut State) -> usize {
        // SAFETY: the lock of the state is held, and nothing else touches this queue.
        let completion = unsafe { self.ring.completion_shared() };
        let ended: Vec<(u64, i32)> =
            completion.map(|entry| (entry.user_data(), entry.result())).collect();
        for &(slot, result) in &ended {
            let Some(mut job) = state.slots.remove(slot as usize) else { continue };
            let result = usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
            // SAFETY: the kernel has written as many bytes of the target as it says.
            match unsafe { job.called(result, &self.tally) } {
                Next::Done(result) => job.complete(result),
                Next::More => state.queue.push_front(job),
            }
        }
        if !state.queue.is_empty() {
            self.hand_over(state);
        }
        ended.len()
    }

    /// Waits until something ends, and takes what has.
    fn wait_for_kernel(&self) {
        let waited = self.ring.submit_and_wait(1).map_err(errno_of);
        let mut state = self.lock();
        state.driven = false;
        let ended = self.reap(&mut state);
        if state.waiting > 0 {
            self.changed.notify_all();
        }
        if let Err(errno) = waited {
            self.check(&mut state, errno);
            if errno != Errno::INTR && ended == 0 {
                // Only what ends can give the kernel back what it is short of.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// The ring cannot be used any more: every read and write, now and later, gets this
    /// error.
    fn fail(&self, state: &mut State, errno: Errno) {
        state.broken = Some(errno);
        state.slots.abandon(errno);
        state.queue.drain(..).for_each(|job| job.complete(Err(errno.into())));
    }
}

impl Engine for DrivenRing {
    fn submit(&self, reads: Vec<Read>) {
        self.take(Fill::batch(reads).map(Job::Read));
    }

    fn write(&self, writes: Vec<Write>) {
        self.take(writes.into_iter().map(|write| Job::Write(Drain::new(write))));
    }

    fn write_now(&self, write: Write) {
        Drain::new(write).run(&self.tally);
    }

    fn read_now(&self, file: Arc<File>, offset: u64, buffer: AlignedBuf) -> BufferAndResult {
        Fill::now(file, offset, buffer, &self.tally)
    }

    fn drive(&self, wait: bool) -> bool {
        let mut state = self.lock();
        if state.driven {
            if wait {
                state.waiting += 1;
                let state = self.changed.wait(state);
                state.unwrap_or_else(PoisonError::into_inner).waiting -= 1;
            }
            return true;
        }
        if self.reap(&mut state) > 0 || !wait {
            return true;
        }
        if state.slots.in_flight() == 0 {
            // What the caller waits for was just sent, or is about to be submitted.
            drop(state);
            std::thread::yield_now();
            return true;
        }
        state.driven = true;
        drop(state);
        self.wait_for_kernel();
        true
    }

    fn counters(&self) -> Counters {
        self.tally.counters()
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn costs(&self) -> Costs {
        Costs { depth: DEPTH, ..Costs::ASSUMED }
    }

    fn knows_costs(&self) -> bool {
        false
    }
}

impl Drop for DrivenRing {
    fn drop(&mut self) {
        std::mem::take(&mut self.lock().queue).into_iter().for_each(Job::cancel);
        while self.lock().slots.in_flight() > 0 {
            self.drive(true);
        }
    }
}

impl fmt::Debug for DrivenRing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("DrivenRing").field("state", &self.state).finish_non_exhaustive()
    }
}

fn errno_of(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
