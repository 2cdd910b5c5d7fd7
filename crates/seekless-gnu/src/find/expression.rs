//! What find was asked: where to walk, how, and the expression that each file is held against.

use super::Unknown;
use super::compare::Bound;
use super::mode::Permissions;
use super::printf::Format;
use super::time::{Stamp, Used, Window};
use crate::clib::regex::Regex;
use rustix::fs::FileType;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::path::PathBuf;

/// The whole command line, understood.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) roots: Roots,
    pub(super) follow: Follow,
    pub(super) depth_min: usize,
    pub(super) depth_max: usize,
    pub(super) contents_first: bool,
    pub(super) one_file_system: bool,
    /// Files that are gone when their turn comes are no error.
    pub(super) ignores_gone: bool,
    pub(super) cheapest_first: bool,
    pub(super) unknown: Unknown,
    pub(super) expression: Expression,
    /// Files that `-fprint` and its kin write, by number.
    pub(super) files: Vec<(PathBuf, File)>,
    /// How many commands take many files each.
    pub(super) batches: usize,
    /// Of the blocks that `-ls` counts.
    pub(super) block_bytes: u64,
}

/// Where the walk starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    Given(Vec<OsString>),
    /// Named in a file, each with a NUL behind it; `-` is standard input.
    From(OsString),
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Never,
    Arguments,
    Always,
}

/// Tests and actions, joined.
#[derive(Debug)]
pub(super) enum Expression {
    Test(Test),
    Action(Action),
    Not(Box<Expression>),
    /// True if all are; stops at the first that is not.
    All(Vec<Expression>),
    /// True if one is; stops there.
    Any(Vec<Expression>),
    /// Each in turn; the last one's answer.
    List(Vec<Expression>),
}

/// A question to a file.
#[derive(Debug)]
pub(super) enum Test {
    True,
    False,
    Name(Glob),
    Path(Glob),
    LinkName(Glob),
    /// All of the path.
    Regex(Regex),
    Type(Vec<FileType>),
    /// The type of what a link points to, or of the link where links are followed.
    OtherType(Vec<FileType>),
    Size {
        unit_bytes: u64,
        bound: Bound<u64>,
    },
    Empty,
    Time(Stamp, Window),
    Newer(Stamp, i128),
    /// How long after its last change it was last read.
    Used(Used),
    Permissions(Permissions),
    Owner(Bound<u64>),
    Group(Bound<u64>),
    NoUser,
    NoGroup,
    Links(Bound<u64>),
    Inode(Bound<u64>),
    SameFile {
        device: u64,
        inode: u64,
    },
    Access(rustix::fs::Access),
    FileSystem(Vec<u8>),
    /// Time to deliver the file, in whole units of `unit_ns`, rounded up.
    Latency {
        unit_ns: u64,
        bound: Bound<u64>,
    },
    /// The part of it that devices need.
    Cost {
        unit_ns: u64,
        bound: Bound<u64>,
    },
    /// Per cent of the file in memory.
    Cached(Bound<u64>),
    /// The costliest level that holds a part of the file.
    Level(String),
}

/// A shell pattern.
#[derive(Debug)]
pub(super) struct Glob {
    pub(super) pattern: CString,
    pub(super) ignore_case: bool,
}

/// Something done to a file; true unless said.
#[derive(Debug)]
pub(super) enum Action {
    Print {
        to: Target,
        end: u8,
    },
    Printf {
        to: Target,
        format: Format,
    },
    List {
        to: Target,
    },
    Prune,
    Quit,
    /// False if the file could not be deleted.
    Delete,
    /// True if the command succeeds.
    Execute(Command),
    /// Commands with many files each; always true.
    ExecuteMany {
        number: usize,
        command: Command,
    },
}

/// Where an action writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Output,
    /// Standard error.
    Messages,
    File(usize),
}

/// A command of `-exec` and its kin.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) words: Vec<OsString>,
    /// Run in the file's folder.
    pub(super) in_folder: bool,
    /// Ask the user before.
    pub(super) ask: bool,
}

impl Expression {
    /// Whether some part of it satisfies `wanted`.
    pub(super) fn any(&self, wanted: &dyn Fn(&Expression) -> bool) -> bool {
        wanted(self)
            || match self {
                Expression::Test(_) | Expression::Action(_) => false,
                Expression::Not(inner) => inner.any(wanted),
                Expression::All(parts) | Expression::Any(parts) | Expression::List(parts) => {
                    parts.iter().any(|part| part.any(wanted))
                }
            }
    }
}

impl Action {
    /// Whether an expression with it needs no `-print` at its end.
    pub(super) fn shows(&self) -> bool {
        !matches!(self, Action::Prune | Action::Quit)
    }
}
