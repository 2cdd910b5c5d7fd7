//! Reads the messages of an Arrow IPC stream: 0xFFFFFFFF, header length (i32), header, body. Every
//! length is compared with the file's before memory is allocated. A message that the end of the
//! file cuts short is torn, as a kill leaves it. A message that differs from its seal is damaged.

use super::seal::{self, PREFIX_BYTES, Seal};
use arrow_buffer::Buffer;
use std::fs::File;
use std::io::{self, BufReader, Read};

/// How many bytes are searched at a time.
const WINDOW_BYTES: u64 = 1 << 16;

/// One message.
pub(super) struct Frame {
    pub(super) header: Vec<u8>,
    pub(super) body: Buffer,
}

/// What follows in a stream.
pub(super) enum Next {
    Frame(Frame),
    /// The end of the stream, complete or cut off by a kill.
    End,
    /// Bytes that differ from what was written.
    Damage,
}

/// The messages of a file.
#[derive(Debug)]
pub(super) struct Frames {
    input: BufReader<File>,
    bytes: u64,
    /// Where the next message starts.
    at: u64,
    /// Whether messages have seals; the first message decides.
    sealed: bool,
}

impl Frames {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Frames { input: BufReader::with_capacity(1 << 18, file), bytes, at: 0, sealed: false })
    }

    /// Where the next message starts.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// How many bytes the file had from the next message on when it was opened.
    pub(super) fn rest(&self) -> u64 {
        self.bytes.saturating_sub(self.at)
    }

    /// Whether messages have seals; known after the first message.
    pub(super) fn sealed(&self) -> bool {
        self.sealed
    }

    /// The next message.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        let Some(prefix) = self.take(PREFIX_BYTES as u64, 0)? else { return Ok(Next::End) };
        let Some(prefix) = prefix.first_chunk::<PREFIX_BYTES>() else { return Ok(Next::End) };
        if !seal::is_message(prefix) {
            return Ok(self.broken());
        }
        let length = u64::from(seal::header_bytes(prefix));
        if length == 0 {
            self.at += PREFIX_BYTES as u64;
            return Ok(if self.rest() == 0 { Next::End } else { self.broken() });
        }
        let Some(header) = self.take(length, PREFIX_BYTES as u64)? else {
            return self.cut_header(length);
        };
        let seal = Seal::of(prefix, &header);
        if self.at == 0 {
            self.sealed = seal != Seal::Absent;
        }
        if self.sealed && !matches!(seal, Seal::Body(_)) {
            return Ok(Next::Damage);
        }
        let body = match arrow_ipc::root_as_message(&header) {
            Ok(message) => message.bodyLength().try_into().unwrap_or(u64::MAX),
            Err(_) => return Ok(self.broken()),
        };
        let Some(body) = self.take(body, PREFIX_BYTES as u64 + length)? else {
            return Ok(Next::End);
        };
        if matches!(seal, Seal::Body(sum) if sum != crc32fast::hash(&body)) {
            return Ok(Next::Damage);
        }
        self.at += PREFIX_BYTES as u64 + length + body.len() as u64;
        Ok(Next::Frame(Frame { header, body: body.into() }))
    }

    /// What a malformed message is: damage if messages have seals. In older spools it looks like a
    /// torn end.
    fn broken(&self) -> Next {
        if self.sealed { Next::Damage } else { Next::End }
    }

    /// What a header of `length` bytes is that continues past the end of the file: a torn message,
    /// unless its seal shows that the length is wrong.
    fn cut_header(&mut self, length: u64) -> io::Result<Next> {
        if !self.sealed {
            return Ok(Next::End);
        }
        let (mut rest, mut passed) = (Vec::new(), 0);
        loop {
            let before = rest.len();
            self.input.by_ref().take(WINDOW_BYTES).read_to_end(&mut rest)?;
            if rest.len() == before {
                return Ok(Next::End);
            }
            if let Some(at) = rest.windows(seal::MARK.len()).position(|bytes| bytes == seal::MARK) {
                let in_its_place = passed + (at + seal::SEAL_BYTES) as u64 == length;
                return Ok(if in_its_place { Next::End } else { Next::Damage });
            }
            // The mark may begin in the last bytes, so keep them.
            let gone = rest.len().saturating_sub(seal::MARK.len() - 1);
            rest.drain(..gone);
            passed += gone as u64;
        }
    }

    /// Reads `count` bytes; the first lies `after` bytes behind the start of the message. `None` if
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
