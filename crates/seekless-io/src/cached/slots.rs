//! One slot an entry: where a hit finds its buffer without the cache's lock, and where an orphan
//! (evicted, but still held by a user) is found again without I/O.

use super::sync::{Mutex, lock};
use super::{Buffer, BufferLender, WeakBuffer};
use seekless_policy::eviction::Id;

enum Slot {
    Empty,
    /// In the cache.
    Kept(Buffer),
    /// Not in the cache; its users, if any are left, keep it alive.
    Orphan(WeakBuffer),
}

/// All slots. Written only under the cache's lock, read without it.
pub(crate) struct Slots(Box<[Mutex<Slot>]>);

impl Slots {
    pub(crate) fn new(entries: usize) -> Self {
        Self((0..entries).map(|_| Mutex::new(Slot::Empty)).collect())
    }

    /// A lender of the buffer, if the cache has it.
    pub(crate) fn lender(&self, id: Id) -> Option<BufferLender> {
        match &*lock(&self.0[id as usize]) {
            Slot::Kept(buffer) => Some(buffer.lender()),
            Slot::Empty | Slot::Orphan(_) => None,
        }
    }

    /// Whether the cache has the buffer.
    pub(crate) fn has(&self, id: Id) -> bool {
        matches!(*lock(&self.0[id as usize]), Slot::Kept(_))
    }

    /// The buffer, if the cache or a user still holds it.
    pub(crate) fn alive(&self, id: Id) -> Option<Buffer> {
        match &*lock(&self.0[id as usize]) {
            Slot::Kept(buffer) => Some(buffer.clone()),
            Slot::Orphan(weak) => weak.upgrade(),
            Slot::Empty => None,
        }
    }

    /// Whether the cache does not have the buffer, and a user holds it.
    pub(crate) fn is_orphan(&self, id: Id) -> bool {
        match &*lock(&self.0[id as usize]) {
            Slot::Orphan(weak) => weak.upgrade().is_some(),
            Slot::Empty | Slot::Kept(_) => false,
        }
    }

    /// The cache keeps `buffer`.
    pub(crate) fn keep(&self, id: Id, buffer: Buffer) {
        *lock(&self.0[id as usize]) = Slot::Kept(buffer);
    }

    /// The cache does not keep `buffer`, but a load finds it here as long as a user holds it.
    pub(crate) fn remember(&self, id: Id, buffer: &Buffer) {
        *lock(&self.0[id as usize]) = Slot::Orphan(buffer.downgrade());
    }

    /// The cache releases the entry. Returns its reference, so that the caller frees the memory
    /// outside the lock.
    pub(crate) fn orphan(&self, id: Id) -> Option<Buffer> {
        let slot = &mut *lock(&self.0[id as usize]);
        match std::mem::replace(slot, Slot::Empty) {
            Slot::Kept(buffer) => {
                *slot = Slot::Orphan(buffer.downgrade());
                Some(buffer)
            }
            other => {
                *slot = other;
                None
            }
        }
    }
}
