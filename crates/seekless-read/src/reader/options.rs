//! How a reader reads.

use crate::{Plan, Reach, Records};

/// Chunks smaller than this (in tests, with small records) make reads as small.
const SMALL_CHUNK: usize = 64 << 10;

/// How a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What must not be cut apart.
    pub records: Records,
    /// The order of reading.
    pub plan: Plan,
    /// How far to go for the bytes. What is left out is counted in the `skipped` of
    /// [`Event::End`](crate::Event::End).
    pub reach: Reach,
    /// About how many bytes a chunk has. A single record may be longer, and bytes from a device
    /// come in chunks of up to 1 MiB.
    pub chunk_bytes: usize,
    /// Read from the device while cached bytes are being delivered. A program that may stop early
    /// (`grep -q`) sets this to false, so that nothing is read before all cached bytes have been
    /// seen, and nothing far away before all that is near.
    pub overlap: bool,
    /// For programs that need each file in order, and keep or read again what comes before its
    /// turn. Where reading past the cache disturbs nothing, a short absent range comes before the
    /// cached one behind it.
    pub in_order: bool,
    /// The most that is kept of records that lie across the edges of pieces, and so the longest
    /// record: a file with a longer one fails. Where pieces in the order of cost would take more,
    /// the rest of the file is read from the front.
    pub record_bytes_max: usize,
    /// How many cached bytes are held in memory until they are read (section 3.4), at most half of
    /// what may be cached. Held bytes cannot be pushed out, by this reader or by others: other
    /// programs' bytes leave instead.
    pub hold_bytes: u64,
    /// Report long holes ([`Event::Hole`](crate::Event::Hole)) instead of delivering their zeros,
    /// unless a record may hold a NUL.
    pub holes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            records: Records::None,
            plan: Plan::Best,
            reach: Reach::default(),
            chunk_bytes: 256 << 10,
            overlap: true,
            in_order: false,
            record_bytes_max: usize::MAX,
            hold_bytes: 0,
            holes: false,
        }
    }
}

impl Options {
    /// The bytes of one read: a chunk, or `least` if that is more, unless chunks are small.
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
