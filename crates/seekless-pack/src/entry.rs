//! What the directory says of one entry.

use crate::format::{FILE_TYPE, FLAG_ENCRYPTED, LINK};
use seekless_sys::zone::of_local;
use std::fmt;

/// One file or directory of an archive. Its name is [`Index::name`](crate::Index::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Where the local header starts, in bytes from the archive's start.
    pub header_offset: u64,
    /// From the local header to the next entry's header or the directory, in bytes: one read of
    /// this length holds everything that [`decode`](crate::decode) needs. Shorter where a foreign
    /// archive has a gap.
    pub extent_bytes: u64,
    /// Size of the data in the archive, in bytes.
    pub coded_bytes: u64,
    /// Size of the content, in bytes.
    pub bytes: u64,
    /// CRC-32 of the content.
    pub crc: u32,
    /// How the content is coded.
    pub method: Method,
    /// Unix mode with the file type bits, where the writer recorded it.
    pub mode: Option<u32>,
    /// Last modification in seconds since 1970 UTC; a DOS time, which knows no zone, as if it were
    /// UTC ([`modified_here`](Self::modified_here) takes it as this machine's).
    pub modified: Option<i64>,
    /// Nanoseconds after `modified`, a multiple of 100; 0 where the archive keeps whole seconds.
    pub modified_ns: u32,
    pub(crate) flags: u16,
    pub(crate) directory: bool,
    /// Whether its name is not that of its local header.
    pub(crate) renamed: bool,
    /// Whether `modified` is a DOS time.
    pub(crate) dos_time: bool,
}

impl Entry {
    /// Whether this is a directory: its name ends in `/`.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.directory
    }

    /// Whether this is a symbolic link, by its mode: the content is the path that it leads to.
    #[must_use]
    pub fn is_link(&self) -> bool {
        !self.directory && self.mode.is_some_and(|mode| mode & FILE_TYPE == LINK)
    }

    /// Last modification in seconds since 1970 UTC. A DOS time is one of this machine's zone, as
    /// `unzip` takes it; the C library may read the zone's file for that.
    #[must_use]
    pub fn modified_here(&self) -> Option<i64> {
        self.modified.map(|seconds| if self.dos_time { of_local(seconds) } else { seconds })
    }

    /// Why the content cannot be read by this build, if it cannot.
    #[must_use]
    pub fn unreadable(&self) -> Option<&'static str> {
        match self.method {
            _ if self.is_encrypted() => Some("an encrypted entry"),
            Method::Other(_) if !self.method.is_foreign() => Some("a method that is not read"),
            _ => None,
        }
    }

    /// Whether the content is encrypted, which [`decode`](crate::decode) refuses.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.flags & FLAG_ENCRYPTED != 0
    }
}

/// How an entry's content is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// As it is (0).
    Stored,
    /// Deflate (8).
    Deflate,
    /// Zstandard (93).
    Zstd,
    /// A method that is listed but not read here.
    Other(u16),
}

impl Method {
    /// Whether this is a method of other tools that this build reads.
    pub(crate) fn is_foreign(self) -> bool {
        const READ: [(u16, bool); 3] = [
            (9, cfg!(feature = "deflate64")),
            (12, cfg!(feature = "bzip2")),
            (14, cfg!(feature = "lzma")),
        ];
        matches!(self, Self::Other(number) if READ.contains(&(number, true)))
    }

    pub(crate) fn from_number(number: u16) -> Self {
        match number {
            0 => Self::Stored,
            8 => Self::Deflate,
            93 => Self::Zstd,
            other => Self::Other(other),
        }
    }

    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Stored => 0,
            Self::Deflate => 8,
            Self::Zstd => 93,
            Self::Other(number) => number,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored => f.write_str("stored"),
            Self::Deflate => f.write_str("deflate"),
            Self::Zstd => f.write_str("zstd"),
            Self::Other(9) => f.write_str("Deflate64 (method 9)"),
            Self::Other(12) => f.write_str("bzip2 (method 12)"),
            Self::Other(14) => f.write_str("LZMA (method 14)"),
            Self::Other(95) => f.write_str("xz (method 95)"),
            Self::Other(99) => f.write_str("AES encryption (method 99)"),
            Self::Other(number) => write!(f, "method {number}"),
        }
    }
}
