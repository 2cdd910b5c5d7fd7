//! Reads a file or stream from its first byte to its last, in whole records. That is for pipes, for
//! files whose size says nothing, for the plain order, for files that were cut short while they
//! were read, and for what is appended meanwhile.

use super::options::Options;
use crate::{Error, Records};
use std::fs::File;
use std::io::{self, Read};

/// The stream that is being read.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) file: usize,
    stream: File,
    /// The offset of the first byte in the buffer.
    pub(super) offset: u64,
    buffer: Vec<u8>,
    /// The bytes of the buffer that have been read.
    filled: usize,
    /// Of those, the bytes that were handed out.
    lent: usize,
}

/// Where reading in the plain order starts.
#[derive(Debug)]
pub(super) struct Start {
    /// Its position is that of the first byte to read.
    pub(super) stream: File,
    /// The offset of the first byte of `begun`, or of the stream's first byte if `begun` is empty.
    pub(super) offset: u64,
    /// The start of the first record, which was read before.
    pub(super) begun: Vec<u8>,
}

impl Linear {
    pub(super) fn new(file: usize, start: Start) -> Self {
        let Start { stream, offset, begun: buffer } = start;
        let _ = rustix::fs::fadvise(&stream, 0, None, rustix::fs::Advice::Sequential); // a stream takes none
        Linear { file, stream, offset, filled: buffer.len(), buffer, lent: 0 }
    }

    /// The file or stream itself.
    pub(super) fn stream(&self) -> &File {
        &self.stream
    }

    /// The records last handed out.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.lent]
    }

    /// The file's position. A stream has no position.
    pub(super) fn position(&self) -> Option<u64> {
        rustix::fs::seek(&self.stream, rustix::fs::SeekFrom::Current(0)).ok()
    }

    /// Drops the records last handed out, and reads until the buffer starts with whole ones. False
    /// at the end.
    ///
    /// # Errors
    /// The system's error, or a record is longer than the options allow.
    pub(super) fn advance(&mut self, options: &Options) -> Result<bool, Error> {
        let Options { records, chunk_bytes, record_bytes_max: most, .. } = *options;
        self.offset += self.lent as u64;
        self.buffer.copy_within(self.lent..self.filled, 0);
        self.filled -= self.lent;
        self.lent = 0;
        loop {
            let kept = self.filled;
            if self.buffer.len() < kept + chunk_bytes {
                self.buffer.resize(kept + chunk_bytes, 0);
            }
            let read = self.stream.read(&mut self.buffer[kept..kept + chunk_bytes]);
            let read = match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            // Only the new bytes can hold the last delimiter.
            self.filled += read;
            let whole = match records {
                _ if read == 0 => Some(self.filled),
                Records::Delimiter(_) | Records::Either(..) => {
                    records.last_cut(&self.buffer[kept..self.filled], 1).map(|cut| cut + kept)
                }
                _ => records.last_cut(&self.buffer[..self.filled], self.offset),
            };
            if let Some(whole) = whole.filter(|&whole| whole > 0 || read == 0) {
                self.lent = whole;
                return Ok(whole > 0);
            }
            if self.filled > most {
                return Err(Error::too_long(self.offset, most));
            }
        }
    }
}
