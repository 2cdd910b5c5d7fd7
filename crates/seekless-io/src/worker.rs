//! The threads that decode: each takes the next completed read, no matter which load asked for it.

use crate::job::Job;
use crate::shared::Shared;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// The workers of one store; joined when this is dropped.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(crate) fn start(shared: Arc<Shared>, count: usize) -> io::Result<Self> {
        let mut workers = Self { shared, threads: Vec::with_capacity(count) };
        for number in 0..count {
            let shared = workers.shared.clone();
            let thread = Builder::new().name(format!("seekless-{number}"));
            // On an error those already started are ended by the drop.
            workers.threads.push(thread.spawn(move || work(&shared))?);
        }
        Ok(workers)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.threads.iter().for_each(|_| self.shared.tell(Job::Quit));
        // A task that one of them woke may hold the last store, and drop it there.
        let own = std::thread::current().id();
        for thread in self.threads.drain(..).filter(|thread| thread.thread().id() != own) {
            // A worker that panicked has already answered its waiters.
            let _ = thread.join();
        }
    }
}

fn work(shared: &Shared) {
    while let Some((job, when)) = shared.next_job() {
        match job {
            Job::Ended(completion) => shared.completed(completion, when),
            Job::Decode { read, id } => shared.deliver(read, id),
            Job::Chunk { read } => shared.chunk(read, when),
            Job::Quit => return,
        }
    }
}
