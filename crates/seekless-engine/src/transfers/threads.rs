//! Transfers by `pread` and `pwrite` in a pool of threads, where io_uring is refused.

use super::{Slots, Transfer, Transferred, Transfers, Wait, source_start};
use crate::AlignedBuf;
use rustix::io::{Errno, pread, pwrite};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// A transfer in flight takes a thread; more would mostly wait for the processors.
const THREADS_MAX: u32 = 64;

pub(super) struct ThreadTransfers {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    name: &'static str,
    busy: Vec<bool>,
    count: usize,
    step: usize,
    pushed: Vec<Transfer>,
}

struct Shared {
    files: Vec<File>,
    memory: Vec<Mutex<AlignedBuf>>,
    /// What writes write.
    source: AlignedBuf,
    state: Mutex<State>,
    work: Condvar,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Transfer>,
    ended: Vec<Transferred>,
    closing: bool,
}

impl ThreadTransfers {
    pub(super) fn new(files: Vec<File>, slots: &Slots, name: &'static str) -> io::Result<Self> {
        let step = slots.step();
        let slot = |_| Ok(Mutex::new(slots.memory(1)?));
        let memory = (0..slots.count).map(slot).collect::<io::Result<Vec<_>>>()?;
        let mut source = slots.source()?;
        source.set_len(source.capacity());
        let (state, work, ended) = (Mutex::default(), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { files, memory, source, state, work, ended });
        let mut transfers = Self {
            shared,
            workers: Vec::new(),
            name,
            busy: vec![false; slots.count as usize],
            count: 0,
            step,
            pushed: Vec::new(),
        };
        for _ in 0..slots.count.min(THREADS_MAX) {
            let shared = Arc::clone(&transfers.shared);
            let thread = std::thread::Builder::new().name("seekless-replay".to_owned());
            match thread.spawn(move || shared.work()) {
                Ok(worker) => transfers.workers.push(worker),
                Err(error) if transfers.workers.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(transfers)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(transfer) = state.queue.pop_front() {
                drop(state);
                let result = self.transfer(transfer);
                state = self.lock();
                state.ended.push(Transferred { slot: transfer.slot, result });
                self.ended.notify_one();
            } else if state.closing {
                return;
            } else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn transfer(&self, transfer: Transfer) -> Result<u32, Errno> {
        let file = &self.files[transfer.file as usize];
        let slot = &self.memory[transfer.slot as usize];
        let mut memory = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let piece = &mut memory.whole_mut()[..transfer.bytes as usize];
        let source = &self.source[source_start(transfer.offset)..][..transfer.bytes as usize];
        loop {
            let moved = match transfer.write {
                false => pread(file, &mut *piece, transfer.offset),
                true => pwrite(file, source, transfer.offset),
            };
            match moved {
                Err(Errno::INTR) => {}
                moved => return moved.map(|bytes| bytes as u32),
            }
        }
    }
}

impl Transfers for ThreadTransfers {
    fn push(&mut self, transfer: Transfer) {
        let slot = transfer.slot as usize;
        assert!(!self.busy[slot] && transfer.bytes as usize <= self.step, "{transfer:?}");
        assert!((transfer.file as usize) < self.shared.files.len(), "{transfer:?}");
        self.busy[slot] = true;
        self.count += 1;
        self.pushed.push(transfer);
    }

    fn start(&mut self) {
        if !self.pushed.is_empty() {
            self.shared.lock().queue.extend(self.pushed.drain(..));
            self.shared.work.notify_all();
        }
    }

    fn turn(&mut self, wait: Wait, ended: &mut Vec<Transferred>) -> io::Result<()> {
        self.start();
        let mut state = self.shared.lock();
        let until = match wait {
            Wait::ForOne => None,
            Wait::AtMost(time) => Some(Instant::now() + time),
        };
        while state.ended.is_empty() && (self.count > 0 || until.is_some()) {
            let waited = match until {
                None => self.shared.ended.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Ok(());
                    }
                    let waited = self.shared.ended.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state = waited;
        }
        for transferred in state.ended.drain(..) {
            self.busy[transferred.slot as usize] = false;
            self.count -= 1;
            ended.push(transferred);
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn depth(&self) -> u32 {
        self.workers.len() as u32
    }
}

impl Drop for ThreadTransfers {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.queue.clear();
        state.closing = true;
        drop(state);
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing left to save.
            let _ = worker.join();
        }
    }
}
