//! The figures of a simulation in time.

use super::case::TimedCase;
use seekless_device::Latencies;
use seekless_policy::cache::paged::{Account, Sizes};
use serde::Serialize;

/// The figures of one cache and one readahead on a device. Pages are of 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimedFigures {
    /// Name of the policy.
    pub policy: String,
    /// The capacity in bytes; `None`: everything fits.
    pub capacity: Option<u64>,
    /// Name of the readahead.
    pub readahead: String,
    /// Its largest window in pages.
    pub readahead_max_pages: u32,
    /// Where its markers lie: `auto`, `off` or a number of pages.
    pub readahead_lead: String,
    /// Reads and writes of the program.
    pub accesses: u64,
    /// Pages that reads asked for, repeats included.
    pub pages_demanded: u64,
    /// Of those, pages whose bytes were there.
    pub pages_ready: u64,
    /// Pages fetched since the read under way asked for them.
    pub pages_fetched: u64,
    /// Pages fetched before any read asked for them.
    pub pages_prefetched: u64,
    /// Prefetched pages that were read.
    pub pages_used: u64,
    /// Of those, pages that the reader had to wait for.
    pub pages_late: u64,
    /// Prefetched pages that left the cache unread.
    pub pages_wasted: u64,
    /// Of those, pages that the policy evicted.
    pub pages_evicted_unused: u64,
    /// Prefetched pages in the cache at the end that no read asked for.
    pub pages_unused_at_end: u64,
    /// Pages that were dirty at the end.
    pub pages_dirty_at_end: u64,
    /// Writes that were held up since too many pages were dirty.
    pub held_up: u64,
    /// How many windows started how many pages.
    pub windows: Vec<SizeCount>,
    /// How many I/Os had how many pages.
    pub ios: Vec<SizeCount>,
    /// Reads of the device.
    pub device_reads: u64,
    /// Writes of the device.
    pub device_writes: u64,
    /// Bytes of both.
    pub device_bytes: u64,
    /// Time during which the device had something to do.
    pub device_busy_seconds: f64,
    /// Time that I/Os spent behind or beside others: the sum of their latencies over the device's
    /// busy time.
    pub queueing_seconds: f64,
    /// Time that readers waited: for pages, and for the device to have what was written.
    pub wait_seconds: f64,
    /// How many accesses waited how long in all, by rising time, each known to a sixteenth.
    pub waits: Vec<WaitCount>,
    /// From the start to the end of the last reader.
    pub seconds: f64,
    /// Bytes that reads returned.
    pub bytes_delivered: u64,
    /// Those bytes by that time.
    pub bytes_per_second: f64,
    /// Bytes read from the device for each byte delivered; 0 if none was.
    pub amplification: f64,
}

/// How many accesses waited at most so long, and longer than those of the count before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WaitCount {
    /// Nanoseconds.
    pub at_most_ns: u64,
    /// How many.
    pub count: u64,
}

/// How many things have a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// Sizes from this number of pages up to less than twice as many.
    pub pages: u64,
    /// How many.
    pub count: u64,
}

/// Counts by powers of two of pages.
#[derive(Clone, Debug, Default)]
pub(super) struct SizeCounts(Vec<u64>);

impl SizeCounts {
    pub(super) fn add(&mut self, pages: u64) {
        let place = pages.max(1).ilog2() as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] += 1;
    }

    fn list(&self) -> Vec<SizeCount> {
        list(&self.0)
    }
}

fn list(counts: &[u64]) -> Vec<SizeCount> {
    let count = |(place, &count): (usize, &u64)| SizeCount { pages: 1 << place, count };
    counts.iter().enumerate().filter(|(_, count)| **count > 0).map(count).collect()
}

/// What the loop has measured, in nanoseconds and bytes.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub(super) accesses: u64,
    pub(super) dirty_at_end: u64,
    pub(super) held_up: u64,
    pub(super) wait_ns: u64,
    pub(super) waits: Latencies,
    pub(super) elapsed_ns: u64,
    pub(super) busy_ns: u64,
    pub(super) latency_ns: u64,
    pub(super) delivered: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) bytes: u64,
    pub(super) sizes: SizeCounts,
}

impl TimedFigures {
    pub(super) fn new(case: &TimedCase, account: &Account, measured: &Measured) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let Sizes(windows) = &account.windows;
        let elapsed = seconds(measured.elapsed_ns);
        let delivered = measured.delivered as f64;
        let waits = measured.waits.steps();
        let waits = waits.map(|(at_most_ns, count)| WaitCount { at_most_ns, count });
        Self {
            policy: case.policy.clone(),
            capacity: case.capacity,
            readahead: case.readahead.clone(),
            readahead_max_pages: case.options.max_pages,
            readahead_lead: case.options.lead.to_string(),
            accesses: measured.accesses,
            pages_demanded: account.demanded,
            pages_ready: account.ready,
            pages_fetched: account.fetched,
            pages_prefetched: account.prefetched,
            pages_used: account.used,
            pages_late: account.late,
            pages_wasted: account.wasted,
            pages_evicted_unused: account.evicted_unused,
            pages_unused_at_end: account.unused,
            pages_dirty_at_end: measured.dirty_at_end,
            held_up: measured.held_up,
            windows: list(windows),
            ios: measured.sizes.list(),
            device_reads: measured.reads,
            device_writes: measured.writes,
            device_bytes: measured.bytes,
            device_busy_seconds: seconds(measured.busy_ns),
            queueing_seconds: seconds(measured.latency_ns.saturating_sub(measured.busy_ns)),
            wait_seconds: seconds(measured.wait_ns),
            waits: waits.collect(),
            seconds: elapsed,
            bytes_delivered: measured.delivered,
            bytes_per_second: if elapsed > 0.0 { delivered / elapsed } else { 0.0 },
            amplification: if delivered > 0.0 { measured.bytes as f64 / delivered } else { 0.0 },
        }
    }
}
