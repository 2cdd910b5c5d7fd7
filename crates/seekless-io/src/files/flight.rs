//! A read of neighbouring pages that is under way, and what came of it.

use super::frame::Frame;
use seekless_policy::readahead::PageNo;
use std::sync::{Arc, OnceLock};

/// One command to the device. All that wait for one of its pages share it.
#[derive(Debug)]
pub(super) struct Flight {
    first: PageNo,
    landed: OnceLock<Vec<Option<Arc<Frame>>>>,
}

impl Flight {
    pub(super) fn new(first: PageNo) -> Self {
        Self { first, landed: OnceLock::new() }
    }

    /// It has ended with these pages. A page is `None` if it must be read again alone.
    pub(super) fn land(&self, frames: Vec<Option<Arc<Frame>>>) {
        // Each read completes once; a second end would bring nothing new.
        let _ = self.landed.set(frames);
    }

    /// Waits for one of its pages.
    pub(super) fn wait(&self, page: PageNo) -> Option<Arc<Frame>> {
        self.landed.wait().get((page - self.first) as usize)?.clone()
    }
}
