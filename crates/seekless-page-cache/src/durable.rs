//! Until the device has it: sync, a new size, the flusher's wake, and the end of the cache.

use super::shared::Shared;
use super::source::Source;
use super::state::State;
use super::state::writes::Writes;
use super::trouble::failed;
use crate::lock;
use seekless_policy::cache::paged::PAGE_BYTES;
use seekless_policy::readahead::Handle;
use std::io;
use std::sync::MutexGuard;

/// How many files without a handle may have dirty pages, each with its descriptors.
const UNWRITTEN_FILES_MAX: usize = 64;

impl Shared {
    /// Returns when the device has all that was written to the file before.
    pub(super) fn sync(&self, handle: Handle, source: &Source, data_only: bool) -> io::Result<()> {
        self.harvest();
        let mut state = lock(&self.state);
        let file = state.cache.file(handle);
        state.refresh_written(file);
        let needs = state.sync(file);
        self.go(state, Vec::new());
        self.wait_for(&needs);
        // The kernel reports an error to one sync only, and two must not share what they are for.
        let turn = source.sync_turn();
        let mut state = lock(&self.state);
        let begun = state.writes_mut(file).map(Writes::begin_sync).unwrap_or_default();
        drop(state);
        let synced = self.engine.sync_now(&source.file(), data_only);
        let mut state = lock(&self.state);
        if let (Err(error), Some(writes)) = (&synced, state.writes_mut(file)) {
            writes.doubt(&begun, error);
        }
        drop(turn);
        let name = |error| failed(source.path(), "the file cannot be synced", error);
        state.take_error(file).map_or(Ok(()), Err).and(synced.map_err(name))
    }

    /// Gives the file a new size.
    pub(super) fn set_len(&self, handle: Handle, source: &Source, bytes: u64) -> io::Result<()> {
        self.harvest();
        loop {
            let mut state = lock(&self.state);
            let file = state.cache.file(handle);
            state.refresh_written(file);
            // A write under way would make the file long again.
            let needs = state.in_write_back(file, bytes / PAGE_BYTES);
            if needs.is_empty() {
                // Under the lock, so that none begins meanwhile.
                let resized = self.engine.resize_now(&source.file(), bytes);
                let what = || format!("it cannot be made {bytes} bytes long");
                resized.map_err(|error| failed(source.path(), what(), error))?;
                state.resized(file, bytes);
                return Ok(());
            }
            drop(state);
            self.wait_for(&needs);
        }
    }

    /// Bytes up to the end of a file, with what the device lacks.
    pub(super) fn size(&self, handle: Handle, source: &Source) -> io::Result<u64> {
        let version = source.version()?;
        if !source.is_written() {
            return Ok(version.bytes);
        }
        let mut state = lock(&self.state);
        let file = state.cache.file(handle);
        state.refresh_written(file);
        Ok(state.end(file))
    }

    /// Writes what is due at this time of the engine's clock, and waits for it.
    pub(super) fn flush_due(&self) {
        self.harvest();
        let mut state = lock(&self.state);
        let needs = state.flush_due(self.engine.now());
        self.go(state, Vec::new());
        self.wait_for(&needs);
    }

    /// Writes all that the device lacks, and waits for it.
    pub(super) fn write_back_all(&self) {
        self.harvest();
        let mut state = lock(&self.state);
        let needs = state.sync_all();
        self.go(state, Vec::new());
        self.wait_for(&needs);
    }

    /// Closes a handle. Where too many closed files have something to be written, the oldest is
    /// written first.
    pub(super) fn close(&self, handle: Handle) {
        let mut state = lock(&self.state);
        state.close(handle);
        while state.unwritten.len() > UNWRITTEN_FILES_MAX {
            state = self.write_oldest_closed(state);
        }
    }

    fn write_oldest_closed<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        let Some(oldest) = state.unwritten.pop_front() else { return state };
        let known = state.known(oldest);
        if !known.is_some_and(|known| known.handles == 0 && known.writes.is_some()) {
            return state;
        }
        let needs = state.sync(oldest);
        self.go(state, Vec::new());
        self.wait_for(&needs);
        lock(&self.state)
    }
}
