//! One slot an entry: where a hit finds its buffer without the cache's lock, and where an orphan
//! (evicted, but still held by a user) is found again without I/O.

use super::sync::{Mutex, lock};
use super::{Buffer, BufferLender, WeakBuffer};
use seekless_policy::eviction::Id;
use std::sync::OnceLock;

enum Slot {
    Empty,
    /// In the cache.
    Kept(Buffer),
    /// Not in the cache; its users, if any are left, keep it alive.
    Orphan(WeakBuffer),
}

/// Slots that are made together, when the first of them is written. So the slots of a large archive
/// take memory only where it is used.
const PAGE: usize = 256;

/// Slots made together.
type Page = OnceLock<Box<[Mutex<Slot>]>>;

/// All slots. Written only under the cache's lock, read without it.
pub(crate) struct Slots(Box<[Page]>);

impl Slots {
    pub(crate) fn new(entries: usize) -> Self {
        Self((0..entries.div_ceil(PAGE)).map(|_| OnceLock::new()).collect())
    }

    /// `None` if it was never written.
    #[inline]
    fn get(&self, id: Id) -> Option<&Mutex<Slot>> {
        self.0[id as usize / PAGE].get().map(|page| &page[id as usize % PAGE])
    }

    fn made(&self, id: Id) -> &Mutex<Slot> {
        let page = || (0..PAGE).map(|_| Mutex::new(Slot::Empty)).collect();
        &self.0[id as usize / PAGE].get_or_init(page)[id as usize % PAGE]
    }

    /// A lender of the buffer, if the cache has it.
    pub(crate) fn lender(&self, id: Id) -> Option<BufferLender> {
        match &*lock(self.get(id)?) {
            Slot::Kept(buffer) => Some(buffer.lender()),
            Slot::Empty | Slot::Orphan(_) => None,
        }
    }

    /// Whether the cache has the buffer.
    pub(crate) fn has(&self, id: Id) -> bool {
        self.get(id).is_some_and(|slot| matches!(*lock(slot), Slot::Kept(_)))
    }

    /// The buffer, if the cache or a user still holds it.
    pub(crate) fn alive(&self, id: Id) -> Option<Buffer> {
        match &*lock(self.get(id)?) {
            Slot::Kept(buffer) => Some(buffer.clone()),
            Slot::Orphan(weak) => weak.upgrade(),
            Slot::Empty => None,
        }
    }

    /// Whether the cache does not have the buffer, and a user holds it.
    pub(crate) fn is_orphan(&self, id: Id) -> bool {
        let is_alive = |slot: &Slot| matches!(slot, Slot::Orphan(weak) if weak.upgrade().is_some());
        self.get(id).is_some_and(|slot| is_alive(&lock(slot)))
    }

    /// The cache keeps `buffer`.
    pub(crate) fn keep(&self, id: Id, buffer: Buffer) {
        *lock(self.made(id)) = Slot::Kept(buffer);
    }

    /// The cache does not keep `buffer`, but a load finds it here as long as a user holds it.
    pub(crate) fn remember(&self, id: Id, buffer: &Buffer) {
        *lock(self.made(id)) = Slot::Orphan(buffer.downgrade());
    }

    /// The cache releases the entry. Returns its reference, so that the caller frees the memory
    /// outside the lock.
    pub(crate) fn orphan(&self, id: Id) -> Option<Buffer> {
        let slot = &mut *lock(self.get(id)?);
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
