//! What the owner of a cache must do. A [`Sink`] is called at once; a list of [`Command`]s is
//! carried out later.

use crate::eviction::Id;

/// What the owner of the cache must do, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start reading `id`; call [`Cache::complete`](super::Cache::complete) at the end.
    Fetch(Id),
    /// Evicted: drop the cache's reference to its bytes. An id in flight or in write-back is an
    /// orphan, and gets its `Drop` when it completes.
    Drop(Id),
    /// Dirty, and evicted or to be cleaned: start writing it; call
    /// [`Cache::written`](super::Cache::written) at the end.
    WriteBack(Id),
}

/// Called for each id that leaves the cache. An owner whose writes end at once, as the simulator's,
/// has its own type of sink.
pub trait Sink {
    /// The cache holds the bytes of `id` no longer.
    fn dropped(&mut self, id: Id);
    /// `id` is dirty and was evicted: write it to the device. Returns true if the write goes on and
    /// [`Cache::written`](super::Cache::written) will end it. In that case the bytes are dropped at
    /// its end.
    fn write_back(&mut self, id: Id) -> bool;
    /// The policy knows `id` no longer, not even as a ghost. Once its bytes are dropped too, the
    /// owner may give its number to another page. By default the owner never does.
    #[inline]
    fn forgotten(&mut self, _id: Id) {}
}

/// For owners that carry out commands later.
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
