//! How many questions of the kernel a mirror has answered.

use rustix::thread::Pid;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Questions that programs waited for.
#[derive(Default)]
pub(super) struct Requests {
    answered: AtomicU64,
    /// The thread that asks ahead of the program; 0 if there is none.
    ahead: AtomicU32,
}

impl Requests {
    /// One that this thread asked.
    pub(super) fn count(&self, thread: u32) {
        if self.ahead.load(Ordering::Relaxed) != thread || thread == 0 {
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What this thread asks is not counted.
    pub(super) fn leave_out(&self, thread: Pid) {
        self.ahead.store(thread.as_raw_nonzero().get().unsigned_abs(), Ordering::Relaxed);
    }

    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }
}
