//! What a reader hands to its program.

use crate::Error;
use seekless_sys::guarded::GuardedMap;
use std::fs::File;

/// A piece of a file: whole records.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// The file's number, in the order in which files were added.
    pub file: usize,
    /// Where the chunk starts, counted from the file's position when it was added.
    pub offset: u64,
    /// Its bytes, never empty. They may be the page cache itself: if another process writes to the
    /// file meanwhile, two looks at a byte may differ. So memory safety must not depend on them (no
    /// unchecked `str`).
    pub bytes: &'a [u8],
    /// The file that it comes from, for a program that reads a part again. It is the right file
    /// even if its name now stands for another. Its position must not be changed.
    pub open: Option<&'a File>,
    /// The mapping that the bytes lie in, if they were not copied.
    pub(super) map: Option<&'a GuardedMap>,
    /// The offset in the file from which [`offset`](Self::offset) is counted.
    pub(super) base: u64,
}

impl<'a> Chunk<'a> {
    /// A chunk that does not come from a reader.
    #[must_use]
    pub fn new(file: usize, offset: u64, bytes: &'a [u8]) -> Self {
        Chunk { file, offset, bytes, open: None, map: None, base: 0 }
    }

    /// The rest after its first `bytes` bytes; `None` if nothing is left.
    #[must_use]
    pub fn behind(self, bytes: u64) -> Option<Self> {
        let rest =
            self.bytes.get(usize::try_from(bytes).ok()?..).filter(|rest| !rest.is_empty())?;
        Some(Chunk { offset: self.offset + bytes, bytes: rest, ..self })
    }

    /// Whether some of its bytes are zeros that were never in the file, because the file was cut
    /// short meanwhile. The file begins again next. It is for programs that are about to draw
    /// conclusions from zeros.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let end = self.base + self.offset + self.bytes.len() as u64;
        // In the page where the file ends now, zeros follow its bytes without a fault.
        let is_cut =
            || self.open.is_some_and(|file| file.metadata().is_ok_and(|now| now.len() < end));
        self.map.is_some_and(|map| map.is_lost() || is_cut())
    }
}

/// What happens to the files.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next piece.
    Chunk(Chunk<'a>),
    /// Zeros that lie in no block of the file; each is a whole record. Only with
    /// [`Options::holes`](crate::Options::holes).
    Hole {
        /// The file's number.
        file: usize,
        /// Where they start, counted as for a chunk.
        offset: u64,
        /// How many they are.
        bytes: u64,
        /// The file itself. Its position must not be changed.
        open: Option<&'a File>,
    },
    /// Every byte of the file has been delivered once, except those skipped.
    End {
        /// The file's number.
        file: usize,
        /// The bytes from where reading started to the file's end.
        bytes: u64,
        /// The bytes left out because of [`Options::reach`](crate::Options::reach).
        skipped: u64,
        /// Whether it is unknown what of the file is cached. Then skipped bytes may be cached.
        unknown: bool,
    },
    /// The chunks of this file so far are void, because some of it was cut off meanwhile. All of it
    /// comes again, from its first byte to its last.
    Restart {
        /// The file's number.
        file: usize,
    },
    /// The rest of the file cannot be read. Its chunks so far may not cover all that lies before
    /// the error. The other files go on.
    Failed {
        /// The file's number.
        file: usize,
        /// Why.
        error: Error,
    },
}

/// What a reader has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes delivered.
    pub bytes: u64,
    /// Chunks delivered.
    pub chunks: u64,
    /// Bytes that were in memory at the first look at their file.
    pub resident_bytes: u64,
    /// The number of runs of those bytes.
    pub resident_runs: u64,
    /// Of those, the bytes that were held ([`Options::hold_bytes`](crate::Options::hold_bytes)).
    pub held_bytes: u64,
    /// Bytes that were not cached at the last look, and were read: from the device, unless they
    /// came into the cache meanwhile.
    pub device_bytes: u64,
    /// Of those, the bytes read past the cache, which stays as it was.
    pub bypassed_bytes: u64,
    /// How often it was asked again what is cached of a file.
    pub looks: u64,
    /// Files begun again because they were cut or replaced.
    pub restarts: u64,
}
