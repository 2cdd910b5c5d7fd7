//! The thread that wakes from time to time and writes what is due.

use super::shared::Shared;
use crate::lock;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Desk {
    closing: Mutex<bool>,
    changed: Condvar,
}

pub(super) struct Flusher {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    pub(super) fn start(shared: Arc<Shared>, wake: Duration) -> io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let own = Arc::clone(&desk);
        let thread = Builder::new()
            .name("seekless-flush".to_owned())
            .spawn(move || own.run(&shared, wake))?;
        Ok(Self { desk, thread: Some(thread) })
    }
}

impl Desk {
    fn run(&self, shared: &Shared, wake: Duration) {
        while self.sleep(wake) {
            shared.flush_due();
        }
    }

    /// False if the cache goes away.
    fn sleep(&self, wake: Duration) -> bool {
        let until = Instant::now() + wake;
        let mut closing = lock(&self.closing);
        while !*closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            let waited = self.changed.wait_timeout(closing, left);
            closing = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        *lock(&self.desk.closing) = true;
        self.desk.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
