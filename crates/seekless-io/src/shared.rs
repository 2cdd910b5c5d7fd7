//! What the callers of a store and its worker threads share: a request's way from the cache over
//! the engine to the load that waits for it.

use crate::buffer::{Buffer, BufferLender};
use crate::cached::{Hit, HitLog, Slots};
use crate::error::Error;
use crate::hints::Hints;
use crate::load_async::Reply;
use crate::lock;
use crate::memory::{Memory, MemoryBytes};
use crate::ranges::{ContentOffsets, LastChunk};
use crate::read_cache::ReadData;
use crate::recording::Recorder;
use crate::sources::Sources;
use crate::state::{Asked, Released, State, Waiter};
use crate::statistics::Statistics;
use crate::stream::{Block, Means, Progress, Stream, Streamed, Task, chunk_tag, task_of};
use seekless_device::{Brought, Nanos};
use seekless_engine::{AlignedBuf, Completion, Engine, Read};
use seekless_policy::eviction::landlord::Hint;
use seekless_policy::eviction::{Id, Request};
use seekless_policy::planner::{Answer, Ended, Start};
use std::collections::HashMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard};

/// The tag that ends a worker thread. Reads are numbered from 0 and never get there.
pub(crate) const QUIT: u64 = u64::MAX;

/// The tag that has a worker decode an entry of a kept read.
pub(crate) const DECODE: u64 = u64::MAX - 1;

pub(crate) struct Shared {
    pub(crate) sources: Sources,
    pub(crate) engine: Arc<dyn Engine>,
    /// How far a `load_many` runs ahead; the planner's, without its lock.
    window_bytes: AtomicU64,
    /// The largest entry that is loaded.
    pub(crate) max_entry_bytes: u64,
    pub(crate) memory: Memory,
    slots: Slots,
    hits: HitLog<BufferLender>,
    hints: Hints,
    pub(crate) recorder: Recorder,
    pub(crate) content_offsets: ContentOffsets,
    pub(crate) last_chunk: LastChunk,
    state: Mutex<State>,
    /// Large reads under way, by tag.
    large: Mutex<HashMap<u64, Large>>,
    jobs: Mutex<Jobs>,
    done: Sender<Completion>,
}

/// What has ended, for the workers.
struct Jobs {
    completions: Receiver<Completion>,
    /// When there was last nothing to take.
    empty: Nanos,
}

/// A large read, and where its blocks are read from.
#[derive(Clone)]
struct Large {
    stream: Arc<Stream>,
    file: Arc<File>,
    /// Where the read begins in the file.
    offset: u64,
}

impl Shared {
    pub(crate) fn new(
        sources: Sources,
        engine: Arc<dyn Engine>,
        state: State,
        memory: Memory,
        max_entry_bytes: u64,
    ) -> Self {
        let (done, completions) = mpsc::channel();
        let jobs = Mutex::new(Jobs { completions, empty: engine.now() });
        let slots = Slots::new(sources.extents.len());
        let hints = Hints::new(sources.extents.len());
        let window_bytes = AtomicU64::new(state.planner.window_bytes());
        let last_chunk = LastChunk::of(memory.kept_bytes());
        Self {
            sources,
            engine,
            window_bytes,
            max_entry_bytes,
            memory,
            slots,
            hits: HitLog::new(state.folds_hits()),
            hints,
            recorder: Recorder::new(),
            content_offsets: ContentOffsets::default(),
            last_chunk,
            state: Mutex::new(state),
            large: Mutex::default(),
            jobs,
            done,
        }
    }

    /// The cached entry called `name` and its buffer, without the cache's lock, if the calling
    /// thread's stripe knows it.
    #[inline]
    pub(crate) fn hit_by_name(&self, name: &str) -> Option<Hit<Buffer>> {
        self.hits.hit(name, &self.sources)
    }

    /// The buffer of a cached entry, without the cache's lock.
    pub(crate) fn hit(&self, id: Id) -> Option<Buffer> {
        let hit = self.hits.hit_or(id, &self.sources, || self.slots.lender(id))?;
        Some(self.hit_noted(hit, None))
    }

    /// The buffer of a hit after which the log is to be drained, or which may be recorded.
    pub(crate) fn hit_noted(&self, hit: Hit<Buffer>, began: Option<u64>) -> Buffer {
        if hit.is_full {
            drop(self.drained());
        }
        self.recorder.loaded(began, hit.id, hit.buffer)
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

    /// These files will be loaded next. Hits logged so far come before them.
    pub(crate) fn will_load(&self, ids: &[Id]) {
        self.drained().will_load(ids);
    }

    #[inline(always)]
    fn file_request(&self, id: Id) -> Request {
        let request = Request::file(id, self.sources.bytes(id));
        Request { cost: self.hints.get(id).cost(request.cost), ..request }
    }

    /// A request for an entry that [`Shared::hit`] did not have.
    pub(crate) fn request(&self, id: Id, waiter: Waiter) -> Asked {
        let mut released = Released::default();
        let request = self.file_request(id);
        let mut state = self.drained();
        // Most were drained while other threads went on logging; from here to the end of the
        // eviction no thread logs.
        let mut stopped = self.hits.stop(&self.sources);
        state.drain_stopped(&mut stopped, |id| self.file_request(id));
        state.share_memory(&self.slots, &mut stopped, &mut released);
        if self.memory.is_wasteful() {
            state.evict_one(&self.slots, &mut stopped, &mut released);
        }
        state.request(&request, waiter, &self.slots, &mut stopped, &mut released)
    }

    /// Loads an entry that is not cached, with what the device makes worth reading around it.
    pub(crate) fn load(&self, id: Id) -> Result<Buffer, Error> {
        let (sender, receiver) = mpsc::channel();
        let began = Some(self.engine.now());
        let waiter = Waiter { owner: 0, began, position: 0, reply: Reply::Channel(sender) };
        match self.request(id, waiter) {
            Asked::Ready(buffer) => return Ok(buffer),
            Asked::Joined => self.hurry(id),
            Asked::Fetch => self.demand(id, |read| self.deliver(read, id)),
        }
        match receiver.recv() {
            Ok((_, result)) => result,
            Err(_) => Err(Error::abandoned(&self.sources.at(id))),
        }
    }

    /// As [`Shared::load`], without waiting or decoding: the answer goes to `waiter`, unless the
    /// buffer is at hand.
    pub(crate) fn begin(&self, id: Id, waiter: Waiter) -> Option<Buffer> {
        match self.request(id, waiter) {
            Asked::Ready(buffer) => return Some(buffer),
            Asked::Joined => self.hurry(id),
            Asked::Fetch => self.demand(id, |read| {
                lock(&self.state).decodes.push_back((read, id));
                self.tell(DECODE);
            }),
        }
        None
    }

    /// A caller waits for what was only planned ahead: its read goes first.
    fn hurry(&self, id: Id) {
        let start = {
            let mut state = lock(&self.state);
            let start = state.planner.hurry(id);
            self.sent(&mut state, start.as_slice());
            start
        };
        self.submit(start.as_slice());
    }

    /// Makes one entry arrive: from a read that covers it, from a kept read, which `decode` is
    /// given, or by a read of its own.
    fn demand(&self, id: Id, decode: impl FnOnce(Arc<ReadData>)) {
        let mut starts = Vec::new();
        let read = {
            let state = &mut *lock(&self.state);
            let cached = |id| self.slots.has(id);
            let read = match state.planner.demand(id, cached) {
                Answer::Joined(start) => {
                    starts.extend(start);
                    None
                }
                Answer::Read(start) => {
                    starts.push(start);
                    None
                }
                Answer::Kept(found) => {
                    state.statistics.read_ahead_hits += 1;
                    state.kept.take(found, self.sources.extents[id as usize])
                }
            };
            state.planner.foresee(cached, &mut starts);
            self.sent(state, &starts);
            read
        };
        self.submit(&starts);
        if let Some(read) = read {
            decode(read);
        }
    }

    /// Notes when reads are submitted, which is at once.
    fn sent(&self, state: &mut State, starts: &[Start]) {
        let now = self.engine.now();
        starts.iter().for_each(|start| state.sent(start.tag, now));
    }

    /// How far a `load_many` may run ahead, in bytes.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.window_bytes.load(Ordering::Relaxed)
    }

    /// Plans the reads of many entries that must be fetched, and starts as many as the device
    /// serves at once.
    pub(crate) fn fetch(&self, mut ids: Vec<Id>) {
        let (mut found, mut starts) = (Vec::new(), Vec::new());
        {
            let mut state = lock(&self.state);
            let is_urgent = |id: &Id| self.hints.get(*id) == Hint::Urgent;
            let mut urgent: Vec<Id> = ids.iter().copied().filter(is_urgent).collect();
            if !urgent.is_empty() {
                ids.retain(|id| !is_urgent(id));
                state.planner.plan_first(&mut urgent, &mut found, &mut starts);
            }
            state.planner.plan(&mut ids, &mut found, &mut starts);
            for &(id, found) in &found {
                let read = state.kept.take(found, self.sources.extents[id as usize]);
                state.statistics.read_ahead_hits += 1;
                state.decodes.extend(read.map(|read| (read, id)));
            }
            self.sent(&mut state, &starts);
        }
        found.iter().for_each(|_| self.tell(DECODE));
        self.submit(&starts);
    }

    /// Decodes the next entry of a kept read.
    pub(crate) fn decode_next(&self) {
        let next = lock(&self.state).decodes.pop_front();
        if let Some((read, id)) = next {
            self.deliver(read, id);
        }
    }

    fn submit(&self, starts: &[Start]) {
        let mut reads = Vec::with_capacity(starts.len());
        for start in starts {
            match start.alone {
                Some(id) => self.begin_large(start, id, &mut reads),
                None => reads.extend(self.read(start)),
            }
        }
        if !reads.is_empty() {
            self.engine.submit(reads);
        }
    }

    /// Begins a large read of one entry. One for which there is no memory, or no file any more, has
    /// ended at once.
    fn begin_large(&self, start: &Start, id: Id, reads: &mut Vec<Read>) {
        let (long_lived, mut blocks) = (self.hints.get(id) == Hint::LongLived, Vec::new());
        let found = self.sources.file(start.extent.offset);
        let begun = found.and_then(|found| {
            Ok((Stream::begin(self.means(), start, id, long_lived, &mut blocks)?, found))
        });
        match begun {
            Ok((stream, (file, offset))) => {
                let large = Large { stream, file, offset };
                reads.extend(blocks.into_iter().map(|block| self.block(&large, block)));
                lock(&self.large).insert(start.tag, large);
            }
            Err(error) => self.end(Completion {
                tag: start.tag,
                buffer: AlignedBuf::default(),
                result: Err(error),
            }),
        }
    }

    fn block(&self, large: &Large, Block { tag, offset, buffer }: Block) -> Read {
        let (file, done) = (large.file.clone(), self.done.clone());
        Read { file, offset: large.offset + offset, buffer, tag, done }
    }

    /// A read for the engine. One for which there is no memory, or no file any more, has ended at
    /// once.
    fn read(&self, start: &Start) -> Option<Read> {
        let Start { tag, extent, .. } = *start;
        let found = self.sources.file(extent.offset);
        match found.and_then(|found| Ok((found, self.memory.read_buffer(extent.bytes)?))) {
            Ok(((file, offset), buffer)) => {
                Some(Read { file, offset, buffer, tag, done: self.done.clone() })
            }
            Err(error) => {
                self.end(Completion { tag, buffer: AlignedBuf::default(), result: Err(error) });
                None
            }
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

    /// The next completion, for the worker that asks first, and when it came. If it lay there, it
    /// came at some time since there was last nothing to take; that time is given.
    pub(crate) fn next_job(&self) -> Option<(Completion, Nanos)> {
        let mut jobs = lock(&self.jobs);
        match jobs.completions.try_recv() {
            Ok(completion) => Some((completion, jobs.empty)),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                let completion = jobs.completions.recv().ok()?;
                jobs.empty = self.engine.now();
                Some((completion, jobs.empty))
            }
        }
    }

    /// A read has ended: keeps the device busy, then decodes the entries that loads wait for.
    /// Entries that a read of several did not bring are read again alone: one bad page fails only
    /// what lies on it.
    pub(crate) fn completed(&self, completion: Completion, when: Nanos) {
        if let Some((tag, task)) = task_of(completion.tag) {
            return self.advance(tag, task, completion, when);
        }
        let Completion { tag, buffer, result } = completion;
        let bytes = buffer.len() as u64;
        let brought = if result.is_ok() { Brought::Bytes(bytes) } else { Brought::Nothing };
        let (mut ended, (read, unneeded)) =
            self.ended(tag, bytes, brought, when, |state, ended, offset| {
                let State { kept, planner, .. } = state;
                let read = Arc::new(ReadData::new(offset, buffer));
                let freed: Vec<_> = ended.freed.iter().map(|&found| kept.free(found)).collect();
                let dropped: Vec<_> = ended.dropped.iter().map(|&slot| kept.drop(slot)).collect();
                if let Some(slot) = ended.kept {
                    kept.keep(slot, &read, planner.pieces(slot));
                }
                (read, (freed, dropped))
            });
        drop(unneeded);
        if result.is_ok() {
            // The file ends before these entries do, which decoding says.
            ended.arrived.append(&mut ended.lost);
        }
        if let Some((&last, others)) = ended.arrived.split_last() {
            others.iter().for_each(|&id| self.deliver(read.clone(), id));
            self.deliver(read, last);
        }
        if let Err(error) = result {
            self.fail(&ended.lost, &error);
        }
    }

    /// Tells the planner that a read has ended, and submits those whose turn has come. What it
    /// `brought` tells how fast the device is. `act` sees to what is kept of it.
    fn ended<T>(
        &self,
        tag: u64,
        bytes: u64,
        brought: Brought,
        when: Nanos,
        act: impl FnOnce(&mut State, &Ended, u64) -> T,
    ) -> (Ended, T) {
        let mut ended = Ended::default();
        let acted = {
            // What is likely next depends on all loads so far.
            let state = &mut *self.drained();
            state.statistics.read_bytes += bytes;
            state.statistics.unused_bytes += bytes;
            if let Some(costs) = state.ended(tag, brought, when) {
                state.planner.set_costs(costs);
                self.window_bytes.store(state.planner.window_bytes(), Ordering::Relaxed);
            }
            let offset = state.planner.offset(tag);
            let cached = |id| self.slots.has(id);
            state.planner.ended(tag, bytes, cached, &mut ended);
            state.planner.foresee(cached, &mut ended.starts);
            self.sent(state, &ended.starts);
            act(state, &ended, offset)
        };
        self.submit(&ended.starts);
        (ended, acted)
    }

    /// A block of a large read has ended, or a chunk of it is to be decoded. How long such a read
    /// takes says nothing of the device, as it waits for the decoder too; what passed does.
    fn advance(&self, tag: u64, task: Task, completion: Completion, when: Nanos) {
        let Some(large) = lock(&self.large).get(&tag).cloned() else { return };
        let mut submit = |block| self.engine.submit(vec![self.block(&large, block)]);
        let Progress { chunks, streamed } = match task {
            Task::Block(number) => {
                large.stream.ended(self.means(), number, completion, &mut submit)
            }
            Task::Chunk => large.stream.decode_chunk(self.means(), &mut submit),
        };
        // Behind what has ended meanwhile, so that a large entry does not hold up small ones.
        (0..chunks).for_each(|_| self.tell(chunk_tag(tag)));
        if let Some(Streamed { id, bytes, result }) = streamed {
            lock(&self.large).remove(&tag);
            self.ended(tag, bytes, Brought::Pieces(bytes), when, |_, _, _| ());
            self.finish(id, result);
        }
    }

    fn means(&self) -> Means<'_> {
        Means { sources: &self.sources, memory: &self.memory }
    }

    /// Decodes one entry of `read` and answers all who wait for it. If decoding panics, the answer
    /// is an error, since they would otherwise wait for ever. The read is let go of before the
    /// answer: then its memory is free for the caller, if no other entry needs it.
    fn deliver(&self, read: Arc<ReadData>, id: Id) {
        let long_lived = self.hints.get(id) == Hint::LongLived;
        let decode = AssertUnwindSafe(|| {
            crate::decode::decode(&self.sources, &self.memory, &read, id, long_lived)
        });
        let result =
            catch_unwind(decode).unwrap_or_else(|_| Err(Error::abandoned(&self.sources.at(id))));
        drop(read);
        self.finish(id, result);
    }

    fn fail(&self, wanted: &[Id], error: &std::io::Error) {
        for &id in wanted {
            let copy = match error.raw_os_error() {
                Some(code) => std::io::Error::from_raw_os_error(code),
                None => std::io::Error::new(error.kind(), error.to_string()),
            };
            self.finish(id, Err(Error::read(&self.sources.at(id), copy)));
        }
    }

    fn finish(&self, id: Id, result: Result<Buffer, Error>) {
        self.sources.count(id, result.is_ok());
        let mut released = Released::default();
        let now = self.engine.now();
        let mut waiters = {
            let mut state = lock(&self.state);
            if result.is_ok() {
                let used = self.sources.extents[id as usize].bytes;
                let statistics = &mut state.statistics;
                statistics.coded_bytes += self.sources.coded_bytes(id);
                statistics.unused_bytes = statistics.unused_bytes.saturating_sub(used);
            }
            let waiters = state.finish(id, &result, &self.slots, &mut released);
            let began = waiters.iter().filter_map(|waiter| waiter.began);
            began.for_each(|began| state.latencies.note(now.saturating_sub(began)));
            waiters
        };
        #[cfg(feature = "log")]
        if let Some(held) = released.long_held {
            log::warn!(
                "{}: a buffer of it is still held, though the store has given {} files since it \
                 let go of it",
                self.sources.at(held),
                crate::statistics::LONG_HELD_AFTER
            );
        }
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
        let statistics = {
            let state = self.drained();
            let (costs, costs_source) = (state.knowledge.costs(), state.knowledge.source());
            let times = &state.latencies;
            Statistics {
                predicted: state.planner.score(),
                costs,
                costs_source,
                waits: times.count,
                wait_ns: times.sum,
                wait_p50_ns: times.percentile(50),
                wait_p99_ns: times.percentile(99),
                wait_max_ns: times.max,
                ..state.statistics
            }
        };
        let MemoryBytes { held, resident, waste } = self.memory.bytes();
        Statistics {
            copied_bytes: self.memory.copied_bytes(),
            held_bytes: held,
            memory_bytes: resident,
            waste_bytes: waste,
            ..statistics
        }
    }

    /// Whether `pointer` points into memory of this store.
    pub(crate) fn contains(&self, pointer: *const u8) -> bool {
        self.memory.contains(pointer)
    }
}
