//! What the one short lock guards: the cache, the reads, and who waits for them. Nothing here
//! blocks, does I/O or decodes.

use crate::buffer::{Buffer, BufferLender};
use crate::cached::{EntryHits, HitLog, Slots};
use crate::decision::{Decision, Recorder, Watched};
use crate::error::Error;
use crate::long_held::LongHeld;
use crate::read_cache::ReadCache;
use crate::reply::Reply;
use crate::sources::Sources;
use crate::statistics::Statistics;
use seekless_device::{Brought, Costs, Knowledge, Latencies, Nanos};
use seekless_policy::cache::{Cache, Command, Config, Filled, Step};
use seekless_policy::eviction::{Hits, Id, NEVER, Request};
use seekless_policy::foresight::future::Future;
use seekless_policy::planner::Planner;
use std::collections::HashMap;

/// How many hits are reported to the policy together: few enough to stay in the processor's first
/// cache.
const REPORTED_AT_ONCE: usize = 64;

/// A load that waits for an entry.
pub(crate) struct Waiter {
    /// Which `load_many`, for when it is dropped early.
    pub(crate) owner: u64,
    /// When a load began that something waits for; a `load_many` runs ahead of its consumer.
    pub(crate) began: Option<Nanos>,
    pub(crate) position: usize,
    pub(crate) reply: Reply,
}

impl Waiter {
    pub(crate) fn answer(self, result: Result<Buffer, Error>) {
        self.reply.answer(self.position, result);
    }
}

/// An entry that is being fetched.
pub(crate) struct Flight {
    pub(crate) waiters: Vec<Waiter>,
    /// The cache waits for it too.
    kept: bool,
}

/// What a request came to.
pub(crate) enum Asked {
    Ready(Buffer),
    /// The answer will come.
    Joined,
    /// The caller must see to it that it is read; then the answer will come.
    Fetch,
}

/// Memory to be freed after the lock.
#[derive(Default)]
pub(crate) struct Released {
    buffers: Vec<Buffer>,
    /// A file that a user has held for long.
    pub(crate) long_held: Option<Id>,
}

/// A proof that no thread logs hits at the moment.
type PausedLog<'a> = crate::cached::PausedLog<'a, BufferLender, Sources>;

pub(crate) struct State {
    cache: Cache<Watched>,
    recorder: Option<Recorder>,
    /// What the program has said it will load.
    future: Future,
    commands: Vec<Command>,
    /// Empty, between drains: logged hits, and those reported to the policy together.
    hits: Vec<EntryHits>,
    taken: Vec<Hits>,
    flights: HashMap<Id, Flight>,
    pub(crate) planner: Planner,
    pub(crate) knowledge: Knowledge,
    pub(crate) kept: ReadCache,
    pub(crate) statistics: Statistics,
    pub(crate) latencies: Latencies,
    long_held: LongHeld,
    in_flight: u64,
}

impl State {
    pub(crate) fn new(
        cache: Cache<Watched>,
        recorder: Option<Recorder>,
        planner: Planner,
        knowledge: Knowledge,
    ) -> Self {
        Self {
            cache,
            recorder,
            future: Future::default(),
            commands: Vec::new(),
            hits: Vec::new(),
            taken: Vec::new(),
            flights: HashMap::new(),
            planner,
            knowledge,
            kept: ReadCache::default(),
            statistics: Statistics::default(),
            latencies: Latencies::default(),
            long_held: LongHeld::default(),
            in_flight: 0,
        }
    }

    /// A read has been sent: one more is in flight.
    pub(crate) fn sent(&mut self, tag: u64, now: Nanos) {
        self.knowledge.sent(tag, now);
        self.in_flight += 1;
        let Statistics { reads, depths, depth_max, .. } = &mut self.statistics;
        *reads += 1;
        *depths += self.in_flight;
        *depth_max = self.in_flight.max(*depth_max);
    }

    /// A read has ended; says what is known of the device now, if that has changed. `learned` is
    /// what the engine itself has measured.
    pub(crate) fn ended(
        &mut self,
        tag: u64,
        brought: Brought,
        when: Nanos,
        learned: Option<Costs>,
    ) -> Option<Costs> {
        debug_assert!(self.in_flight > 0, "read {tag} ended, and none was in flight");
        self.in_flight -= 1;
        match learned {
            Some(costs) => self.knowledge.ended_with(tag, costs),
            None => self.knowledge.ended(tag, brought, when),
        }
    }

    /// Reports to the policy the hits that threads have logged meanwhile.
    pub(crate) fn drain(&mut self, log: &HitLog<BufferLender>, request: impl Fn(Id) -> Request) {
        let mut scratch = std::mem::take(&mut self.hits);
        log.drain(&mut scratch, |taken| self.hit(taken, &request));
        self.hits = scratch;
    }

    /// The same for hits that were logged since, while logging is paused.
    pub(crate) fn drain_stopped(
        &mut self,
        hits: &mut PausedLog<'_>,
        request: impl Fn(Id) -> Request,
    ) {
        let mut scratch = std::mem::take(&mut self.hits);
        hits.drain(&mut scratch, |taken| self.hit(taken, &request));
        self.hits = scratch;
    }

    /// Whether hits may be reported as one count per entry. Not while decisions are recorded or
    /// predictions made: those need the order.
    pub(crate) fn folds_hits(&self) -> bool {
        let nobody_asks = self.recorder.is_none() && self.planner.prediction().is_none();
        nobody_asks && self.cache.folds_hits()
    }

    /// The program will load these, and nothing else that it announced before.
    pub(crate) fn will_load(&mut self, ids: &[Id]) {
        let entries = self.planner.entries();
        self.future.announce(ids, entries);
        (0..entries).for_each(|id| self.cache.foresee(id, self.future.next_use(id)));
    }

    /// A request, once it knows when the next for the same file comes.
    fn foreseen(&mut self, request: &Request) -> Request {
        Request { next_use: self.future.loaded(request.id), ..*request }
    }

    /// The same for the last of `times` requests for one file.
    fn foreseen_times(&mut self, request: Request, times: u32) -> Request {
        // After the last that was announced there is nothing to foresee.
        let before = (1..times).find(|_| self.future.loaded(request.id) == NEVER);
        match before {
            Some(_) => request,
            None => self.foreseen(&request),
        }
    }

    /// Reports hits to the policy, several entries at a time.
    fn hit(&mut self, taken: &[EntryHits], request: impl Fn(Id) -> Request) {
        for taken in taken.chunks(REPORTED_AT_ONCE) {
            let mut all = std::mem::take(&mut self.taken);
            for &EntryHits { id, hits: times, .. } in taken {
                let request = self.foreseen_times(request(id), times);
                self.statistics.hits += u64::from(times);
                self.statistics.delivered_bytes += request.weight * u64::from(times);
                all.push(Hits { request, times });
            }
            // If there is a prediction, each hit is reported by itself: see `folds_hits`.
            taken.iter().for_each(|taken| self.planner.loaded(taken.id));
            let are_known = self.cache.touch(&all);
            debug_assert!(are_known, "a hit of what was evicted: {taken:?}");
            if let Some(recorder) = &mut self.recorder {
                all.iter().for_each(|hits| recorder.requested(hits.request));
            }
            all.clear();
            self.taken = all;
        }
    }

    /// One request that found no kept buffer. Logging of hits is paused, and the policy knows all
    /// of them. `waiter` is used unless the buffer is at hand.
    pub(crate) fn request(
        &mut self,
        request: &Request,
        waiter: Waiter,
        slots: &Slots,
        hits: &mut PausedLog<'_>,
        released: &mut Released,
    ) -> Asked {
        let request = &self.foreseen(request);
        self.planner.loaded(request.id);
        let step = self.cache.step(request, &mut self.commands);
        if let Some(recorder) = &mut self.recorder {
            recorder.requested(*request);
        }
        let kept = self.obey(slots, released, |victim| hits.forget(victim));
        if let Some(flight) = self.flights.get_mut(&request.id) {
            flight.kept |= kept;
            flight.waiters.push(waiter);
            self.statistics.joined += 1;
            return Asked::Joined;
        }
        let Some(buffer) = slots.alive(request.id) else {
            self.count_fetch(step);
            self.flights.insert(request.id, Flight { waiters: vec![waiter], kept });
            return Asked::Fetch;
        };
        self.count_alive(step, &buffer);
        if kept {
            slots.keep(request.id, buffer.clone());
            self.complete(request.id, Filled::Yes, slots, released);
        }
        Asked::Ready(buffer)
    }

    /// The cache of files takes its share of the memory, less what lies beside it. The share
    /// changes with what is known of the device. Logging of hits is paused.
    pub(crate) fn share_memory(
        &mut self,
        beside_bytes: u64,
        slots: &Slots,
        hits: &mut PausedLog<'_>,
        released: &mut Released,
    ) {
        let bytes = self.planner.files_bytes().saturating_sub(beside_bytes);
        if self.cache.config().capacity != bytes {
            self.cache.set_config(Config::files(bytes), &mut self.commands);
            self.obey(slots, released, |victim| hits.forget(victim));
        }
    }

    /// The cache evicts one file more, since too much memory lies unused between its buffers.
    /// Logging of hits is paused.
    pub(crate) fn evict_one(
        &mut self,
        slots: &Slots,
        hits: &mut PausedLog<'_>,
        released: &mut Released,
    ) {
        self.cache.evict_one(&mut self.commands);
        self.obey(slots, released, |victim| hits.forget(victim));
    }

    fn count_fetch(&mut self, step: Step) {
        match step {
            Step::Bypass => self.statistics.bypassed += 1,
            Step::Wait | Step::Ready => self.statistics.misses += 1,
        }
    }

    fn count_alive(&mut self, step: Step, buffer: &Buffer) {
        match step {
            Step::Ready => self.statistics.hits += 1,
            Step::Wait | Step::Bypass => self.statistics.revived += 1,
        }
        self.statistics.delivered_bytes += buffer.len() as u64;
    }

    /// An entry has arrived, or will not. Returns who waits for it.
    pub(crate) fn finish(
        &mut self,
        id: Id,
        result: &Result<Buffer, Error>,
        slots: &Slots,
        released: &mut Released,
    ) -> Vec<Waiter> {
        let Some(flight) = self.flights.remove(&id) else { return Vec::new() };
        debug_assert!(!flight.kept || self.cache.in_flight(id), "the cache waits for {id}");
        if flight.kept {
            let filled = if result.is_ok() { Filled::Yes } else { Filled::Failed };
            self.complete(id, filled, slots, released);
        }
        match result {
            Ok(buffer) => {
                self.statistics.delivered_bytes +=
                    buffer.len() as u64 * flight.waiters.len() as u64;
                // An entry evicted during its read must not become a hit: the policy no longer
                // knows it.
                match flight.kept && self.cache.resident(id) {
                    true => slots.keep(id, buffer.clone()),
                    false => {
                        slots.remember(id, buffer);
                        self.long_held.left(id);
                    }
                }
                released.long_held = self.long_held.came(slots);
                self.statistics.long_held += u64::from(released.long_held.is_some());
            }
            Err(_) => self.statistics.failed += flight.waiters.len() as u64,
        }
        flight.waiters
    }

    /// A `load_many` was dropped: what only it waits for, and what is not yet on its way, will not
    /// be read.
    pub(crate) fn cancel(&mut self, owner: u64, slots: &Slots, released: &mut Released) {
        let Self { flights, planner, .. } = self;
        let mut cancelled = Vec::new();
        planner.cancel(|id| {
            let Some(flight) = flights.get_mut(&id) else { return true };
            flight.waiters.retain(|waiter| waiter.owner != owner);
            if !flight.waiters.is_empty() {
                return false;
            }
            cancelled.push(id);
            true
        });
        for id in cancelled {
            if self.flights.remove(&id).is_some_and(|flight| flight.kept) {
                self.complete(id, Filled::Failed, slots, released);
            }
        }
    }

    fn complete(&mut self, id: Id, filled: Filled, slots: &Slots, released: &mut Released) {
        if filled == Filled::Failed
            && self.cache.resident(id)
            && let Some(recorder) = &mut self.recorder
        {
            recorder.removed(id);
        }
        self.cache.complete(id, filled, &mut self.commands);
        // What leaves here was in flight, so no slot and no stripe has it.
        self.obey(slots, released, |_| ());
    }

    /// Does what the cache has commanded; true says that it wants the requested entry fetched.
    /// `forget` is called with each victim before its buffer is released.
    fn obey(&mut self, slots: &Slots, released: &mut Released, mut forget: impl FnMut(Id)) -> bool {
        let mut fetch = false;
        for command in self.commands.drain(..) {
            match command {
                Command::Drop(victim) => {
                    forget(victim);
                    self.planner.evicted(victim);
                    released.buffers.extend(slots.orphan(victim));
                    self.long_held.left(victim);
                }
                Command::Fetch(_) => fetch = true,
                Command::WriteBack(_) => {} // a store only reads, so nothing is dirty
            }
        }
        fetch
    }

    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.recorder.as_ref().map(Recorder::decisions).unwrap_or_default()
    }
}
