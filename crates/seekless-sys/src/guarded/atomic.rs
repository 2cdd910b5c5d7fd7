//! The atomics of the slots; `tests/guarded_model.rs` puts its own here.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
