//! What the kernel reads for a program without any cached page: around each touch of a mapped file,
//! and ahead of each read.
//!
//! Linux reads a whole window around a touch, half of it before (`do_sync_mmap_readahead`). Of a
//! file that is read, it reads ahead twice to four times what was asked at first, and doubles that
//! with each read that continues the last (`get_init_ra_size`, `get_next_ra_size`).

use super::{Need, PAGE_BYTES, REQUEST_BYTES_MAX};
use std::collections::BTreeMap;

/// What the kernel asks of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What the kernel reads of one file for these needs, in their order.
#[must_use]
pub fn plain(needs: &[Need], file_bytes: u64, readahead_bytes: u64) -> Plain {
    let mut cached = Ranges::default();
    let mut read = Plain::default();
    let mut ahead = 0;
    let last = file_bytes.next_multiple_of(PAGE_BYTES);
    for need in needs {
        let end = need.extent.end().min(last);
        let mut at = need.extent.offset / PAGE_BYTES * PAGE_BYTES;
        while at < end {
            if let Some(cached_end) = cached.end_at(at) {
                at = cached_end;
                continue;
            }
            let (from, to) = if need.mapped {
                let from = at.saturating_sub(readahead_bytes / 2);
                (from, from + readahead_bytes.max(PAGE_BYTES))
            } else {
                let first = 4 * (end - at).next_power_of_two();
                let window = if cached.ends_at(at) { 2 * ahead } else { first };
                ahead = window.min(readahead_bytes).max(PAGE_BYTES);
                (at, at + ahead)
            };
            let to = to.max(at + PAGE_BYTES).min(last.max(at + PAGE_BYTES));
            let new = cached.add(from, to);
            read.bytes += new;
            read.requests += new.div_ceil(REQUEST_BYTES_MAX).max(1);
            at = to;
        }
    }
    read
}

/// Ranges that do not meet: each start with its end.
#[derive(Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// The end of the range that holds a byte.
    fn end_at(&self, at: u64) -> Option<u64> {
        let (_, &end) = self.0.range(..=at).next_back()?;
        (end > at).then_some(end)
    }

    /// Whether a range ends just before a byte.
    fn ends_at(&self, at: u64) -> bool {
        self.0.range(..at).next_back().is_some_and(|(_, &end)| end == at)
    }

    /// Adds a range, and gives how many of its bytes were new.
    fn add(&mut self, from: u64, to: u64) -> u64 {
        let (mut start, mut end, mut old) = (from, to, 0);
        while let Some((&first, &last)) = self.0.range(..=end).next_back() {
            if last < start {
                break;
            }
            self.0.remove(&first);
            old += last.min(to).saturating_sub(first.max(from));
            (start, end) = (start.min(first), end.max(last));
        }
        self.0.insert(start, end);
        to - from - old
    }
}
