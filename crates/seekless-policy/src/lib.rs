//! What to keep, what to fetch next, what to lay together: pure decisions.
//!
//! **Invariant:** no I/O, clock, thread, or randomness without a seed; no allocation per request but amortised
//! growth; of a device it knows only [`Costs`](seekless_device::Costs).

#![forbid(unsafe_code)]

pub mod eviction;
