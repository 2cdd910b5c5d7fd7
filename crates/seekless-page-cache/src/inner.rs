//! What a cache and its open files share.

use super::announce::Announcer;
use super::flusher::Flusher;
use super::shared::Shared;
use crate::lock;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) struct Inner {
    pub(super) announcer: Announcer,
    pub(super) shared: Arc<Shared>,
    /// Runs once a file is open to write.
    pub(super) flusher: Mutex<Option<Flusher>>,
    /// How often it wakes; never for a cache that its owner flushes.
    pub(super) wake: Option<Duration>,
}

impl Inner {
    pub(super) fn start_flusher(&self) -> io::Result<()> {
        let mut flusher = lock(&self.flusher);
        if let (Some(wake), None) = (self.wake, &*flusher) {
            *flusher = Some(Flusher::start(Arc::clone(&self.shared), wake)?);
        }
        Ok(())
    }
}

impl Drop for Inner {
    /// Writes dirty pages. To get the errors, close the cache instead.
    fn drop(&mut self) {
        drop(lock(&self.flusher).take());
        self.shared.write_back_all();
    }
}
