//! What a system call means to the recorder, whatever its number: which arguments name files, and
//! where its offset is.

/// Which arguments name a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The argument with the directory's descriptor; `None` for the current directory.
    pub(crate) directory: Option<usize>,
    /// The argument with the path's address.
    pub(crate) path: usize,
}

impl Path {
    /// The first argument, seen from the current directory.
    pub(crate) const HERE: Path = Path { directory: None, path: 0 };
    /// The second argument, seen from the directory in the first.
    pub(crate) const AT: Path = Path { directory: Some(0), path: 1 };
}

/// Where the flags of an open are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    /// There are no flags (creat).
    Absent,
    /// In this argument.
    Argument(usize),
    /// At the address in this argument (openat2).
    Pointed(usize),
}

/// Where the offset of a read or write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offset {
    /// It is the position of the open file, which the call moves.
    Position,
    /// In argument 3.
    Argument,
    /// In argument 3, or the position if that is −1 (preadv2, pwritev2).
    ArgumentOrPosition,
    /// In a 32-bit call: its lower half is in this argument, the upper half in the next.
    Halves(usize),
    /// As [`Offset::Halves`], or the position if that is −1.
    HalvesOrPosition(usize),
}

impl Offset {
    /// Whether the call has more than four arguments that matter.
    pub(crate) fn is_wide(self) -> bool {
        !matches!(self, Offset::Position | Offset::Argument)
    }
}

/// A call that we follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Open(Path, Flags),
    OpenHandle,
    Read(Offset),
    Write(Offset),
    SendFile,
    CopyRange,
    Splice,
    Seek,
    /// A seek that writes the new position to the address in argument 3 (_llseek).
    SeekFar,
    /// The offset, argument 5, counts in units of this many bytes.
    Map(u64),
    Unmap,
    SyncMapped,
    Sync,
    Duplicate,
    DuplicateTo,
    Control,
    Close,
    CloseRange,
    Stat(Path),
    List,
    ChangeDirectory,
    Unshare,
    /// Changes where the program's absolute paths begin, or what is mounted there.
    ChangeRoot,
    CloneUntraced,
    /// clone3, whose flags are in memory, where the filter cannot test them.
    CloneBySize,
    /// Hands requests over whose results another call returns (io_submit).
    Submit,
    /// Returns results of such requests (io_getevents, io_pgetevents).
    Reap,
    /// Makes a ring of io_uring, hands its requests over, and registers files for them.
    RingSetup,
    RingEnter,
    RingRegister,
    /// A way to read or write that we cannot see, such as x32's. Its uses are counted.
    Blind(&'static str),
    /// A call whose arguments we cannot read. It counts as lost.
    Unread(&'static str),
}
