//! What a system call means to the recorder, whatever its number: which arguments name files and where offsets come from.

/// Which arguments name a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// The argument with the directory descriptor; `None`: the current directory.
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

/// Where an open's flags are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flags {
    /// creat has none.
    Absent,
    /// In this argument.
    Argument(usize),
    /// At the address in this argument (openat2).
    Pointed(usize),
}

/// Where a transfer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offset {
    /// At the open description's position, which moves.
    Position,
    /// At argument 3.
    Argument,
    /// At argument 3; the position if that is −1 (preadv2, pwritev2).
    ArgumentOrPosition,
    /// As [`Offset::Argument`], in a 32-bit call: arguments 3 and 4 hold the lower and the upper half.
    Halves,
    /// As [`Offset::ArgumentOrPosition`], in a 32-bit call.
    HalvesOrPosition,
}

/// A call that is followed.
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
    /// The new position is not the result, but at the address in argument 3 (_llseek).
    SeekFar,
    /// Argument 5, the offset, counts in units of so many bytes.
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
    CloneUntraced,
    /// clone3: its flags are in memory, where the filter cannot see them.
    CloneBySize,
    /// Reads or writes that the recorder cannot see are asked for here; they are counted.
    Blind(&'static str),
    /// A call that is seen, but not read: counted, and lost.
    Unread(&'static str),
}
