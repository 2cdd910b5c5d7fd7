//! A pool of threads that call `pread` and `pwritev`: works everywhere, for buffered and direct
//! files alike.

use crate::fill::Fill;
use crate::job::Job;
use crate::tally::Tally;
use crate::write::{Drain, Write};
use crate::{AlignedBuf, BufferAndResult, Counters, Engine, Read};
use seekless_device::Costs;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Reads and writes in flight at most: one a thread.
const THREADS_MAX: usize = 16;

/// The thread-pool engine. Threads start when reads wait for one, and stay until the engine is
/// dropped.
#[derive(Debug)]
pub struct Threads {
    shared: Arc<Shared>,
    name: &'static str,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    tally: Tally,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Job>,
    workers: Vec<JoinHandle<()>>,
    idle: usize,
    closing: bool,
}

impl Threads {
    /// A pool without threads yet.
    #[must_use]
    pub fn new() -> Self {
        Threads::named("threads")
    }

    /// A pool whose name says why it was chosen.
    pub(crate) fn named(name: &'static str) -> Self {
        Threads { shared: Arc::default(), name }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Threads::new()
    }
}

impl Threads {
    fn take(&self, jobs: impl Iterator<Item = Job>) {
        let mut state = self.shared.lock();
        state.queue.extend(jobs);
        let wanted =
            state.queue.len().saturating_sub(state.idle).min(THREADS_MAX - state.workers.len());
        for _ in 0..wanted {
            match start_worker(&self.shared) {
                Ok(worker) => state.workers.push(worker),
                Err(error) => {
                    fail_without_workers(&mut state, &error);
                    break;
                }
            }
        }
        drop(state);
        self.shared.work.notify_all();
    }
}

impl Engine for Threads {
    fn submit(&self, reads: Vec<Read>) {
        self.take(Fill::batch(reads).map(Job::Read));
    }

    fn write(&self, writes: Vec<Write>) {
        self.take(writes.into_iter().map(|write| Job::Write(Drain::new(write))));
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
        self.name
    }

    fn costs(&self) -> Costs {
        Costs { depth: THREADS_MAX as u32, ..Costs::ASSUMED }
    }

    fn knows_costs(&self) -> bool {
        false
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closing = true;
        let unstarted = std::mem::take(&mut state.queue);
        let workers = std::mem::take(&mut state.workers);
        drop(state);
        self.shared.work.notify_all();
        unstarted.into_iter().for_each(Job::cancel);
        for worker in workers {
            // A worker that panicked has already dropped its read; there is nothing left to save.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start_worker(shared: &Arc<Shared>) -> io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    std::thread::Builder::new().name("seekless-read".to_owned()).spawn(move || work(&shared))
}

/// With fewer threads than asked for it is only slower. Without any thread the reads would wait for
/// ever.
fn fail_without_workers(state: &mut State, error: &io::Error) {
    if state.workers.is_empty() {
        for job in state.queue.drain(..) {
            job.complete(Err(io::Error::new(
                error.kind(),
                format!("no thread to read or write with: {error}"),
            )));
        }
    }
}

fn work(shared: &Shared) {
    let mut state = shared.lock();
    loop {
        if let Some(job) = state.queue.pop_front() {
            drop(state);
            job.run(&shared.tally);
            state = shared.lock();
        } else if state.closing {
            return;
        } else {
            state.idle += 1;
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}
