//! Turns the spool of a recording that was cut off into a trace.

use crate::Summary;
use crate::error::{Error, Result};
use crate::spool::{self, Damage};
use seekless_sys::output::Destination;
use std::path::Path;

/// What was recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// What the trace holds.
    pub summary: Summary,
    /// Bytes at the spool's end that belong to no whole batch, and are lost.
    pub torn_bytes: u64,
    /// The offset of the first damaged byte; `None` if the spool is only cut short.
    pub damaged_at: Option<u64>,
}

/// Writes the spool at `spool` as the trace `out`: every whole batch of it up to the first damaged
/// one. The spool is kept. If there is no file `spool`, it is taken as the name of the trace that a
/// recording was to write, and the spool of that recording is used. That spool is deleted after
/// `out` is written, unless it was damaged.
///
/// # Errors
/// The spool cannot be read, is not a spool, or ends within its header; the trace exists and may
/// not be replaced, or cannot be written.
pub fn recover(spool: &Path, out: impl Into<Destination>) -> Result<Recovered> {
    let found = if spool.exists() { None } else { spool::find(spool) };
    let (summary, left) =
        spool::convert(found.as_deref().unwrap_or(spool), out, Damage::EndsTheSpool)?;
    if let Some(found) = found.filter(|_| left.damaged_at.is_none()) {
        std::fs::remove_file(&found)
            .map_err(|error| Error::io(&found, "could not be deleted", error))?;
    }
    Ok(Recovered { summary, torn_bytes: left.bytes, damaged_at: left.damaged_at })
}
