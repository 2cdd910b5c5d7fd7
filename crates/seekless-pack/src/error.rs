//! One opaque error: what went wrong in a word to match on, and a sentence that names the entry and
//! what to do.

use crate::entry::Entry;
use std::fmt::Display;
use std::io;

/// The result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an archive could not be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

/// The kinds of failure that a caller may want to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Reading or writing failed.
    Io,
    /// The bytes are no Zip archive at all.
    NotAZip,
    /// The archive ends before what its records promise.
    Truncated,
    /// A name that is absolute, has `..`, or cannot be stored.
    Name,
    /// The same name twice.
    Duplicate,
    /// Two entries, or an entry and the directory, claim the same bytes.
    Overlap,
    /// Sizes or counts that cannot be true.
    Sizes,
    /// A local header, or what the source gave, disagrees with what was said before.
    Disagrees,
    /// The content does not have the CRC-32 that was recorded.
    Crc,
    /// The compressed data is broken.
    Corrupt,
    /// The entry is encrypted.
    Encrypted,
    /// The entry uses a compression method that is not read here.
    Method,
    /// One volume of an archive that spans several.
    MultiDisk,
    /// Larger than this format or implementation holds.
    Limit,
}

impl Error {
    /// What kind of failure this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// What is wrong with one entry: `why` goes on after its name and offset.
    pub(crate) fn of(entry: &Entry, name: &str, kind: ErrorKind, why: impl Display) -> Self {
        Self::new(kind, format!("entry {name:?} at offset {}: {why}", entry.header_offset))
    }

    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::UnexpectedEof => ErrorKind::Truncated,
            _ => ErrorKind::Io,
        };
        Self { kind, message: what.into(), source: Some(source) }
    }
}
