//! How traces become requests: the unit, what becomes of sector lines, and what else is kept of the rows.

use super::{Requests, objects, pages};
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_trace::{ErrorKind as TraceErrorKind, Kind, Loads, Trace};
use std::path::PathBuf;
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
    /// What a request asks for; by default what suits the kind of the first trace ([`Unit::of`]).
    pub unit: Option<Unit>,
    /// Of page units: what becomes of sector lines.
    pub lines: Lines,
    /// Whether each file or object weighs 1, whatever its size.
    pub unit_weights: bool,
    /// Whether to keep the time of each request: 8 bytes.
    pub times: bool,
    /// Of page units: whether to keep the names of files, which a post-cache trace needs.
    pub names: bool,
}

impl Reading {
    /// Reads traces (anything that [`open_any`](seekless_trace::open_any) opens) one after another; files are joined by
    /// name. `progress` hears of rows.
    ///
    /// # Errors
    /// A trace cannot be read, or has more pages or requests than 2^32.
    pub fn read(&self, traces: &[PathBuf], progress: &mut dyn FnMut(u64, u64)) -> Result<Requests> {
        let unit = match self.unit {
            Some(unit) => unit,
            None => Unit::of(first_kind(traces)?),
        };
        let requests = match unit {
            Unit::File => Requests::from_loads(&Loads::read(traces)?),
            Unit::Page => pages::read(traces, self, progress)?,
            Unit::Object => objects::read(traces, self, progress)?,
        };
        Ok(if self.unit_weights { requests.with_unit_weights() } else { requests })
    }
}

fn first_kind(traces: &[PathBuf]) -> Result<Kind> {
    let Some(first) = traces.first() else { return Ok(Kind::Files) };
    match Trace::open(first) {
        Ok(trace) => Ok(trace.metadata().kind),
        Err(error) if error.kind() == TraceErrorKind::NotATrace => Ok(Kind::Files), // text is imported as files
        Err(error) => Err(error.into()),
    }
}
