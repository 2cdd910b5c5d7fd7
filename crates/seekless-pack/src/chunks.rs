//! A large deflated entry consists of chunks that can be inflated one by one, in any order and at
//! the same time. A table in the directory says where each lies and what CRC its content has.
//!
//! To other tools the entry is one ordinary stream of deflate: each chunk but the last ends on a
//! byte boundary with an empty stored block, and no chunk refers to bytes before it. They skip the
//! table, which is an extra field of their unknown kind:
//!
//! ```text
//! version, 1 (1) | log2 of a chunk's content bytes (1) | for each chunk: coded bytes (4) | CRC (4)
//! ```
//!
//! A table is used only if it can be true: it has as many chunks as the content needs, their coded
//! bytes come to those of the entry, and their CRCs, joined, to its CRC. So one that another tool
//! has left beside data of its own, or that is damaged, is as good as no table. What a chunk
//! inflates to is compared with its CRC each time.

mod code;

pub(crate) use code::{ChunkCoder, Table, code_below};

use crate::entry::{Entry, Method};
use crate::error::Result;
use crate::fault::{broken, ends_early, other_crc};
use crate::format::u32_at;
use seekless_sys::inflate::Inflater;
use std::cell::RefCell;
use std::ops::Range;

/// Content from this size on is coded in chunks.
const LARGE_BYTES: u64 = 4 << 20;

/// Content of a chunk, as a power of two: 1 MiB, unless that would be too many chunks. A reader
/// takes others too, but none that a store could not hold while it reads ahead.
const LOG_BYTES: u8 = 20;
const LOG_BYTES_READ: std::ops::RangeInclusive<u8> = 16..=22;

/// All extra fields of an entry have 64 KiB together.
const CHUNKS_MAX: u64 = 8_000;

const VERSION: u8 = 1;
const HEAD_BYTES: usize = 2;
const ROW_BYTES: usize = 8;

/// An empty last block: behind a chunk it ends the stream.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Coded bytes of a chunk that a thread has room for between two chunks.
const SCRATCH_KEEP_BYTES: usize = 512 << 10;

thread_local! {
    static INFLATER: RefCell<(Inflater, Vec<u8>)> = RefCell::new((Inflater::new(), Vec::new()));
}

/// The content bytes of each chunk of an entry with `bytes` bytes, as a power of two; `None` if it
/// has no chunks.
pub(crate) fn log_bytes(bytes: u64) -> Option<u8> {
    if bytes <= LARGE_BYTES {
        return None;
    }
    (LOG_BYTES..=*LOG_BYTES_READ.end()).find(|log| bytes.div_ceil(1 << log) <= CHUNKS_MAX)
}

/// Most coded bytes that a chunk can need: stored blocks are a little larger than what they hold.
fn coded_bytes_max(content_bytes: u64) -> u64 {
    content_bytes + (content_bytes >> 6) + 64
}

/// Whether `table` may be that of an entry of these sizes; its CRCs are not looked at.
pub(crate) fn is_possible(table: &[u8], bytes: u64, coded_bytes: u64) -> bool {
    let Some((&[VERSION, log], rows)) = table.split_at_checked(HEAD_BYTES) else { return false };
    if !LOG_BYTES_READ.contains(&log) || bytes == 0 {
        return false;
    }
    let count = bytes.div_ceil(1 << log);
    let most = coded_bytes_max(1 << log);
    let lengths = || rows.chunks_exact(ROW_BYTES).map(|row| u64::from(u32_at(row, 0)));
    count <= CHUNKS_MAX
        && count * ROW_BYTES as u64 == rows.len() as u64
        && lengths().all(|length| (1..=most).contains(&length))
        && lengths().sum::<u64>() == coded_bytes
}

/// Where the chunks of an entry lie: [`Index::chunks`](crate::Index::chunks).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    bytes: u64,
    log_bytes: u8,
    /// Where the data of each ends, from the beginning of the entry's data on.
    ends: Vec<u64>,
    crcs: Vec<u32>,
}

impl Chunks {
    /// The chunks of `entry` by its `table`, which is possible; `None` if its CRCs are not those of
    /// the entry.
    pub(crate) fn of(entry: &Entry, table: &[u8]) -> Option<Self> {
        let (&[_, log_bytes], rows) = table.split_at_checked(HEAD_BYTES)? else { return None };
        let mut chunks = Self { bytes: entry.bytes, log_bytes, ends: Vec::new(), crcs: Vec::new() };
        let mut end = 0;
        for row in rows.chunks_exact(ROW_BYTES) {
            end += u64::from(u32_at(row, 0));
            chunks.ends.push(end);
            chunks.crcs.push(u32_at(row, 4));
        }
        let lengths = (0..chunks.len()).map(|number| {
            let content = chunks.content(number);
            content.end - content.start
        });
        let is_right = join_crcs(chunks.crcs.iter().copied().zip(lengths)) == entry.crc;
        (entry.method == Method::Deflate && is_right).then_some(chunks)
    }

    /// How many chunks there are: at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Which bytes of the content chunk `number` holds. All but the last chunk hold as many.
    #[must_use]
    pub fn content(&self, number: usize) -> Range<u64> {
        let start = (number as u64) << self.log_bytes;
        start..(start + self.chunk_bytes()).min(self.bytes)
    }

    /// The bytes of content in each chunk but the last: a power of two, 64 KiB to 4 MiB.
    #[must_use]
    pub fn chunk_bytes(&self) -> u64 {
        1 << self.log_bytes
    }

    /// The chunks that hold the bytes `range` of the content, which lies in it and is not empty.
    #[must_use]
    pub fn holding(&self, range: Range<u64>) -> Range<usize> {
        (range.start >> self.log_bytes) as usize..range.end.div_ceil(self.chunk_bytes()) as usize
    }

    /// Where the data of chunk `number` lies, in bytes from the beginning of the entry's data.
    ///
    /// # Panics
    /// If there is no such chunk.
    #[must_use]
    pub fn data(&self, number: usize) -> Range<u64> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[number]
    }

    /// Inflates chunk `number` of `entry`, called `name`, into `out`, which has room for its
    /// content exactly, and checks it. `data` is its data, in one or more parts.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt), or
    /// [`ErrorKind::Crc`](crate::ErrorKind::Crc).
    ///
    /// # Panics
    /// If `out` is of another length, or there is no such chunk.
    pub fn inflate<'a>(
        &self,
        entry: &Entry,
        name: &str,
        number: usize,
        data: impl IntoIterator<Item = &'a [u8]>,
        out: &mut [u8],
    ) -> Result<()> {
        let content = self.content(number);
        assert_eq!(out.len() as u64, content.end - content.start);
        let written = INFLATER.with_borrow_mut(|(inflater, scratch)| {
            scratch.clear();
            data.into_iter().for_each(|part| scratch.extend_from_slice(part));
            scratch.extend_from_slice(&LAST_BLOCK);
            let written = inflater.inflate_to(scratch, out);
            if scratch.capacity() > SCRATCH_KEEP_BYTES {
                *scratch = Vec::new();
            }
            written
        });
        let said = |fault| {
            broken(entry, name, format_args!("in the chunk at byte {}: {fault}", content.start))
        };
        let written = written.map_err(said)?;
        if written != out.len() {
            return Err(ends_early(entry, name, content.start + written as u64));
        }
        match (crc32fast::hash(out), self.crcs[number]) {
            (crc, recorded) if crc == recorded => Ok(()),
            (crc, recorded) => Err(other_crc(entry, name, crc, recorded)),
        }
    }
}

/// The CRC of content whose parts have these CRCs and lengths.
pub(crate) fn join_crcs(parts: impl Iterator<Item = (u32, u64)>) -> u32 {
    let mut whole = crc32fast::Hasher::new();
    for (crc, bytes) in parts {
        whole.combine(&crc32fast::Hasher::new_with_initial_len(crc, bytes));
    }
    whole.finalize()
}

#[cfg(test)]
mod tests;
