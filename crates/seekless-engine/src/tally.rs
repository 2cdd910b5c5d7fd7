//! Counts what the device was asked for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Requests and bytes that the device was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Requests, large ones cut as [`seekless_device::parts`] says.
    pub requests: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Whether these are what the device served. Not so once one went through the page cache,
    /// which may have had the bytes already, or may have fetched more.
    pub exact: bool,
}

/// Counters that many threads add to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    requests: AtomicU64,
    bytes: AtomicU64,
    buffered: AtomicBool,
}

impl Tally {
    pub(crate) fn add(&self, requests: u64, bytes: u64, direct: bool) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if !direct {
            self.buffered.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            exact: !self.buffered.load(Ordering::Relaxed),
        }
    }
}
