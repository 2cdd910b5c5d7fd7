//! A read of neighbouring pages that is under way, and what came of it.

use super::frame::Frame;
use seekless_policy::readahead::PageNo;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// One command to the device. All that wait for one of its pages share it.
#[derive(Debug)]
pub(super) struct Flight {
    first: PageNo,
    /// A reader makes it itself, and no completion comes from the engine.
    own: AtomicBool,
    landed: OnceLock<Vec<Option<Frame>>>,
}

impl Flight {
    pub(super) fn new(first: PageNo) -> Self {
        Self { first, own: AtomicBool::new(false), landed: OnceLock::new() }
    }

    /// A reader makes it itself. Said before other readers can see it.
    pub(super) fn make_own(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_own(&self) -> bool {
        self.own.load(Ordering::Relaxed)
    }

    /// It has ended with these pages. A page is `None` if it must be read again alone.
    pub(super) fn land(&self, frames: Vec<Option<Frame>>) {
        // Each read completes once; a second end would bring nothing new.
        let _ = self.landed.set(frames);
    }

    pub(super) fn has_landed(&self) -> bool {
        self.landed.get().is_some()
    }

    /// Waits until another thread has landed it.
    pub(super) fn wait(&self) {
        self.landed.wait();
    }

    /// One of its pages, once it has landed.
    pub(super) fn page(&self, page: PageNo) -> Option<Frame> {
        self.landed.get()?.get((page - self.first) as usize)?.clone()
    }
}
