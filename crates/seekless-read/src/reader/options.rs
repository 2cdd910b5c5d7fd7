//! How a reader is to read.

use crate::{Plan, Records};

/// Chunks smaller than this (tests, small records) make reads as small.
const SMALL_CHUNK: usize = 64 << 10;

/// How to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What must not be cut apart.
    pub records: Records,
    /// In what order.
    pub plan: Plan,
    /// Deliver only what costs no device anything; the rest is counted in the `skipped` of [`Event::End`](crate::Event::End).
    pub cached_only: bool,
    /// About how many bytes a chunk has; a single record may make it longer, and what comes from a device comes in up to 1 MiB.
    pub chunk_bytes: usize,
    /// Read from the device while what is cached is being delivered. A program that may stop early (`grep -q`) says no, so
    /// that nothing is read before all that is cached has been seen.
    pub overlap: bool,
    /// For a program that needs each file in order, and keeps or reads again what comes before its turn: where reading past the
    /// cache disturbs nothing, a short range that is not cached comes before the cached one behind it.
    pub in_order: bool,
    /// How much is kept of records that lie across the edges of pieces, and so how long one may be; one that is longer fails its
    /// file. Where pieces in the order of cost would take more, the rest of a file is read from the front.
    pub record_bytes_max: usize,
    /// How many cached bytes that are to be read are held in memory until then (section 3.4), at most half of what may be
    /// cached. What is held cannot be pushed out, by this reading or by others': it is bought at their expense.
    pub hold_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            records: Records::None,
            plan: Plan::Best,
            cached_only: false,
            chunk_bytes: 256 << 10,
            overlap: true,
            in_order: false,
            record_bytes_max: usize::MAX,
            hold_bytes: 0,
        }
    }
}

impl Options {
    /// How much one read asks for: a chunk, or `least` bytes if that is more, unless chunks are small.
    pub(super) fn read_bytes(&self, least: u64) -> u64 {
        let chunk = self.chunk_bytes as u64;
        if self.chunk_bytes < SMALL_CHUNK { chunk } else { chunk.max(least) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_chunks_make_small_reads_and_others_at_least_the_usual() {
        let reads = |chunk_bytes| Options { chunk_bytes, ..Options::default() }.read_bytes(1 << 20);
        assert_eq!([1, 65_535, 65_536, 2 << 20].map(reads), [1, 65_535, 1 << 20, 2 << 20]);
    }
}
