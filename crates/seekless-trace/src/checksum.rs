//! The checksums of a Parquet trace. A flipped bit anywhere in the file is an error; it never
//! changes rows in silence.
//!
//! Parquet's own page checksums cover the content of pages. They do not cover page headers and the
//! footer, which say how to decode that content. So we sum up the file by position, in blocks, and
//! keep the sums in its key-value metadata, which other readers ignore:
//!
//! ```text
//! 0        65536     131072     covered                                        end of the file
//! | PAR1.. | ...     | ...      | page index | footer: ... key-value ... | length | PAR1 |
//!   block 0  block 1   block 2   └──────────── seekless.footer_crc32 ──────────────────┘
//!   └── seekless.block_crc32 ──┘               with its own 8 digits as zeros
//! ```
//!
//! - `seekless.block_crc32`: the size of a block in bytes, a blank, then 8 hexadecimal digits for
//!   each block. The last block may be short.
//! - `seekless.footer_crc32`, the last pair: the sum in 8 hexadecimal digits, a blank, and the
//!   offset at which the blocks end in 16 such digits.
//!
//! A block is checked when a byte of it is first read. Another tool may copy these pairs into a
//! file that it writes. Such a file names that tool as its maker, and we ignore the pairs.

mod summed;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use summed::Summed;

pub(crate) const KEY_BLOCKS: &str = "seekless.block_crc32";
pub(crate) const KEY_FOOTER: &str = "seekless.footer_crc32";
/// The maker's name in the footer of a file with checksums, before the version.
pub(crate) const MAKER: &str = "seekless ";

const BLOCK_BYTES: u64 = 1 << 16;
const SUM_DIGITS: usize = 8;
/// `0123abcd 0000000000012345`
const FOOTER_VALUE_BYTES: usize = SUM_DIGITS + 1 + 16;
/// Between the key and the value of a pair: the value's type and its length.
const BETWEEN_BYTES: usize = 2;
/// After the last pair the footer holds only the maker and an order for each column.
const FOOTER_END_BYTES: u64 = 4096;
/// The maker's name begins at most this far behind the last pair.
const MAKER_WITHIN_BYTES: usize = 16;

const CHANGED: &str =
    "was damaged after it was written (a checksum differs): copy it again from its source";

/// The sums of a file's blocks, and which blocks have been checked.
#[derive(Debug)]
pub(crate) struct Blocks {
    sums: Vec<u32>,
    checked: Vec<AtomicBool>,
    covered: u64,
}

impl Blocks {
    /// Parses the value of the pair [`KEY_BLOCKS`]. The blocks end at `covered`.
    pub(crate) fn parse(value: Option<&str>, covered: u64) -> Option<Self> {
        let (block_bytes, digits) = value?.split_once(' ')?;
        let count = covered.div_ceil(BLOCK_BYTES);
        if block_bytes.parse() != Ok(BLOCK_BYTES)
            || digits.len() as u64 != count * SUM_DIGITS as u64
        {
            return None;
        }
        let sums = digits.as_bytes().chunks(SUM_DIGITS);
        let sums: Option<Vec<u32>> =
            sums.map(|digits| u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()).collect();
        let checked = (0..count).map(|_| AtomicBool::new(false)).collect();
        Some(Self { sums: sums?, checked, covered })
    }

    /// Checks the blocks that hold `length` bytes from `start` on, unless they were checked before.
    /// `read` fills a buffer from a position of the file.
    pub(crate) fn check(
        &self,
        start: u64,
        length: u64,
        read: impl Fn(&mut [u8], u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let end = start.saturating_add(length).min(self.covered);
        if start >= end {
            return Ok(()); // the footer, which was checked when the file was opened
        }
        let mut buffer = Vec::new();
        for block in start / BLOCK_BYTES..=(end - 1) / BLOCK_BYTES {
            let checked = &self.checked[block as usize];
            if checked.load(Ordering::Relaxed) {
                continue;
            }
            let at = block * BLOCK_BYTES;
            buffer.resize((self.covered - at).min(BLOCK_BYTES) as usize, 0);
            read(&mut buffer, at)?;
            if crc32fast::hash(&buffer) != self.sums[block as usize] {
                let what = format!("the {} bytes at {at} differ from their checksum", buffer.len());
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            checked.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Checks the footer of a file of `length` bytes; `read` returns the bytes from one offset up to
/// another. Returns where the blocks end, or `None` for a file without checksums. The inner error
/// says what is wrong.
pub(crate) fn check_footer(
    length: u64,
    read: impl Fn(u64, u64) -> io::Result<Vec<u8>>,
) -> io::Result<Result<Option<u64>, &'static str>> {
    let end = read(length.saturating_sub(FOOTER_END_BYTES), length)?;
    let Some(value) = footer_value(&end) else { return Ok(Ok(None)) };
    let Some((sum, covered)) = parse_footer(&end[value..value + FOOTER_VALUE_BYTES]) else {
        return Ok(Err(CHANGED));
    };
    if covered > length {
        return Ok(Err(CHANGED));
    }
    let mut footer = read(covered, length)?;
    let Some(at) = (footer.len() + value).checked_sub(end.len()) else { return Ok(Err(CHANGED)) };
    footer[at..at + SUM_DIGITS].fill(b'0');
    Ok(if crc32fast::hash(&footer) == sum { Ok(Some(covered)) } else { Err(CHANGED) })
}

/// Where the value of the pair [`KEY_FOOTER`] begins in the file's last bytes. We search the bytes
/// themselves, since a flipped bit may have broken the structure around them. A flipped bit in the
/// key or the maker's name hides the pair, but changes no rows.
fn footer_value(end: &[u8]) -> Option<usize> {
    let key = end.windows(KEY_FOOTER.len()).rposition(|window| window == KEY_FOOTER.as_bytes())?;
    let value = key + KEY_FOOTER.len() + BETWEEN_BYTES;
    let behind = end.get(value + FOOTER_VALUE_BYTES..)?;
    let behind = &behind[..behind.len().min(MAKER_WITHIN_BYTES)];
    behind.windows(MAKER.len()).any(|window| window == MAKER.as_bytes()).then_some(value)
}

fn parse_footer(value: &[u8]) -> Option<(u32, u64)> {
    let (sum, covered) = str::from_utf8(value).ok()?.split_once(' ')?;
    Some((u32::from_str_radix(sum, 16).ok()?, u64::from_str_radix(covered, 16).ok()?))
}

#[cfg(test)]
mod tests;
