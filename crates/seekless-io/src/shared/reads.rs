//! The way of a read to the engine: reads that the planner starts, and messages to workers.

use super::{Large, Shared};
use crate::job::Job;
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
    /// Makes one entry arrive: from a read that covers it, from the kept read returned, or by a
    /// read of its own.
    pub(super) fn plan(
        &self,
        state: &mut State,
        id: Id,
        starts: &mut Vec<Start>,
    ) -> Option<Arc<ReadData>> {
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
        state.planner.foresee(cached, starts);
        read
    }

    /// Notes when reads are submitted, which is at once.
    pub(super) fn sent(&self, state: &mut State, starts: &[Start]) {
        let now = self.engine.now();
        starts.iter().for_each(|start| state.sent(start.tag, now));
    }

    /// Plans the reads of many entries that must be fetched, and starts as many as the device
    /// serves at once.
    pub(crate) fn fetch(&self, mut ids: Vec<Id>) {
        let (mut found, mut starts, mut decodes) = (Vec::new(), Vec::new(), Vec::new());
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
                decodes.extend(read.map(|read| Job::Decode { read, id }));
            }
            self.sent(&mut state, &starts);
        }
        decodes.into_iter().for_each(|job| self.tell(job));
        self.submit(&starts);
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
            Err(error) => self.done.send(Completion {
                tag: start.tag,
                buffer: AlignedBuf::default(),
                result: Err(error),
                cached: false,
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
                self.done.send(Completion {
                    tag,
                    buffer: AlignedBuf::default(),
                    result: Err(error),
                    cached: false,
                });
                None
            }
        }
    }

    /// A job for one worker.
    pub(crate) fn tell(&self, job: Job) {
        // Cannot fail: this value owns the receiver too.
        let _ = self.messages.send(job);
    }

    /// The next job, for the worker that asks first. Also returns the earliest time at which it can
    /// have come: when the queue was last seen empty.
    pub(crate) fn next_job(&self) -> Option<(Job, Nanos)> {
        let mut jobs = lock(&self.jobs);
        match jobs.waiting.try_recv() {
            Ok(job) => Some((job, jobs.empty)),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                let job = jobs.waiting.recv().ok()?;
                jobs.empty = self.engine.now();
                Some((job, jobs.empty))
            }
        }
    }
}
