//! What a cache of pages counts.

use crate::readahead::Fate;

/// Counts by size: place `n` counts sizes from 2ⁿ to 2ⁿ⁺¹ − 1 pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes(pub [u64; 32]);

impl Sizes {
    pub(super) fn add(&mut self, pages: u32) {
        if let Some(place) = pages.checked_ilog2() {
            self.0[place as usize] += 1;
        }
    }
}

/// Pages and windows so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Pages that reads have asked for, repeats included.
    pub demanded: u64,
    /// Of those, pages whose bytes were there.
    pub ready: u64,
    /// Pages whose fetch began because the read under way asks for them, those of its read that a
    /// window brought included.
    pub fetched: u64,
    /// Pages whose fetch began before any read asked for them.
    pub prefetched: u64,
    /// Prefetched pages that were read.
    pub used: u64,
    /// Of those, pages that were asked for while their fetch was under way.
    pub late: u64,
    /// Prefetched pages that left the cache before any read asked for them.
    pub wasted: u64,
    /// Of those, pages that the policy evicted. The others could not be read, were given up, or
    /// belonged to a file that was cut or removed.
    pub evicted_unused: u64,
    /// Prefetched pages in the cache that no read has asked for.
    pub unused: u64,
    /// Pages that windows started, by size of the window.
    pub windows: Sizes,
    /// Pages of each fetch: a window is one for each run of missing pages.
    pub fetches: Sizes,
}

impl Account {
    pub(super) fn end(&mut self, fate: Fate) {
        self.unused -= 1;
        match fate {
            Fate::InTime => self.used += 1,
            Fate::Late => {
                self.used += 1;
                self.late += 1;
            }
            Fate::Wasted => self.wasted += 1,
        }
    }
}
