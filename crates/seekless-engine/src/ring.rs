//! The io_uring engine: one thread owns the ring, takes what was submitted, and keeps up to `depth`
//! reads in flight. One `io_uring_enter` both hands over a batch and waits for the next completion.

mod driven;
mod driver;
mod probe;
mod shared;
mod slots;

use crate::fill::Fill;
use crate::job::Job;
use crate::tally::Tally;
use crate::write::{Drain, Write};
use crate::{AlignedBuf, BufferAndResult, Counters, Engine, Read};
use driver::Driver;
use rustix::event::{EventfdFlags, eventfd};
use seekless_device::Costs;
use shared::Shared;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

pub use driven::DrivenRing;
pub(crate) use probe::{Setup, open_with, why_refused};

/// Reads in flight unless the caller says otherwise.
const DEPTH: u32 = 64;
/// The kernel's own limit on a ring's entries, less one for the wake-up.
const DEPTH_MAX: u32 = 16_384;

/// The io_uring engine.
#[derive(Debug)]
pub struct Ring {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    depth: u32,
}

impl Ring {
    /// A ring that keeps up to 64 reads in flight.
    ///
    /// # Errors
    /// When io_uring is refused here, or lacks the operations needed; `Unsupported` or the kernel's
    /// own error.
    pub fn new() -> io::Result<Self> {
        Ring::with_depth(DEPTH)
    }

    /// A ring that keeps up to `depth` reads in flight (1 to 16,384); the rest wait in line.
    ///
    /// # Errors
    /// As [`Ring::new`].
    pub fn with_depth(depth: u32) -> io::Result<Self> {
        let depth = depth.clamp(1, DEPTH_MAX);
        let ring = probe::open(depth)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let shared = Arc::new(Shared { incoming: Mutex::default(), wake, tally: Tally::default() });
        let driver = Driver::new(ring, Arc::clone(&shared), depth as usize);
        let thread =
            std::thread::Builder::new().name("seekless-ring".to_owned()).spawn(|| driver.run())?;
        Ok(Ring { shared, thread: Some(thread), depth })
    }
}

impl Ring {
    fn take(&self, jobs: Vec<Job>) {
        let mut incoming = self.shared.lock();
        if let Some(errno) = incoming.broken {
            drop(incoming);
            return jobs.into_iter().for_each(|job| job.complete(Err(errno.into())));
        }
        let wake = incoming.jobs.is_empty() && !jobs.is_empty();
        incoming.jobs.extend(jobs);
        drop(incoming);
        if wake {
            self.shared.wake();
        }
    }
}

impl Engine for Ring {
    fn submit(&self, reads: Vec<Read>) {
        self.take(Fill::batch(reads).map(Job::Read).collect());
    }

    fn write(&self, writes: Vec<Write>) {
        self.take(writes.into_iter().map(|write| Job::Write(Drain::new(write))).collect());
    }

    fn write_now(&self, write: Write) {
        Drain::new(write).run(&self.shared.tally);
    }

    fn read_now(&self, file: Arc<File>, offset: u64, buffer: AlignedBuf) -> BufferAndResult {
        Fill::now(file, offset, buffer, &self.shared.tally)
    }

    fn counters(&self) -> Counters {
        self.shared.tally.counters()
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn costs(&self) -> Costs {
        Costs { depth: self.depth, ..Costs::ASSUMED }
    }

    fn knows_costs(&self) -> bool {
        false
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has leaked what the kernel may still write to; see `Slots`.
            let _ = thread.join();
        }
    }
}
