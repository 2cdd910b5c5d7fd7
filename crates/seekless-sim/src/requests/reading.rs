//! How traces become requests: the unit, what becomes of sector lines, and what else is kept of the
//! rows.

use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_trace::{Kind, import};
use std::str::FromStr;

/// How accesses to the same page one after another are counted, such as those to the sectors of a
/// block trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// Merged in block traces, raw in others: eight sector lines are one access of the program,
    /// eight calls are eight.
    #[default]
    ByKind,
    /// Back-to-back accesses to one page, all reads or all writes, are one request.
    Merged,
    /// Each access is a request. A sector at offset −1 is page 0, as in Ozen's program.
    Raw,
}

impl Lines {
    pub(super) fn merges(self, kind: Kind) -> bool {
        self == Lines::Merged || (self == Lines::ByKind && kind == Kind::Blocks)
    }
}

impl FromStr for Lines {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "merged" => Ok(Lines::Merged),
            "raw" => Ok(Lines::Raw),
            _ => Err(Error::new(ErrorKind::Usage, format!("`{word}`: expected merged or raw"))),
        }
    }
}

/// Options for reading traces.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The unit of requests. By default it follows the kind of the first trace ([`Unit::of`]). For
    /// a trace of files it is pages if most reads are inside files.
    pub unit: Option<Unit>,
    /// In page units: how sector lines are counted.
    pub lines: Lines,
    /// Whether each file or object weighs 1, whatever its size.
    pub unit_weights: bool,
    /// Whether to keep the time of each request: 8 bytes.
    pub times: bool,
    /// In object units: whether to keep the lifetimes of objects too, 8 bytes a request.
    pub lifetimes: bool,
    /// In page units: whether to keep the names of files, which a post-cache trace needs.
    pub names: bool,
    /// How traces of other formats are read.
    pub import: import::Options,
    /// The most memory in bytes that the requests may take while they are read. By default there is
    /// no limit.
    pub memory_bytes_max: Option<u64>,
}
