//! Where ended reads wait until a reader takes them into the cache.

use seekless_engine::{Completion, Done};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where the engine reports.
#[derive(Debug)]
pub(super) struct Landing {
    pub(super) done: Done,
    pub(super) ended: Mutex<Receiver<Completion>>,
    /// Reads that the engine has.
    pub(super) in_air: AtomicUsize,
    pub(super) watch: Mutex<Watch>,
    changed: Condvar,
}

/// Who waits for the engine.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// A reader takes in what ends next.
    pub(super) taken: bool,
    /// Readers that wait for it to do so.
    waiting: usize,
}

impl Landing {
    pub(super) fn new() -> Self {
        let (done, ended) = channel();
        Self {
            done: done.into(),
            ended: Mutex::new(ended),
            in_air: AtomicUsize::new(0),
            watch: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// The engine gets `reads` reads.
    pub(super) fn take_off(&self, reads: usize) {
        self.in_air.fetch_add(reads, Ordering::Relaxed);
    }

    /// Waits until something has landed, or no thread takes in reads that end any more.
    pub(super) fn wait<'a>(&'a self, mut watch: MutexGuard<'a, Watch>) -> MutexGuard<'a, Watch> {
        watch.waiting += 1;
        let mut watch = self.changed.wait(watch).unwrap_or_else(PoisonError::into_inner);
        watch.waiting -= 1;
        watch
    }

    /// Wakes those that wait: a system call, which most reads need not make.
    pub(super) fn wake(&self, watch: &Watch) {
        if watch.waiting > 0 {
            self.changed.notify_all();
        }
    }
}
