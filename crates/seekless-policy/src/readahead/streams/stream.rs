//! One stream: what is known of a sequence of reads that belong together.

use super::deltas::Deltas;
use super::pace::Pace;
use super::span::{Facing, Span};
use super::stride::Stride;
use crate::id::Id;
use crate::readahead::PageNo;

/// How the reads of a stream follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Not known yet: nothing is fetched.
    Unknown,
    /// Each read begins where the last ended, or a small gap after it.
    Run,
    /// Elements at a constant distance.
    Strided(Stride),
}

/// What a read is to a stream that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It was expected next, after a gap of this many bytes.
    Next { gap_bytes: u64 },
    /// It was read before or comes late: the stream stays where it is.
    Within,
}

/// A stream as it stood when another began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) id: Id,
    /// Its [`Stream::moved`] then. No two streams ever have the same.
    pub(super) moved: u64,
}

/// A stream. All places are as it sees the file ([`Span::facing`]), so that it always goes upward.
///
/// What a look-up compares stands first, in one line of the processor's cache: it compares streams
/// that were not read for long.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Stream {
    /// The opening of the file that it is of.
    pub(super) file: u64,
    /// The read that reached furthest.
    pub(super) last: Span,
    pub(super) pattern: Pattern,
    pub(super) facing: Facing,
    /// Where the adjoining reads up to the last one began: a run, or the element of a stride.
    pub(super) run_start: u64,
    /// When the last read came, by the number of all reads.
    pub(super) moved: u64,
    /// How many reads of the file had been of no known stream when the last read came.
    pub(super) stray_reads: u32,
    /// How many reads in a row adjoined.
    pub(super) chain: u32,
    /// How many reads in a row lay a little above the one before; below 0, how many below.
    pub(super) rises: i8,
    /// What the stream may be the continuation of.
    pub(super) parent: Option<Seen>,
    /// The distances between its reads, or of a run between the starts of its parts.
    pub(super) deltas: Deltas,
    /// The bytes of the part of a run before the last gap.
    pub(super) part_bytes: u64,
    /// The mean of the gaps between the reads of a run, in bytes.
    pub(super) gap_bytes: u64,
    /// The page after those that were fetched.
    pub(super) front: PageNo,
    /// Nothing is fetched from this page on: as far as runs of this file go.
    pub(super) stop: PageNo,
    pub(super) pace: Pace,
    /// How many windows were fetched.
    pub(super) windows: u32,
    /// In which part of time it was last counted as active.
    pub(super) era: u32,
    /// How often readers had waited, for any stream, when the last window was fetched.
    pub(super) waits: u16,
}

impl Stream {
    /// A stream with one known read.
    pub(super) fn begin(file: u64, read: Span, parent: Option<Seen>) -> Self {
        Self {
            file,
            facing: Facing::Forward,
            pattern: Pattern::Unknown,
            last: read,
            run_start: read.start,
            moved: 0,
            stray_reads: 0,
            chain: 0,
            rises: 0,
            parent,
            deltas: Deltas::default(),
            part_bytes: 0,
            gap_bytes: 0,
            front: 0,
            stop: PageNo::MAX,
            pace: Pace::default(),
            windows: 0,
            era: 0,
            waits: 0,
        }
    }

    /// Whether it is known how the reads follow each other.
    pub(super) fn is_known(&self) -> bool {
        self.pattern != Pattern::Unknown
    }

    /// Looks the other way.
    pub(super) fn turn(&mut self, facing: Facing) {
        if self.facing == facing {
            return;
        }
        self.facing = facing;
        self.last = self.last.facing(Facing::Backward);
        self.run_start = self.last.start;
        self.deltas = self.deltas.mirrored();
    }

    /// Bytes of the run up to the last read.
    pub(super) fn run_bytes(&self) -> u64 {
        self.last.end.saturating_sub(self.run_start)
    }

    /// Whether a page of the file was fetched for the stream and lies ahead of its reader.
    pub(super) fn waits_for(&self, page: PageNo) -> bool {
        self.fetched(page) && self.facing.page(page) > self.last.last_page()
    }

    /// Whether a page of the file was fetched for the stream to be read, and its reader is there or
    /// before it.
    pub(super) fn fetched(&self, page: PageNo) -> bool {
        self.covers(page)
            && match self.pattern {
                Pattern::Strided(stride) => stride.has_page(self.run_start, self.facing.page(page)),
                _ => true,
            }
    }

    /// Whether a page of the file is between the reader and the front of the stream.
    pub(super) fn covers(&self, page: PageNo) -> bool {
        let page = self.facing.page(page);
        self.is_known() && (self.last.first_page()..self.front).contains(&page)
    }
}
