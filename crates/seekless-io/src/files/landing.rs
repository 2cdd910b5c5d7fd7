//! Where ended reads wait until a reader takes them into the cache.

use seekless_engine::Completion;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex};

/// Where the engine reports.
#[derive(Debug)]
pub(super) struct Landing {
    pub(super) done: Sender<Completion>,
    pub(super) ended: Mutex<Receiver<Completion>>,
    /// Reads that the engine has.
    pub(super) in_air: AtomicUsize,
    /// Whether a reader waits for the engine.
    pub(super) watched: Mutex<bool>,
    pub(super) changed: Condvar,
}

impl Landing {
    pub(super) fn new() -> Self {
        let (done, ended) = channel();
        Self {
            done,
            ended: Mutex::new(ended),
            in_air: AtomicUsize::new(0),
            watched: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    /// The engine gets so many reads.
    pub(super) fn take_off(&self, reads: usize) {
        self.in_air.fetch_add(reads, Ordering::Relaxed);
    }
}
