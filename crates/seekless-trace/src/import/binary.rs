//! Reads a binary file record by record, and knows where it is.

use crate::compressed::Input;
use crate::error::{Error, Place, Result};
use std::path::{Path, PathBuf};

/// A file of records.
pub(super) struct Bytes {
    input: Input,
    path: PathBuf,
    /// How many bytes of content have been read.
    at: u64,
    /// What is skipped is read into this.
    skipped: Vec<u8>,
}

impl Bytes {
    pub(super) fn of(input: Input, path: &Path) -> Self {
        Bytes { input, path: path.to_owned(), at: 0, skipped: Vec::new() }
    }

    /// The next `N` bytes; `None` at the end of the file.
    pub(super) fn next<const N: usize>(&mut self) -> Result<Option<[u8; N]>> {
        let mut record = [0; N];
        let filled = self.input.fill(&self.path, &mut record, self.at)?;
        if filled > 0 && filled < N {
            let message = format!("ends within a record of {N} bytes; it is cut short");
            return Err(self.corrupt(message));
        }
        self.at += filled as u64;
        Ok((filled == N).then_some(record))
    }

    /// Fills `record` with the next bytes; false at the end of the file.
    pub(super) fn next_into(&mut self, record: &mut [u8]) -> Result<bool> {
        let filled = self.input.fill(&self.path, record, self.at)?;
        if filled > 0 && filled < record.len() {
            let message = format!("ends within a record of {} bytes", record.len());
            return Err(self.corrupt(message));
        }
        self.at += filled as u64;
        Ok(filled > 0)
    }

    /// Skips data behind a record, which is short.
    pub(super) fn skip(&mut self, bytes: u16) -> Result<()> {
        self.skipped.resize(bytes.into(), 0);
        let filled = self.input.fill(&self.path, &mut self.skipped, self.at)?;
        if filled < usize::from(bytes) {
            return Err(self.corrupt(format!("ends within {bytes} bytes of data; it is cut short")));
        }
        self.at += u64::from(bytes);
        Ok(())
    }

    /// The error that what follows is damaged.
    pub(super) fn corrupt(&self, message: impl Into<String>) -> Error {
        Error::corrupt(&self.path, message).at(Place::Byte(self.at))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of the file itself have been read.
    pub(super) fn consumed(&self) -> u64 {
        self.input.consumed()
    }
}
