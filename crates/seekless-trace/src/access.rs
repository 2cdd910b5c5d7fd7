//! One row of a trace: an access to a file or device, and the kinds of access there are.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// A file's number within one trace: dense, by first appearance.
pub type FileId = u32;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// A file was opened, or an open failed (`error`).
    Open,
    /// Bytes were read; `bytes` is how many the call returned.
    Read,
    /// Bytes were written.
    Write,
    /// A file was flushed to its device: fsync, fdatasync, msync.
    Sync,
    /// A range was mapped into memory.
    Map,
    /// A mapped page was touched for the first time.
    Fault,
    /// A file's attributes were looked up: stat, access and readlink.
    Stat,
    /// A directory was listed.
    List,
    /// Every byte of a file has been read. This row stands beside the rows of the calls, at the
    /// time of the open.
    Load,
    /// A loaded file was given back by its last close or unmap.
    Release,
    /// A descriptor was closed.
    Close,
    /// A range came into the page cache for this thread, by a read, a touch or readahead.
    Fetch,
    /// An object or file was removed: a delete of a cache. What was written to it is lost.
    Remove,
}

impl Op {
    /// Every kind of access, in the order of their numbers.
    pub const ALL: [Op; 13] = [
        Op::Open,
        Op::Read,
        Op::Write,
        Op::Sync,
        Op::Map,
        Op::Fault,
        Op::Stat,
        Op::List,
        Op::Load,
        Op::Release,
        Op::Close,
        Op::Fetch,
        Op::Remove,
    ];

    /// The word for it in the `op` column.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Op::Open => "open",
            Op::Read => "read",
            Op::Write => "write",
            Op::Sync => "sync",
            Op::Map => "map",
            Op::Fault => "fault",
            Op::Stat => "stat",
            Op::List => "list",
            Op::Load => "load",
            Op::Release => "release",
            Op::Close => "close",
            Op::Fetch => "fetch",
            Op::Remove => "remove",
        }
    }

    /// Whether the program made a call for it: everything but `load`, `release`, `fault` and
    /// `fetch`.
    #[must_use]
    pub fn is_call(self) -> bool {
        !matches!(self, Op::Load | Op::Release | Op::Fault | Op::Fetch)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The error for a word that names no [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownOp;

impl fmt::Display for UnknownOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected one of")?;
        Op::ALL.iter().try_for_each(|op| write!(f, " {op}"))
    }
}

impl std::error::Error for UnknownOp {}

impl FromStr for Op {
    type Err = UnknownOp;

    fn from_str(word: &str) -> Result<Self, UnknownOp> {
        Op::ALL.into_iter().find(|op| op.as_str() == word).ok_or(UnknownOp)
    }
}

/// One access. docs/reference/trace-format.md says what each field means for each [`Op`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which run of the trace, from 0.
    pub run: u32,
    /// When the call was entered, in nanoseconds from the run's start.
    pub time_ns: u64,
    /// The process that made it; 0 if unknown.
    pub pid: u32,
    /// The thread that made it; 0 if unknown.
    pub tid: u32,
    /// What was done.
    pub op: Op,
    /// The file.
    pub file: FileId,
    /// Byte offset in the file or device. −1 exists only in Ozen's traces.
    pub offset: i64,
    /// Bytes returned; 0 for a failed call.
    pub bytes: u64,
    /// How long the call took, in nanoseconds.
    pub latency_ns: Option<u64>,
    /// The error number of a failed call.
    pub error: Option<i32>,
    /// The file's size when it was opened.
    pub file_bytes: Option<u64>,
    /// The device that the file is on, as `stat` gives it.
    pub device: Option<u64>,
    /// The file's inode number.
    pub inode: Option<u64>,
    /// How long the object may be kept from now on, in nanoseconds: the lifetime of an entry of a
    /// cache of keys and values. Only traces made with [`Writer::create_with`] hold it.
    ///
    /// [`Writer::create_with`]: crate::Writer::create_with
    pub ttl_ns: Option<NonZeroU64>,
}

impl Access {
    /// An access to `file` with every other field 0 or unknown. Use it as `Access { offset,
    /// ..Access::new(op, file) }`.
    #[must_use]
    pub fn new(op: Op, file: FileId) -> Self {
        Access {
            run: 0,
            time_ns: 0,
            pid: 0,
            tid: 0,
            op,
            file,
            offset: 0,
            bytes: 0,
            latency_ns: None,
            error: None,
            file_bytes: None,
            device: None,
            inode: None,
            ttl_ns: None,
        }
    }

    /// The key that a trace is sorted by: run, then time.
    #[must_use]
    pub fn key(&self) -> (u32, u64) {
        (self.run, self.time_ns)
    }
}
