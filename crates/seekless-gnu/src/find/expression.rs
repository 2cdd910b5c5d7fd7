//! The parsed command line: where to walk, how, and the expression to evaluate for each file.

use super::Unknown;
use super::compare::Bound;
use super::cost::CostTest;
use super::mode::Permissions;
use super::printf::Format;
use super::time::{Stamp, Used, Window};
use crate::clib::regex::Regex;
use rustix::fs::FileType;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::path::PathBuf;

/// The whole command line.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) roots: Roots,
    pub(super) follow: Follow,
    pub(super) depth_min: usize,
    pub(super) depth_max: usize,
    pub(super) contents_first: bool,
    pub(super) one_file_system: bool,
    /// A file that disappears before its turn is not an error.
    pub(super) ignores_gone: bool,
    pub(super) cheapest_first: bool,
    pub(super) unknown: Unknown,
    pub(super) expression: Expression,
    /// The files that `-fprint` and similar actions write, by number.
    pub(super) files: Vec<(PathBuf, File)>,
    /// The number of commands that take many files each.
    pub(super) batches: usize,
    /// The block size in which `-ls` counts.
    pub(super) block_bytes: u64,
}

impl Plan {
    /// Whether `-ok` or `-okdir` reads answers from standard input.
    pub(super) fn asks(&self) -> bool {
        self.expression.any(
            &|part| matches!(part, Expression::Action(Action::Execute(command)) if command.ask),
        )
    }
}

/// The paths from which the walk starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    Given(Vec<OsString>),
    /// Paths in a file, each followed by a NUL; `-` is standard input.
    From(OsString),
}

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Never,
    Arguments,
    Always,
}

/// Tests and actions, joined by operators.
#[derive(Debug)]
pub(super) enum Expression {
    Test(Test),
    Action(Action),
    Not(Box<Expression>),
    /// True if all are true; stops at the first that is false.
    All(Vec<Expression>),
    /// True if any is true; stops at the first that is true.
    Any(Vec<Expression>),
    /// Evaluates all; the last one decides.
    List(Vec<Expression>),
}

/// A test of a file.
#[derive(Debug)]
pub(super) enum Test {
    True,
    False,
    Name(Glob),
    Path(Glob),
    LinkName(Glob),
    /// Matches the whole path.
    Regex(Regex),
    Type(Vec<FileType>),
    /// The type of a link's target; if links are followed, the type of the link itself.
    OtherType(Vec<FileType>),
    Size {
        unit_bytes: u64,
        bound: Bound<u64>,
    },
    Empty,
    Time(Stamp, Window),
    Newer(Stamp, i128),
    /// The time from its last change to its last read.
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
    OfCost(CostTest),
}

/// A shell pattern.
#[derive(Debug)]
pub(super) struct Glob {
    pub(super) pattern: CString,
    pub(super) ignore_case: bool,
}

/// An action on a file; true unless stated otherwise.
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
    /// A command that takes many files; always true.
    ExecuteMany {
        number: usize,
        command: Command,
    },
}

/// What an action reads of a file before it can be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: its path is known.
    Path,
    Stat,
    /// Its cost, and perhaps its attributes.
    Cost,
}

/// The output of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Output,
    /// Standard error.
    Messages,
    File(usize),
}

/// A command of `-exec` or a similar action.
#[derive(Clone, Debug)]
pub(super) struct Command {
    pub(super) words: Vec<OsString>,
    /// Runs in the file's folder.
    pub(super) in_folder: bool,
    /// Asks the user first.
    pub(super) ask: bool,
}

impl Expression {
    /// Whether any part of the expression satisfies `wanted`.
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
    /// What the action reads of the file.
    pub(super) fn needs(&self) -> Needs {
        match self {
            Action::List { .. } => Needs::Stat,
            Action::Printf { format, .. } if format.asks_latency() => Needs::Cost,
            Action::Printf { format, .. } if format.asks_stat() => Needs::Stat,
            _ => Needs::Path,
        }
    }

    /// Whether the action replaces the default `-print`.
    pub(super) fn shows(&self) -> bool {
        !matches!(self, Action::Prune | Action::Quit)
    }
}
