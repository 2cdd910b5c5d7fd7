//! What counts holds. The loom model in seekless-io replaces it by its own.

pub(super) use seekless_sys::memory::fetch_value;
pub(super) use std::sync::atomic::{AtomicU64, Ordering, fence};
