//! The way of a read to the engine: reads that the planner starts, and messages to workers.

use super::{DECODE, Large, Shared};
use crate::lock;
use crate::read_cache::ReadData;
use crate::state::State;
use crate::stream::{Block, Stream};
use seekless_device::Nanos;
use seekless_engine::{AlignedBuf, Completion, Read};
use seekless_policy::eviction::Id;
use seekless_policy::eviction::landlord::Hint;
use seekless_policy::planner::{Answer, Start};
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;

impl Shared {
    /// A caller waits for what was only planned ahead: its read goes first.
    pub(super) fn hurry(&self, id: Id) {
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
    pub(super) fn demand(&self, id: Id, decode: impl FnOnce(Arc<ReadData>)) {
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
    pub(super) fn sent(&self, state: &mut State, starts: &[Start]) {
        let now = self.engine.now();
        starts.iter().for_each(|start| state.sent(start.tag, now));
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

    pub(super) fn submit(&self, starts: &[Start]) {
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

    pub(super) fn block(&self, large: &Large, Block { tag, offset, buffer }: Block) -> Read {
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

    /// The next completion, for the worker that asks first. Also returns the earliest time at which
    /// it can have arrived: when the queue was last seen empty.
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
}
