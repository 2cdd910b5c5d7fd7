//! What is kept of the last reads of ranges.

use crate::{Buffer, lock};
use seekless_policy::eviction::Id;
use std::collections::HashMap;
use std::sync::Mutex;

/// Where the data of entries begins, as far as it has been looked up.
#[derive(Default)]
pub(crate) struct ContentOffsets(Mutex<HashMap<Id, u64>>);

impl ContentOffsets {
    pub(crate) fn get(&self, id: Id) -> Option<u64> {
        lock(&self.0).get(&id).copied()
    }

    pub(crate) fn set(&self, id: Id, offset: u64) {
        lock(&self.0).insert(id, offset);
    }
}

/// The chunk that was decoded last for a range, if the store has the room to keep it.
pub(crate) struct LastChunk {
    chunk: Mutex<Option<(Id, usize, Buffer)>>,
    room_bytes: u64,
}

impl LastChunk {
    /// For a store that keeps `kept_bytes` bytes: a chunk is kept if it is a small part of them.
    pub(crate) fn of(kept_bytes: u64) -> Self {
        Self { chunk: Mutex::default(), room_bytes: kept_bytes / 16 }
    }

    pub(crate) fn get(&self, id: Id, number: usize) -> Option<Buffer> {
        let chunk = lock(&self.chunk);
        let (of, at, content) = chunk.as_ref()?;
        ((*of, *at) == (id, number)).then(|| content.clone())
    }

    pub(crate) fn set(&self, id: Id, number: usize, content: &Buffer) {
        let kept = (content.len() as u64 <= self.room_bytes).then(|| (id, number, content.share()));
        let before = std::mem::replace(&mut *lock(&self.chunk), kept);
        drop(before);
    }
}
