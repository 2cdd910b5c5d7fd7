//! The result of a recording: how the program ended, and how much of what it did was seen.

use crate::error::Error;
use crate::places::Places;
use crate::post_cache::PostCache;
use seekless_sys::signals;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Killed {
        /// The signal.
        signal: i32,
        /// Whether a core was dumped.
        core: bool,
    },
}

impl Status {
    /// The exit status as a shell reports it: the code, or 128 + signal.
    #[must_use]
    pub fn code(self) -> i32 {
        match self {
            Status::Exited(code) => code,
            Status::Killed { signal, .. } => 128 + signal,
        }
    }

    /// Ends as the program did. Returns its exit code, or dies by its signal and does not return.
    #[must_use]
    pub fn imitate(self) -> ExitCode {
        if let Status::Killed { signal, .. } = self {
            signals::die_by(signal);
        }
        ExitCode::from(u8::try_from(self.code() & 0xff).unwrap_or(u8::MAX))
    }
}

/// How finely reads through memory mappings were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mappings {
    /// The kernel reported page faults: each part of a mapped file has a `fault` row at its first
    /// touch.
    Touches {
        /// Rows.
        rows: u64,
        /// Bytes that these rows cover.
        bytes: u64,
        /// Records of the kernel for which there was no room.
        lost: u64,
    },
    /// The kernel did not report page faults. The `fault` rows are what came into the page cache
    /// of mapped files from their first mapping to the end: also what was read ahead.
    Arrivals {
        /// Rows.
        rows: u64,
        /// Bytes that these rows cover.
        bytes: u64,
        /// Files of which a part was cached before, so that touches of it are not seen.
        warm: u64,
        /// Files of which the kernel does not show what is cached.
        unreported: u64,
        /// Why page faults were refused.
        why: String,
    },
    /// The trace has the mappings themselves and no touches, for this reason.
    Calls(String),
}

impl Default for Mappings {
    fn default() -> Self {
        Mappings::Touches { rows: 0, bytes: 0, lost: 0 }
    }
}

/// What came into the page cache for the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fetches {
    /// It was not asked for.
    #[default]
    NotAsked,
    /// It has `fetch` rows.
    Reported {
        /// Rows.
        rows: u64,
        /// Bytes that these rows cover.
        bytes: u64,
        /// Bytes without a row, since their file has no known name: mostly what file systems keep
        /// about their files.
        unnamed_bytes: u64,
    },
    /// It was asked for and not reported, for this reason.
    Refused(String),
}

impl Fetches {
    /// Counts a row of this many bytes.
    pub(crate) fn count(&mut self, row_bytes: u64) {
        if let Fetches::Reported { rows, bytes, .. } = self {
            (*rows, *bytes) = (*rows + 1, *bytes + row_bytes);
        }
    }
}

/// A recording in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows of the trace.
    pub accesses: u64,
    /// Opens that succeeded.
    pub opens: u64,
    /// Opens that failed.
    pub failed_opens: u64,
    /// Bytes that reads returned.
    pub bytes_read: u64,
    /// Bytes that writes took.
    pub bytes_written: u64,
    /// How finely reads through memory mappings were seen.
    pub mappings: Mappings,
    /// What came into the page cache, if that was asked for.
    pub fetches: Fetches,
    /// Files that were read whole, counted each time.
    pub loads: u64,
    /// Different files that were opened.
    pub files: u64,
    /// Processes, the program itself among them.
    pub processes: u64,
    /// Calls that could not be understood, or whose rows could not be written.
    pub lost: u64,
    /// Of these, records of the kernel's programs for which the ring had no room, since the
    /// recorder did not get to read them.
    pub no_room: u64,
    /// Rows that came after the end that [`Limits`](crate::Limits) set, as far as calls were still
    /// looked at: above 0 if the program did more.
    pub beyond: u64,
    /// Calls on files that [`Options`](crate::Options) leave out.
    pub left_out: u64,
    /// Programs that ran without the privileges that their files give them, and how often.
    pub deprived: BTreeMap<String, u64>,
    /// Ways to read that the recorder cannot see, and how often each was used: `io_uring_enter` →
    /// 20063.
    pub blind_spots: BTreeMap<String, u64>,
}

/// A recording whose program has ended.
#[derive(Debug)]
pub struct Recorded {
    /// How the program ended.
    pub status: Status,
    /// What was seen.
    pub summary: Summary,
    /// From start to the end of the last process, in nanoseconds.
    pub duration_ns: u64,
    /// Why the trace could not be finished, if so, and where the spool is.
    pub unfinished: Option<Error>,
    /// Where the files lay, if that was asked for.
    pub places: Option<Places>,
    /// The view behind the page cache, if that was asked for.
    pub post_cache: Option<PostCache>,
}
