//! The way of what has been read to the loads that wait for it.

use super::{Large, Shared};
use crate::buffer::Buffer;
use crate::error::Error;
use crate::job::Job;
use crate::lock;
use crate::read_cache::ReadData;
use crate::state::{Released, State};
use crate::stream::{Block, Progress, Streamed, block_of};
use seekless_device::{Brought, Nanos};
use seekless_engine::Completion;
use seekless_policy::eviction::Id;
use seekless_policy::eviction::landlord::Hint;
use seekless_policy::planner::Ended;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Shared {
    /// A read has ended: keeps the device busy, then decodes the entries that loads wait for.
    /// Entries that a read of several did not bring are read again alone: one bad page fails only
    /// what lies on it.
    pub(crate) fn completed(&self, completion: Completion, when: Nanos) {
        if let Some((tag, number)) = block_of(completion.tag) {
            return self.advance(tag, when, |large, submit| {
                large.stream.ended(self.means(), number, completion, submit)
            });
        }
        let Completion { tag, buffer, result, cached } = completion;
        let bytes = buffer.len() as u64;
        let of_device = result.is_ok() && !cached;
        let brought = if of_device { Brought::Bytes(bytes) } else { Brought::Nothing };
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
            // The file ends before these entries do; decoding them gives the error.
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

    /// Reports to the planner that a read has ended, and submits the reads whose turn has come.
    /// What it `brought` shows how fast the device is. `act` keeps the parts that are kept.
    fn ended<T>(
        &self,
        tag: u64,
        bytes: u64,
        brought: Brought,
        when: Nanos,
        act: impl FnOnce(&mut State, &Ended, u64) -> T,
    ) -> (Ended, T) {
        let mut ended = Ended::default();
        let learned = self.engine.learned_costs();
        let acted = {
            // What is likely next depends on all loads so far.
            let state = &mut *self.drained();
            state.statistics.read_bytes += bytes;
            state.statistics.unused_bytes += bytes;
            if let Some(costs) = state.ended(tag, brought, when, learned) {
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

    /// Decodes a chunk of a large read.
    pub(crate) fn chunk(&self, tag: u64, when: Nanos) {
        self.advance(tag, when, |large, submit| large.stream.decode_chunk(self.means(), submit));
    }

    /// A large read goes on: a block of it has ended, or a chunk is decoded. Its duration includes
    /// waiting for the decoder, so only its byte count is used to estimate the device.
    fn advance(
        &self,
        tag: u64,
        when: Nanos,
        go_on: impl FnOnce(&Large, &mut dyn FnMut(Block)) -> Progress,
    ) {
        let Some(large) = lock(&self.large).get(&tag).cloned() else { return };
        let mut submit = |block| self.engine.submit(vec![self.block(&large, block)]);
        let Progress { chunks, streamed } = go_on(&large, &mut submit);
        // Queued behind reads that have ended meanwhile, so that a large entry does not hold up
        // small ones.
        (0..chunks).for_each(|_| self.tell(Job::Chunk { read: tag }));
        if let Some(Streamed { id, bytes, result }) = streamed {
            lock(&self.large).remove(&tag);
            self.ended(tag, bytes, Brought::Pieces(bytes), when, |_, _, _| ());
            self.finish(id, result);
        }
    }

    /// Decodes one entry of `read` and answers all who wait for it. If decoding panics, the answer
    /// is an error, since they would otherwise wait for ever. The read is released before the
    /// answer: then its memory is free for the caller, if no other entry needs it.
    pub(crate) fn deliver(&self, read: Arc<ReadData>, id: Id) {
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

    pub(super) fn finish(&self, id: Id, result: Result<Buffer, Error>) {
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
                 released it",
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
}
