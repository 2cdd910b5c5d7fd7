//! The unit of requests: files, pages or objects.

use crate::{Error, ErrorKind, Result};
use seekless_trace::Kind;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A whole file, which weighs its bytes.
    File,
    /// A page of 4096 bytes.
    Page,
    /// The range of one row, whatever its size. It is identified by file and offset, and weighs its
    /// bytes, as the objects of other simulators.
    Object,
}

impl Unit {
    /// The unit for a kind of trace: files, the pages of a block trace, or the objects of a trace
    /// of ids.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Files => Unit::File,
            Kind::Blocks => Unit::Page,
            Kind::Ids => Unit::Object,
        }
    }

    /// Bytes of one unit of weight.
    #[must_use]
    pub fn weight_bytes(self) -> u64 {
        if self == Unit::Page { PAGE_BYTES } else { 1 }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Unit::File => "file",
            Unit::Page => "page",
            Unit::Object => "object",
        })
    }
}

impl FromStr for Unit {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "file" => Ok(Unit::File),
            "page" => Ok(Unit::Page),
            "object" => Ok(Unit::Object),
            _ => Err(Error::new(
                ErrorKind::Usage,
                format!("no unit is called {word:?}; there are file, page and object"),
            )),
        }
    }
}
