//! What became of the requests to a store, and of the bytes that it read.

use seekless_device::{Costs, CostsSource};
use seekless_policy::foresight::prediction::Score;
use std::path::PathBuf;

/// Counts since the store was opened, and what it knows of its device. Every load is exactly one of
/// hit, joined, revived, missed or bypassed, once it has reached the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Loads of files that the cache had.
    pub hits: u64,
    /// Loads that waited for a read that was already under way.
    pub joined: u64,
    /// Loads of files that the cache had evicted, but that some user still held: no I/O.
    pub revived: u64,
    /// Loads of files that had to be fetched and were kept.
    pub misses: u64,
    /// Loads of files that had to be fetched and were not kept, being too large a part of the
    /// cache.
    pub bypassed: u64,
    /// Of the misses and bypassed, those whose bytes had been read ahead together with another
    /// file's.
    pub read_ahead_hits: u64,
    /// Parts of stored files that [`Store::read_range`](crate::Store::read_range) has read: of
    /// files that the cache did not have. They are no loads.
    pub ranges: u64,
    /// Loads that ended with an error.
    pub failed: u64,
    /// Content handed out.
    pub delivered_bytes: u64,
    /// Coded size of the entries that were decoded.
    pub coded_bytes: u64,
    /// Of stored files, bytes that were copied from where the device put them: small files, which
    /// share sectors with others. Nothing is copied twice, and nothing that was decoded is copied.
    pub copied_bytes: u64,
    /// Files that a user still held when the store had given [`LONG_HELD_AFTER`] others since it
    /// released them. With the feature `log` each is named in a warning: it may have been
    /// forgotten.
    pub long_held: u64,
    /// Bytes read for entries, without the directory; [`Counters`](seekless_engine::Counters) has
    /// all.
    pub read_bytes: u64,
    /// Of these, bytes of entries that no load has asked for (so far), and of gaps.
    pub unused_bytes: u64,
    /// What became of the files that were read ahead because the program was likely to load them,
    /// see [`StoreBuilder::prediction`](crate::StoreBuilder::prediction).
    pub predicted: Score,
    /// Memory of all buffers now: those of the cache, of kept reads and of reads under way, and
    /// those that only users hold.
    pub held_bytes: u64,
    /// Memory that the system gave for them, in whole pages.
    pub memory_bytes: u64,
    /// Of this, what no buffer asked for: ends of pages, and pages kept for the next buffers.
    pub waste_bytes: u64,
    /// Reads that were sent to the device for entries, but for those of ranges.
    pub reads: u64,
    /// The sum over these reads of how many were in flight once each was sent:
    /// [`Statistics::mean_depth`].
    pub depths: u64,
    /// Most reads that were in flight at one time.
    pub depth_max: u64,
    /// Demands that had to wait and have ended: loads by [`Store::load`](crate::Store::load) and
    /// [`Store::load_async`](crate::Store::load_async) that were no hit and not revived.
    pub waits: u64,
    /// How long these took together, in nanoseconds.
    pub wait_ns: u64,
    /// The time that half of them did not exceed, in nanoseconds; up to a sixteenth too long.
    pub wait_p50_ns: u64,
    /// The same of 99 in 100.
    pub wait_p99_ns: u64,
    /// The longest.
    pub wait_max_ns: u64,
    /// What the device charges, as far as the store knows. Its reads are planned with this.
    pub costs: Costs,
    /// How it knows: by [`StoreBuilder::costs`](crate::StoreBuilder::costs) or from the engine, by
    /// [`StoreBuilder::probed`](crate::StoreBuilder::probed) or from the device table, from its own
    /// reads, or not at all.
    pub costs_source: CostsSource,
}

/// A file that is still held this many files later counts as held for long.
pub const LONG_HELD_AFTER: u64 = 4096;

impl Statistics {
    /// How many reads were in flight when one was sent, itself included, on average.
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        self.depths as f64 / self.reads.max(1) as f64
    }

    /// The share of the bytes read that no load has asked for (so far): 0 to 1.
    #[must_use]
    pub fn waste(&self) -> f64 {
        self.unused_bytes as f64 / self.read_bytes.max(1) as f64
    }
}

/// One source of a store, and what was loaded from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceStatistics {
    /// The archive or folder, as it was given.
    pub path: PathBuf,
    /// Files that are loaded from it: those that no later source overrides.
    pub files: u64,
    /// Files that were read and decoded.
    pub loaded: u64,
    /// Files that could not be.
    pub failed: u64,
}
