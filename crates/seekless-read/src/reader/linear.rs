//! A file or stream from its first byte to its last, in whole records: for pipes, for files whose size says nothing, for the
//! plain order, for files that were cut while they were read in the order of cost, and for what is appended meanwhile.

use super::options::Options;
use crate::{Error, Records};
use std::fs::File;
use std::io::{self, Read};

/// The one stream that is being read.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) file: usize,
    stream: File,
    /// Of the first byte in the buffer.
    pub(super) offset: u64,
    buffer: Vec<u8>,
    /// Bytes of the buffer that have been read.
    filled: usize,
    /// Of those, bytes that have been handed out.
    lent: usize,
}

/// Where reading in the plain order starts.
#[derive(Debug)]
pub(super) struct Start {
    /// Stands where the first byte is to be read.
    pub(super) stream: File,
    /// Of the first byte of `begun`, or of the stream's if there is none.
    pub(super) offset: u64,
    /// What has come of the first record.
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

    /// Where in the file reading stands; a stream has no such place.
    pub(super) fn position(&self) -> Option<u64> {
        rustix::fs::seek(&self.stream, rustix::fs::SeekFrom::Current(0)).ok()
    }

    /// Lets go of the records last handed out and reads until the buffer starts with whole ones. False at the end.
    ///
    /// # Errors
    /// The system's, or a record is longer than the options allow.
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
            // Only what is new can hold the last cut of a delimiter.
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
