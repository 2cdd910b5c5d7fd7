//! Any engine, slowed to a device model: a read or write completes when both the engine and the
//! model have ended it. One thread keeps the time.

use crate::clock::{Clock, LOOK_AGAIN, others_sleep};
use crate::pacer::Pacer;
use crate::write::Write;
use crate::{AlignedBuf, Completion, Counters, Done, Engine, Read};
use rustix::thread::set_current_timer_slack;
use seekless_device::{Costs, DeviceModel, Nanos};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// The tag of a message that only wakes the timer; the pacer numbers its own from 0.
const WAKE: u64 = u64::MAX;

/// An engine behind a device model. Each read or write counts as one request, or more if it is
/// large. An open is one request for nothing at the device's start, unless
/// [`Throttled::with_opening`] says more.
#[derive(Debug)]
pub struct Throttled<E: Engine + ?Sized = dyn Engine> {
    shared: Arc<Shared>,
    /// Where the engine below, and `charge`, report; gone once the engine is being dropped.
    inner_done: Option<Sender<Completion>>,
    timer: Option<JoinHandle<()>>,
    inner: Arc<E>,
    /// What an open asks of the device: offset and bytes of each request.
    opening: Vec<(u64, u64)>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    pacer: Pacer,
    pending: HashMap<u64, Pending>,
    closing: bool,
}

/// A read or write in flight on the model, in the engine below, or both.
#[derive(Debug)]
struct Pending {
    tag: u64,
    done: Done,
    model_ended: bool,
    read: Option<Completion>,
}

impl<E: Engine + ?Sized> Throttled<E> {
    /// Slows `inner` to `model` on `clock`.
    ///
    /// # Errors
    /// When the timer's thread cannot be started.
    pub fn new(
        inner: Arc<E>,
        model: Box<dyn DeviceModel + Send>,
        clock: Clock,
    ) -> io::Result<Self> {
        let state =
            State { pacer: Pacer::new(model, clock), pending: HashMap::new(), closing: false };
        let shared = Arc::new(Shared { state: Mutex::new(state) });
        let (inner_done, completions) = channel();
        let timer_shared = Arc::clone(&shared);
        let timer = std::thread::Builder::new()
            .name("seekless-timer".to_owned())
            .spawn(move || timer_shared.run(&completions))?;
        Ok(Throttled {
            shared,
            inner_done: Some(inner_done),
            timer: Some(timer),
            inner,
            opening: vec![(0, 0)],
        })
    }

    /// The same, where an open asks this of the device: offset on the model and bytes of each
    /// request, one after another.
    #[must_use]
    pub fn with_opening(mut self, opening: Vec<(u64, u64)>) -> Self {
        self.opening = opening;
        self
    }

    /// A read that the engine below has already ended: only the model is waited for.
    fn charge(&self, offset: u64, bytes: u64) {
        let (done, charged) = channel();
        let tag = self.shared.lock().start(false, offset, bytes, 0, done.into());
        if self.inner_done().send(message(tag)).is_ok() {
            let _ = charged.recv();
        }
    }

    fn inner_done(&self) -> &Sender<Completion> {
        self.inner_done.as_ref().expect("taken only in drop")
    }
}

impl<E: Engine + ?Sized> Engine for Throttled<E> {
    fn submit(&self, mut reads: Vec<Read>) {
        let inner_done = Done::from(self.inner_done().clone());
        let mut state = self.shared.lock();
        for read in &mut reads {
            let bytes = bytes_within(&read.file, read.offset, read.buffer.capacity() as u64);
            let done = std::mem::replace(&mut read.done, inner_done.clone());
            let tag = state.start(false, read.offset, bytes, read.tag, done);
            read.tag = tag;
        }
        drop(state);
        self.inner.submit(reads);
    }

    fn write(&self, mut writes: Vec<Write>) {
        let inner_done = Done::from(self.inner_done().clone());
        let mut state = self.shared.lock();
        for write in &mut writes {
            let done = std::mem::replace(&mut write.done, inner_done.clone());
            write.tag = state.start(true, write.offset, write.bytes as u64, write.tag, done);
        }
        drop(state);
        self.inner.write(writes);
    }

    fn sync_now(&self, file: &File, data_only: bool) -> io::Result<()> {
        self.inner.sync_now(file, data_only)
    }

    fn resize_now(&self, file: &File, bytes: u64) -> io::Result<()> {
        self.inner.resize_now(file, bytes)
    }

    fn counters(&self) -> Counters {
        self.shared.lock().pacer.counters()
    }

    fn name(&self) -> &'static str {
        "throttled"
    }

    fn costs(&self) -> Costs {
        self.shared.lock().pacer.costs()
    }

    fn now(&self) -> Nanos {
        self.shared.lock().pacer.now()
    }

    fn opened(&self) {
        self.opening.iter().for_each(|&(offset, bytes)| self.charge(offset, bytes));
    }
}

impl<E: Engine + ?Sized> Drop for Throttled<E> {
    /// What is in flight completes as soon as the engine below is done with them, without waiting
    /// for the model.
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        if let Some(inner_done) = self.inner_done.take() {
            let _ = inner_done.send(message(WAKE));
        }
        if let Some(timer) = self.timer.take() {
            let _ = timer.join();
        }
    }
}

impl State {
    fn start(&mut self, write: bool, offset: u64, bytes: u64, tag: u64, done: Done) -> u64 {
        let number = self.pacer.submit(write, offset, bytes);
        self.pending.insert(number, Pending { tag, done, model_ended: false, read: None });
        number
    }

    /// Marks what the model has ended, and sends what the engine below has ended too, in the
    /// model's order.
    fn advance(&mut self) {
        let State { pacer, pending, .. } = self;
        pacer.advance(&mut |number, _| {
            let Some(entry) = pending.get_mut(&number) else { return };
            entry.model_ended = true;
            if entry.read.is_some() {
                pending.remove(&number).into_iter().for_each(Pending::send);
            }
        });
    }

    /// Whether only the model is waited for, on a clock that may skip that.
    fn only_model_is_left(&self) -> bool {
        self.pacer.may_skip()
            && !self.closing
            && self.pending.values().all(|entry| entry.read.is_some())
    }

    /// Takes a completion of the engine below.
    fn read_ended(&mut self, completion: Completion) {
        let number = completion.tag;
        let Some(entry) = self.pending.get_mut(&number) else { return };
        entry.read = Some(completion);
        if entry.model_ended || self.closing {
            self.pending.remove(&number).into_iter().for_each(Pending::send);
        }
    }

    /// Sends what the engine below has ended, without waiting for the model.
    fn release_ended(&mut self) {
        for (_, entry) in self.pending.extract_if(|_, entry| entry.read.is_some()) {
            entry.send();
        }
    }
}

impl Pending {
    fn send(self) {
        if let Some(read) = self.read {
            // The receiver may be gone, which is no error.
            self.done.send(Completion { tag: self.tag, ..read });
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The timer: until the engine is dropped and the one below has ended all reads.
    fn run(&self, completions: &Receiver<Completion>) {
        // The default slack of 50 µs would make every read that much late. Refused, the engine is
        // only less exact.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        loop {
            let mut state = self.lock();
            state.advance();
            if state.closing {
                state.release_ended();
            }
            let mut wait = state.pacer.next_in();
            let skippable = state.only_model_is_left();
            drop(state);
            if skippable && wait.is_some_and(|wait| !wait.is_zero()) {
                if self.skip() {
                    continue;
                }
                wait = wait.map(|wait| wait.min(LOOK_AGAIN));
            }
            let received = match wait {
                Some(wait) => completions.recv_timeout(wait),
                None => completions.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match received {
                Ok(completion) => self.take(completion, completions),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Skips to the next completion unless another thread works, or has asked for more meanwhile.
    fn skip(&self) -> bool {
        let all_wait = others_sleep();
        let state = self.lock();
        let skips = all_wait && state.only_model_is_left();
        if skips {
            state.pacer.skip();
        }
        skips
    }

    fn take(&self, first: Completion, more: &Receiver<Completion>) {
        let mut state = self.lock();
        state.read_ended(first);
        more.try_iter().for_each(|completion| state.read_ended(completion));
    }
}

fn message(tag: u64) -> Completion {
    Completion { tag, buffer: AlignedBuf::default(), result: Ok(0), cached: false }
}

/// What a read of `bytes` at `offset` takes from the device: nothing lies past the end of the file.
fn bytes_within(file: &File, offset: u64, bytes: u64) -> u64 {
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => bytes.min(metadata.len().saturating_sub(offset)),
        _ => bytes,
    }
}
