//! What a reader tells its program.

use crate::Error;
use seekless_sys::guarded::GuardedMap;
use std::fs::File;

/// A piece of a file: whole records.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Which file, in the order they were added.
    pub file: usize,
    /// Where it starts, counted from where the file stood when it was added.
    pub offset: u64,
    /// What it holds, never empty. May be the page cache itself: should another process write to the file meanwhile, two looks
    /// at a byte may differ. So draw no conclusion of memory safety from it (no unchecked `str`).
    pub bytes: &'a [u8],
    /// The file that it comes from, for a program that wants a part again, whatever its name stands for by now. Not to be moved.
    pub open: Option<&'a File>,
    /// The mapping that the bytes lie in, if they were not copied.
    pub(super) map: Option<&'a GuardedMap>,
}

impl<'a> Chunk<'a> {
    /// A piece that no reader has read.
    #[must_use]
    pub fn new(file: usize, offset: u64, bytes: &'a [u8]) -> Self {
        Chunk { file, offset, bytes, open: None, map: None }
    }

    /// Whether some of it turned out to be zeros that never were in the file, because it was cut short meanwhile: the file is
    /// begun again next. For a program that is about to draw conclusions from zeros.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.map.is_some_and(GuardedMap::is_lost)
    }
}

/// What happens to the files, a chunk at a time.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next piece.
    Chunk(Chunk<'a>),
    /// Every byte of the file has been delivered once, but those skipped.
    End {
        /// Which file.
        file: usize,
        /// Its size as read.
        bytes: u64,
        /// Bytes left out because of [`Options::cached_only`](crate::Options::cached_only).
        skipped: u64,
        /// Whether nobody tells what of the file is cached: then what was left out may be, or not.
        unknown: bool,
    },
    /// Forget what the chunks of this file told: some of it was cut off meanwhile. All of it comes again, from its first byte to
    /// the last.
    Restart {
        /// Which file.
        file: usize,
    },
    /// The rest of the file cannot be had; its chunks may tell less than all that lies before. The other files go on.
    Failed {
        /// Which file.
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
    /// Bytes that were in memory when they were first asked about.
    pub resident_bytes: u64,
    /// In how many runs those lay.
    pub resident_runs: u64,
    /// Of those, bytes that were held ([`Options::hold_bytes`](crate::Options::hold_bytes)).
    pub held_bytes: u64,
    /// Bytes read as not cached: from the device, unless they came into the cache meanwhile.
    pub device_bytes: u64,
    /// Of those, bytes read past the cache, which stays as it was.
    pub bypassed_bytes: u64,
    /// Times that a file was asked again what of it is cached.
    pub looks: u64,
    /// Files begun again because they were cut or replaced.
    pub restarts: u64,
}
