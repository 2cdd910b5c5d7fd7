//! How traces become requests: the unit, what becomes of sector lines, and what else is kept of the rows.

use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_trace::Kind;
use std::str::FromStr;

/// What becomes of accesses that ask for the same page one after another, as the sectors of a block trace do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// Merged in block traces, raw in others: eight sector lines are one access of the program, eight calls are eight.
    #[default]
    ByKind,
    /// Back-to-back accesses to one page, all reads or all writes, are one request.
    Merged,
    /// Each is a request. A sector that lay nowhere (offset −1) is page 0, as in Ozen's program.
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

/// What is read of traces.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What a request asks for; by default what suits the kind of the first trace ([`Unit::of`]), and pages for traces of files
    /// most of whose reads are inside files.
    pub unit: Option<Unit>,
    /// Of page units: what becomes of sector lines.
    pub lines: Lines,
    /// Whether each file or object weighs 1, whatever its size.
    pub unit_weights: bool,
    /// Whether to keep the time of each request: 8 bytes.
    pub times: bool,
    /// Of page units: whether to keep the names of files, which a post-cache trace needs.
    pub names: bool,
    /// How much memory the requests may take while they are read, in bytes; by default as much as they need.
    pub memory_bytes_max: Option<u64>,
}
