//! The messages of an Arrow IPC stream, length-checked against the file before anything is allocated:
//! 0xFFFFFFFF, header length (i32), header, body. A torn or damaged message ends the stream.

use arrow_buffer::Buffer;
use std::fs::File;
use std::io::{self, BufReader, Read};

/// One message.
pub(super) struct Frame {
    pub(super) header: Vec<u8>,
    pub(super) body: Buffer,
}

/// The messages of a file.
#[derive(Debug)]
pub(super) struct Frames {
    input: BufReader<File>,
    bytes: u64,
    /// Where the message to come starts.
    at: u64,
}

impl Frames {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Frames { input: BufReader::with_capacity(1 << 18, file), bytes, at: 0 })
    }

    /// Bytes that the file had, when it was opened, from the message to come on.
    pub(super) fn rest(&self) -> u64 {
        self.bytes.saturating_sub(self.at)
    }

    /// The next message; `None` at the end of the stream, whether proper or torn.
    pub(super) fn next(&mut self) -> io::Result<Option<Frame>> {
        let Some(prefix) = self.take(8, 0)? else { return Ok(None) };
        let (marker, length) = prefix.split_at(4);
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
        if marker != super::MAGIC || length == 0 {
            self.at += if marker == super::MAGIC { 8 } else { 0 };
            return Ok(None);
        }
        let Some(header) = self.take(u64::from(length), 8)? else { return Ok(None) };
        let body = match arrow_ipc::root_as_message(&header) {
            Ok(message) => message.bodyLength().try_into().unwrap_or(u64::MAX),
            Err(_) => return Ok(None),
        };
        let Some(body) = self.take(body, 8 + u64::from(length))? else { return Ok(None) };
        self.at += 8 + header.len() as u64 + body.len() as u64;
        Ok(Some(Frame { header, body: body.into() }))
    }

    /// `count` bytes, of which the first lies `after` bytes behind the start of the message; `None` where the file ends.
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
