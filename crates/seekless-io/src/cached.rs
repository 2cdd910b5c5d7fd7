//! What a hit reads and writes: the slots, which have the buffers, and the log of hits, which is
//! passed on to the policy later.
//!
//! The protocol, which `tests/io/model.rs` checks under every order of threads' steps:
//!
//! 1. A hit looks at the slot and is logged under its stripe's lock, as one step.
//! 2. A request that may evict holds all stripes from before the last of the log is drained until
//!    the slots of its victims are empty. So each hit is either drained before the eviction is
//!    decided, or finds the slot empty: none is logged for an entry that the policy has evicted.
//! 3. What was evicted while it was read is never put into its slot.
//! 4. A stripe lends buffers whose slots have them. A request that empties a slot holds all stripes
//!    and removes their lenders.

mod hit_log;
mod slots;
mod sync;
#[cfg(test)]
mod tests;

use crate::buffer::{Buffer, BufferLender, WeakBuffer};
pub(crate) use hit_log::{EntryHits, Hit, HitLog, PausedLog};
use seekless_policy::eviction::Id;
pub(crate) use slots::Slots;
pub(crate) use sync::own_number;

/// One that hands out what it keeps, to one thread at a time.
pub(crate) trait Lend {
    type Lent;

    fn lend(&mut self) -> Self::Lent;
}

/// Where a name stands among those of all entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamePlace {
    /// Which source has it.
    pub(crate) source: u32,
    /// Its place there, as the source has it.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The names of all entries, by which they are looked up.
pub(crate) trait Names {
    fn name(&self, id: Id) -> &str;

    fn place(&self, id: Id) -> NamePlace;

    /// Whether the name that stands there is exactly `name`.
    fn is_at(&self, place: NamePlace, name: &str) -> bool;
}
