//! The frames of a spool, each with checksums.
//!
//! ```text
//! 0      4      8        12            16                20
//! | SKSP | kind | length | CRC of body | CRC of 0 to 16  | body, of `length` bytes
//! ```
//!
//! Numbers are little-endian and of 32 bits; both checksums are CRC-32. The head has its own, so
//! that the length can be trusted even if the body is cut short. A frame that the end of the file
//! cuts short is torn, as a kill leaves it; a frame that differs from its checksums is damaged.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

/// The first bytes of a frame, and so of a spool.
pub(super) const MARK: [u8; 4] = *b"SKSP";
pub(super) const HEAD_BYTES: usize = 20;

/// What the body of a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What is known at the start: the first frame alone.
    Start = 1,
    Rows = 2,
    /// The metadata, changed.
    Metadata = 3,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Start, Kind::Rows, Kind::Metadata];
}

/// Writes a frame.
pub(super) fn write(kind: Kind, body: &[u8], out: &mut impl Write) -> io::Result<()> {
    let length = u32::try_from(body.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut head = MARK.to_vec();
    head.extend((kind as u32).to_le_bytes());
    head.extend(length.to_le_bytes());
    head.extend(crc32fast::hash(body).to_le_bytes());
    head.extend(crc32fast::hash(&head).to_le_bytes());
    out.write_all(&head)?;
    out.write_all(body)
}

/// One frame.
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) body: Vec<u8>,
}

/// What follows in a spool.
pub(super) enum Next {
    Frame(Frame),
    /// The end, complete or cut off by a kill.
    End,
    /// Bytes that differ from what was written.
    Damage,
}

/// The head of a frame.
struct Head {
    kind: Kind,
    bytes: u32,
    sum: u32,
}

impl Head {
    /// `None` if it is not as it was written.
    fn parse(head: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_le_bytes(*head.get(at..)?.first_chunk()?));
        if !head.starts_with(&MARK) || number(16)? != crc32fast::hash(head.get(..16)?) {
            return None;
        }
        let kind = number(4)?;
        let kind = Kind::ALL.into_iter().find(|&known| known as u32 == kind)?;
        Some(Head { kind, bytes: number(8)?, sum: number(12)? })
    }
}

/// The frames of a file.
#[derive(Debug)]
pub(super) struct Frames {
    input: BufReader<File>,
    bytes: u64,
    /// Where the next frame starts.
    at: u64,
}

impl Frames {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Frames { input: BufReader::with_capacity(1 << 18, file), bytes, at: 0 })
    }

    /// Where the next frame starts.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// How many bytes the file had from the next frame on when it was opened.
    pub(super) fn rest(&self) -> u64 {
        self.bytes.saturating_sub(self.at)
    }

    /// The next frame. Its length is compared with the file's before memory is allocated.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        let Some(head) = self.take(HEAD_BYTES as u64, 0)? else { return Ok(Next::End) };
        let Some(head) = Head::parse(&head) else { return Ok(Next::Damage) };
        let Some(body) = self.take(head.bytes.into(), HEAD_BYTES as u64)? else {
            return Ok(Next::End);
        };
        if crc32fast::hash(&body) != head.sum {
            return Ok(Next::Damage);
        }
        self.at += (HEAD_BYTES + body.len()) as u64;
        Ok(Next::Frame(Frame { kind: head.kind, body }))
    }

    /// Reads `count` bytes; the first lies `after` bytes behind the start of the frame. `None` if
    /// the file ends before.
    fn take(&mut self, count: u64, after: u64) -> io::Result<Option<Vec<u8>>> {
        if self.rest().saturating_sub(after) < count {
            return Ok(None);
        }
        let mut bytes = vec![0; count as usize];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None), // it has been cut meanwhile
            Err(error) => Err(error),
        }
    }
}
