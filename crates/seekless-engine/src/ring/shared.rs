//! What submitters hand to the ring's thread.

use crate::job::Job;
use crate::tally::Tally;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What submitters and the ring's thread share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) incoming: Mutex<Incoming>,
    /// Written when `incoming` stops being empty, polled in the ring.
    pub(super) wake: OwnedFd,
    pub(super) tally: Tally,
}

#[derive(Debug, Default)]
pub(super) struct Incoming {
    pub(super) jobs: Vec<Job>,
    pub(super) closing: bool,
    /// The ring has failed for good; later reads and writes get this error.
    pub(super) broken: Option<Errno>,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wake(&self) {
        // Any number wakes. Fails only when the counter is full, and then the thread is already
        // being woken.
        let _ = rustix::io::write(&self.wake, &1u64.to_le_bytes());
    }
}
