//! What the callers of a store and its worker threads share: a request's way from the cache over
//! the engine to the load that waits for it.

mod arrivals;
mod reads;

use crate::buffer::{Buffer, BufferLender};
use crate::cached::{Hit, HitLog, Slots};
use crate::error::Error;
use crate::hints::Hints;
use crate::job::Job;
use crate::lock;
use crate::memory::{Memory, MemoryBytes};
use crate::positions::Positions;
use crate::range_cache::{ContentOffsets, LastChunk};
use crate::read_cache::ReadData;
use crate::recording::Recorder;
use crate::reply::Reply;
use crate::sources::Sources;
use crate::state::{Asked, Released, State, Waiter};
use crate::statistics::Statistics;
use crate::stream::{Means, Stream};
use seekless_device::Nanos;
use seekless_engine::{Done, Engine};
use seekless_policy::cache::Config;
use seekless_policy::eviction::landlord::Hint;
use seekless_policy::eviction::{Id, Request};
use seekless_policy::planner::Start;
use std::collections::HashMap;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard};

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
    pub(crate) positions: Positions,
    state: Mutex<State>,
    /// Large reads under way, by tag.
    large: Mutex<HashMap<u64, Large>>,
    jobs: Mutex<Jobs>,
    messages: Sender<Job>,
    /// Makes a job of each completion.
    done: Done,
}

/// What the workers have to do.
struct Jobs {
    waiting: Receiver<Job>,
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

/// What becomes of a load that misses.
enum Decided {
    Ready(Buffer),
    /// The answer will come, once these reads are submitted, and the entry is decoded from the kept
    /// read if there is one.
    Coming {
        starts: Vec<Start>,
        read: Option<Arc<ReadData>>,
    },
}

impl Shared {
    pub(crate) fn new(
        sources: Sources,
        engine: Arc<dyn Engine>,
        state: State,
        memory: Memory,
        max_entry_bytes: u64,
    ) -> Self {
        let (messages, waiting) = mpsc::channel();
        let jobs = Mutex::new(Jobs { waiting, empty: engine.now() });
        let ended = messages.clone();
        let done = Done::new(move |completion| {
            // It fails only while the store is dropped.
            let _ = ended.send(Job::Ended(completion));
        });
        let slots = Slots::new(sources.extents.len());
        let hints = Hints::new(sources.extents.len());
        let window_bytes = AtomicU64::new(state.planner.window_bytes());
        let last_chunk = LastChunk::of(memory.kept_bytes());
        let positions = Positions::of(memory.kept_bytes());
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
            positions,
            state: Mutex::new(state),
            large: Mutex::default(),
            jobs,
            messages,
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

    /// The buffer of a hit. Drains the log if the hit filled it, and records the load if loads are
    /// recorded.
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
        let mut state = self.drained();
        self.ask(&mut state, id, waiter, &mut released)
    }

    /// Asks the cache. What it releases is freed after the lock.
    fn ask(&self, state: &mut State, id: Id, waiter: Waiter, released: &mut Released) -> Asked {
        // The log was drained while other threads went on logging. From here to the end of the
        // eviction no thread logs.
        let mut stopped = self.hits.stop(&self.sources);
        state.drain_stopped(&mut stopped, |id| self.file_request(id));
        let beside_bytes = self.positions.bytes();
        state.share_memory(beside_bytes, &self.slots, &mut stopped, released);
        if self.memory.is_wasteful() {
            state.evict_one(&self.slots, &mut stopped, released);
        }
        let request = self.file_request(id);
        state.request(&request, waiter, &self.slots, &mut stopped, released)
    }

    /// Decides what becomes of a load that misses: asks the cache and then the planner, under one
    /// lock.
    fn decide(&self, id: Id, waiter: Waiter) -> Decided {
        let mut released = Released::default();
        let mut starts = Vec::new();
        let state = &mut *self.drained();
        let read = match self.ask(state, id, waiter, &mut released) {
            Asked::Ready(buffer) => return Decided::Ready(buffer),
            Asked::Joined => {
                starts.extend(state.planner.hurry(id));
                None
            }
            Asked::Fetch => self.plan(state, id, &mut starts),
        };
        self.sent(state, &starts);
        Decided::Coming { starts, read }
    }

    /// Loads an entry that is not cached, with what the device makes worth reading around it.
    pub(crate) fn load(&self, id: Id) -> Result<Buffer, Error> {
        let (sender, receiver) = mpsc::channel();
        let began = Some(self.engine.now());
        let waiter = Waiter { owner: 0, began, position: 0, reply: Reply::Channel(sender) };
        match self.decide(id, waiter) {
            Decided::Ready(buffer) => return Ok(buffer),
            Decided::Coming { starts, read } => {
                self.submit(&starts);
                read.into_iter().for_each(|read| self.deliver(read, id));
            }
        }
        match receiver.recv() {
            Ok((_, result)) => result,
            Err(_) => Err(Error::abandoned(&self.sources.at(id))),
        }
    }

    /// As [`Shared::load`], without waiting or decoding: the answer goes to `waiter`, unless the
    /// buffer is at hand.
    pub(crate) fn begin(&self, id: Id, waiter: Waiter) -> Option<Buffer> {
        match self.decide(id, waiter) {
            Decided::Ready(buffer) => Some(buffer),
            Decided::Coming { starts, read } => {
                self.submit(&starts);
                read.into_iter().for_each(|read| self.tell(Job::Decode { read, id }));
                None
            }
        }
    }

    /// The largest file that the cache keeps now, in bytes.
    pub(crate) fn kept_file_bytes(&self) -> u64 {
        let files_bytes = lock(&self.state).planner.files_bytes();
        Config::files(files_bytes).bypass_above.unwrap_or(u64::MAX)
    }

    /// How far a `load_many` may run ahead, in bytes.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.window_bytes.load(Ordering::Relaxed).min(self.memory.window_max())
    }

    fn means(&self) -> Means<'_> {
        Means { sources: &self.sources, memory: &self.memory }
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
