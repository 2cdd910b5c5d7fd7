//! What the owner of a cache has to do, and how it is told: at once by a [`Sink`], or later by a list of [`Command`]s.

use crate::eviction::Id;

/// What the owner of the cache has to do, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start reading it; end with [`Cache::complete`](super::Cache::complete).
    Fetch(Id),
    /// Evicted: drop the cache's reference to its bytes. Never given for an id in flight or in write-back; that one is an
    /// orphan and gets its `Drop` when it completes.
    Drop(Id),
    /// Dirty, and evicted or to be cleaned: start writing it; end with [`Cache::written`](super::Cache::written).
    WriteBack(Id),
}

/// Who hears of what leaves the cache. An owner whose writes end at once (the simulator) has a sink of its own type.
pub trait Sink {
    /// The bytes of `id` are no longer the cache's.
    fn dropped(&mut self, id: Id);
    /// `id` is dirty and was evicted: write it to the device. True says that the write goes on, and that
    /// [`Cache::written`](super::Cache::written) will end it; only then are the bytes dropped.
    fn write_back(&mut self, id: Id) -> bool;
}

/// For owners that carry commands out later.
impl Sink for Vec<Command> {
    fn dropped(&mut self, id: Id) {
        self.push(Command::Drop(id));
    }

    fn write_back(&mut self, id: Id) -> bool {
        self.push(Command::WriteBack(id));
        true
    }
}

/// For callers without buffers to drop or write.
pub(super) struct Ignore;

impl Sink for Ignore {
    #[inline]
    fn dropped(&mut self, _id: Id) {}

    #[inline]
    fn write_back(&mut self, _id: Id) -> bool {
        false
    }
}
