//! What the callers of a store and its worker threads share: a request's way from the cache over
//! the engine to the load that waits for it.

use crate::archive::Archive;
use crate::buffer::Buffer;
use crate::cached::{HitLog, Slots};
use crate::error::Error;
use crate::hints::Hints;
use crate::lock;
use crate::read_cache::ReadData;
use crate::reads::{Pending, READ_BYTES_MAX, Source, Start};
use crate::state::{Asked, Released, State, Waiter};
use crate::statistics::Statistics;
use seekless_device::Costs;
use seekless_engine::{AlignedBuf, BufferPool, Completion, Engine, Read};
use seekless_policy::ahead::{self, Limits};
use seekless_policy::eviction::landlord::Hint;
use seekless_policy::eviction::{Id, Request};
use seekless_policy::extents::{Extent, coalesce};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard};

/// The tag that ends a worker thread. Reads are numbered from 0 and never get there.
pub(crate) const QUIT: u64 = u64::MAX;

/// Bounds of a store's memory beside its caches.
pub(crate) struct Memory {
    /// How far a `load_many` runs ahead.
    pub(crate) window_bytes: u64,
    /// Buffers of ended reads, kept for the next.
    pub(crate) idle_bytes: usize,
    /// The largest entry that is loaded.
    pub(crate) max_entry_bytes: u64,
}

pub(crate) struct Shared {
    pub(crate) archive: Archive,
    pub(crate) engine: Arc<dyn Engine>,
    costs: Costs,
    pub(crate) window_bytes: u64,
    pub(crate) max_entry_bytes: u64,
    buffers: BufferPool,
    slots: Slots,
    hits: HitLog,
    hints: Hints,
    state: Mutex<State>,
    jobs: Mutex<Receiver<Completion>>,
    done: Sender<Completion>,
}

impl Shared {
    pub(crate) fn new(
        archive: Archive,
        engine: Arc<dyn Engine>,
        state: State,
        memory: Memory,
    ) -> Self {
        let (done, jobs) = mpsc::channel();
        let slots = Slots::new(archive.extents.len());
        let hints = Hints::new(archive.extents.len());
        let costs = engine.costs();
        Self {
            archive,
            engine,
            costs,
            window_bytes: memory.window_bytes,
            max_entry_bytes: memory.max_entry_bytes,
            buffers: BufferPool::new(memory.idle_bytes),
            slots,
            hits: HitLog::new(),
            hints,
            state: Mutex::new(state),
            jobs: Mutex::new(jobs),
            done,
        }
    }

    /// The buffer of a cached entry, without the cache's lock.
    pub(crate) fn hit(&self, id: Id) -> Option<Buffer> {
        let (buffer, full) = self.hits.hit(id, || self.slots.kept(id))?;
        if full {
            drop(self.drained());
        }
        Some(buffer)
    }

    /// The state, after all hits logged so far.
    pub(crate) fn drained(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        state.drain(&self.hits, |id| self.file_request(id));
        state
    }

    /// Hits logged so far keep the cost they had.
    pub(crate) fn hint(&self, id: Id, hint: Hint) {
        let state = self.drained();
        self.hints.set(id, hint);
        drop(state);
    }

    fn file_request(&self, id: Id) -> Request {
        let request = Request::file(id, self.archive.bytes(id));
        Request { cost: self.hints.get(id).cost(request.cost), ..request }
    }

    /// A request for an entry that [`Shared::hit`] did not have.
    pub(crate) fn request(&self, id: Id, waiter: Waiter) -> Asked {
        let mut released = Released::default();
        let request = self.file_request(id);
        let mut state = self.drained();
        // Most were drained while other threads went on logging; from here to the end of the
        // eviction no thread logs.
        let mut stopped = self.hits.stop();
        stopped.drain(|id| state.hit(&self.file_request(id)));
        state.request(&request, waiter, &self.slots, &stopped, &mut released)
    }

    /// Loads an entry that is not cached, with what the device makes worth reading around it.
    pub(crate) fn load(&self, id: Id) -> Result<Buffer, Error> {
        let (sender, receiver) = mpsc::channel();
        match self.request(id, Waiter { owner: 0, position: 0, sender }) {
            Asked::Ready(buffer) => return Ok(buffer),
            Asked::Joined => self.hurry(id),
            Asked::Fetch => self.demand(id),
        }
        match receiver.recv() {
            Ok((_, result)) => result,
            Err(_) => Err(Error::abandoned(&self.archive.at(id))),
        }
    }

    /// A caller waits for what was only planned ahead: its read goes first.
    fn hurry(&self, id: Id) {
        let start = lock(&self.state).reads.hurry_covering(self.archive.extents[id as usize]);
        self.submit(start.as_slice());
    }

    /// Makes one entry arrive: from a read that covers it, from a kept read, or by a read of its
    /// own.
    fn demand(&self, id: Id) {
        let extent = self.archive.extents[id as usize];
        let start = {
            let mut state = lock(&self.state);
            if let Some(tag) = state.reads.join(id, extent) {
                state.reads.hurry(tag)
            } else if let Some(read) = state.kept.take(id) {
                state.statistics.read_ahead_hits += 1;
                drop(state);
                return self.deliver(&read, id);
            } else {
                let extent = self.archive.aligned(self.demand_extent(id, &state));
                Some(state.reads.demand(extent, vec![id]))
            }
        };
        self.submit(start.as_slice());
    }

    fn demand_extent(&self, id: Id, state: &State) -> Extent {
        let limits = Limits { read_bytes_max: self.unrounded(READ_BYTES_MAX), ..Limits::default() };
        let extents = &self.archive.extents;
        let needed = |number: usize| {
            let id = number as Id;
            !self.slots.has(id) && !state.kept.has(id) && !state.reads.covers(extents[number])
        };
        let read = ahead::demand(extents, id as usize, &self.costs, &limits, needed);
        read.map_or(extents[id as usize], |read| read.extent)
    }

    /// What may be asked for so that a read rounded to the file's alignment still has `bytes` at
    /// most.
    fn unrounded(&self, bytes: u64) -> u64 {
        bytes - self.archive.rounding_bytes()
    }

    /// Plans the reads of many entries that must be fetched, and starts as many as the device
    /// serves at once.
    pub(crate) fn fetch(&self, mut ids: Vec<Id>) {
        ids.sort_unstable();
        let mut tags = Vec::new();
        {
            let mut state = lock(&self.state);
            ids.retain(|&id| {
                if let Some(read) = state.kept.take(id) {
                    state.statistics.read_ahead_hits += 1;
                    tags.push(state.reads.decode(read, id));
                    return false;
                }
                state.reads.join(id, self.archive.extents[id as usize]).is_none()
            });
        }
        tags.into_iter().for_each(|tag| self.tell(tag));
        let extents: Vec<Extent> =
            ids.iter().map(|&id| self.archive.extents[id as usize]).collect();
        let planned = coalesce(&extents, &self.costs, self.unrounded(READ_BYTES_MAX));
        let starts = {
            let mut state = lock(&self.state);
            for read in planned {
                let wanted = ids[read.first..read.first + read.count].to_vec();
                state.reads.enqueue(self.archive.aligned(read.extent), wanted);
            }
            state.reads.start_next()
        };
        self.submit(&starts);
    }

    fn submit(&self, starts: &[Start]) {
        let reads: Vec<Read> = starts.iter().filter_map(|start| self.read(start)).collect();
        if !reads.is_empty() {
            self.engine.submit(reads);
        }
    }

    /// A read for the engine. One for which there is no memory has ended at once.
    fn read(&self, start: &Start) -> Option<Read> {
        let Start { tag, extent } = *start;
        match self.buffer(extent.bytes) {
            Ok(buffer) => {
                let (file, done) = (self.archive.file.clone(), self.done.clone());
                Some(Read { file, offset: extent.offset, buffer, tag, done })
            }
            Err(error) => {
                self.end(Completion { tag, buffer: AlignedBuf::default(), result: Err(error) });
                None
            }
        }
    }

    /// A large read holds one file, which may stay in it: its buffer is no larger than it must be.
    fn buffer(&self, bytes: u64) -> std::io::Result<AlignedBuf> {
        match bytes > READ_BYTES_MAX {
            true => AlignedBuf::try_with_capacity(usize::try_from(bytes).unwrap_or(usize::MAX)),
            false => Ok(self.buffers.take(bytes as usize)),
        }
    }

    fn end(&self, completion: Completion) {
        // Cannot fail: this value owns the receiver too.
        let _ = self.done.send(completion);
    }

    /// A message to one worker.
    pub(crate) fn tell(&self, tag: u64) {
        self.end(Completion { tag, buffer: AlignedBuf::default(), result: Ok(0) });
    }

    /// The next completion, for the worker that asks first.
    pub(crate) fn next_job(&self) -> Option<Completion> {
        lock(&self.jobs).recv().ok()
    }

    /// A read has ended: keeps the device busy, then decodes the entries that loads wait for.
    /// Entries that a read of several did not bring are read again alone: one bad page fails only
    /// what lies on it.
    pub(crate) fn completed(&self, completion: Completion) {
        let Completion { tag, buffer, result } = completion;
        let mut released = Released::default();
        let (read, arrived, lost, starts) = {
            let mut state = lock(&self.state);
            let Some(Pending { extent, wanted, source }) = state.reads.finish(tag) else { return };
            let read = match source {
                Source::Held(read) => read,
                Source::Device => {
                    state.statistics.read_bytes += buffer.len() as u64;
                    state.statistics.unused_bytes += buffer.len() as u64;
                    let read = Arc::new(ReadData::new(extent.offset, buffer));
                    let unused = self.unused(&read, &wanted);
                    state.kept.insert(&read, &unused, &mut released.reads);
                    read
                }
            };
            let (arrived, missing): (Vec<Id>, Vec<Id>) = wanted
                .into_iter()
                .partition(|&id| read.extent().covers(self.archive.extents[id as usize]));
            let (lost, joined): (Vec<Id>, Vec<Id>) =
                missing.into_iter().partition(|&id| self.own_read(id) == extent);
            state.reads.enqueue_alone(joined.into_iter().map(|id| (id, self.own_read(id))));
            (read, arrived, lost, state.reads.start_next())
        };
        self.submit(&starts);
        released.reads.into_iter().for_each(|read| self.recycle(read));
        arrived.iter().for_each(|&id| self.deliver(&read, id));
        match result {
            // The file ends before the entry does, which decoding says.
            Ok(_) => lost.iter().for_each(|&id| self.deliver(&read, id)),
            Err(error) => self.fail(&lost, &error),
        }
        self.recycle(read);
    }

    /// The smallest read that brings an entry.
    fn own_read(&self, id: Id) -> Extent {
        self.archive.aligned(self.archive.extents[id as usize])
    }

    /// Whole entries of `read` that no caller waits for and that are not cached.
    fn unused(&self, read: &ReadData, wanted: &[Id]) -> Vec<Id> {
        let within = self.archive.within(read.extent());
        if within.len() <= wanted.len() {
            return Vec::new();
        }
        let mut sorted = wanted.to_vec();
        sorted.sort_unstable();
        let is_unused = |&id: &Id| sorted.binary_search(&id).is_err() && !self.slots.has(id);
        within.map(|id| id as Id).filter(is_unused).collect()
    }

    /// Gives a read's memory back, if it is not used elsewhere.
    fn recycle(&self, read: Arc<ReadData>) {
        if let Some(read) = Arc::into_inner(read) {
            self.buffers.give(read.into_buffer());
        }
    }

    /// Decodes one entry of `read` and answers all who wait for it. If decoding panics, the answer
    /// is an error, since they would otherwise wait for ever.
    fn deliver(&self, read: &Arc<ReadData>, id: Id) {
        let decode = AssertUnwindSafe(|| crate::decode::decode(&self.archive, read, id));
        let result =
            catch_unwind(decode).unwrap_or_else(|_| Err(Error::abandoned(&self.archive.at(id))));
        self.finish(id, result);
    }

    fn fail(&self, wanted: &[Id], error: &std::io::Error) {
        for &id in wanted {
            let copy = match error.raw_os_error() {
                Some(code) => std::io::Error::from_raw_os_error(code),
                None => std::io::Error::new(error.kind(), error.to_string()),
            };
            self.finish(id, Err(Error::read(&self.archive.at(id), copy)));
        }
    }

    fn finish(&self, id: Id, result: Result<Buffer, Error>) {
        let mut released = Released::default();
        let mut waiters = {
            let mut state = lock(&self.state);
            if result.is_ok() {
                let used = self.archive.extents[id as usize].bytes;
                let statistics = &mut state.statistics;
                statistics.coded_bytes += self.archive.index.entries()[id as usize].coded_bytes;
                statistics.unused_bytes = statistics.unused_bytes.saturating_sub(used);
            }
            state.finish(id, &result, &self.slots, &mut released)
        };
        // First the memory, then the answers, the last with the result itself: once a waiter has
        // its buffer, none but users and the cache hold it.
        drop(released);
        let last = waiters.pop();
        waiters.into_iter().for_each(|waiter| waiter.answer(result.clone()));
        if let Some(waiter) = last {
            waiter.answer(result);
        }
    }

    /// A `load_many` was dropped.
    pub(crate) fn cancel(&self, owner: u64) {
        let mut released = Released::default();
        lock(&self.state).cancel(owner, &self.slots, &mut released);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let (hits, bytes) = self.hits.totals();
        let mut statistics = lock(&self.state).statistics;
        statistics.hits += hits;
        statistics.delivered_bytes += bytes;
        statistics
    }
}
