//! The checksums of a spool's messages. They take 16 bytes of a message's padding, which other
//! readers of Arrow streams ignore.
//!
//! ```text
//! 0          4              8                                             8 + length
//! | FFFFFFFF | length (u32) | header | "skl-sum\0" | CRC of body | CRC of all before | body ...
//!                                    └──────────── the seal, 16 bytes ─────────────┘
//! ```
//!
//! Both are CRC-32. The header has its own sum, so that the length of the body can be trusted even
//! if the body is cut short. A body that is cut short is a torn batch; any other difference is
//! damage.

use super::MAGIC as FRAME_MARK;
use std::io::{self, Write};

pub(super) const MARK: [u8; 8] = *b"skl-sum\0";
pub(super) const SEAL_BYTES: usize = MARK.len() + 8;
/// The marker and the length.
pub(super) const PREFIX_BYTES: usize = 8;

/// Writes a message that an Arrow writer has made, with a seal behind its header. The end of the
/// stream, which is a prefix alone, gets none.
pub(super) fn write_sealed(message: &mut [u8], out: &mut impl Write) -> io::Result<()> {
    let header_bytes = message.first_chunk().map_or(0, header_bytes) as usize;
    let body = PREFIX_BYTES + header_bytes;
    if header_bytes == 0 || message.len() < body {
        return out.write_all(message);
    }
    let length = (header_bytes + SEAL_BYTES) as u32; // a header is some kilobytes
    message[4..PREFIX_BYTES].copy_from_slice(&length.to_le_bytes());
    let (before, body) = message.split_at(body);
    let mut seal = MARK.to_vec();
    seal.extend(crc32fast::hash(body).to_le_bytes());
    let mut sum = crc32fast::Hasher::new();
    sum.update(before);
    sum.update(&seal);
    seal.extend(sum.finalize().to_le_bytes());
    [before, &seal, body].into_iter().try_for_each(|part| out.write_all(part))
}

/// The length of the header in a prefix, seal included.
pub(super) fn header_bytes(prefix: &[u8; PREFIX_BYTES]) -> u32 {
    let [_, _, _, _, length @ ..] = *prefix;
    u32::from_le_bytes(length)
}

/// Whether a prefix begins a message.
pub(super) fn is_message(prefix: &[u8; PREFIX_BYTES]) -> bool {
    prefix.starts_with(&FRAME_MARK)
}

/// What the seal of a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// The header has no seal: the message is older than seals, or the mark of its seal is damaged.
    Absent,
    Wrong,
    Body(u32),
}

impl Seal {
    pub(super) fn of(prefix: &[u8; PREFIX_BYTES], header: &[u8]) -> Self {
        let Some((before, seal)) = header.split_last_chunk::<SEAL_BYTES>() else {
            return Seal::Absent;
        };
        let Some(sums) = seal.strip_prefix(&MARK) else { return Seal::Absent };
        let Some((body, sum)) = sums.split_first_chunk::<4>() else { return Seal::Absent };
        let mut expected = crc32fast::Hasher::new();
        expected.update(prefix);
        expected.update(before);
        expected.update(&MARK);
        expected.update(body);
        if sum == expected.finalize().to_le_bytes() {
            Seal::Body(u32::from_le_bytes(*body))
        } else {
            Seal::Wrong
        }
    }
}
