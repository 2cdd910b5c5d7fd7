//! What a worker thread is given to do.

use crate::read_cache::ReadData;
use seekless_engine::Completion;
use seekless_policy::eviction::Id;
use std::sync::Arc;

pub(crate) enum Job {
    /// A read, or a block of a large one, has ended.
    Ended(Completion),
    /// An entry of a kept read is to be decoded.
    Decode { read: Arc<ReadData>, id: Id },
    /// A chunk of the large read of this tag is to be decoded.
    Chunk { read: u64 },
    /// The worker ends.
    Quit,
}
