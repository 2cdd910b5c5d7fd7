//! Turns the spool of a recording that was cut off into a trace.

use crate::error::{Error, Result};
use crate::{Summary, spool};
use seekless_sys::output::Destination;
use std::path::Path;

/// What was recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// What the trace holds.
    pub summary: Summary,
    /// Bytes at the spool's end that belong to no whole batch.
    pub torn_bytes: u64,
}

/// Writes the spool at `spool` as the trace `out`: every whole batch of it. The spool stays. Where `spool` is not there, it is
/// taken for the trace that a recording was to make, whose spool is found and, once `out` is written, deleted.
///
/// # Errors
/// The spool cannot be read, is no spool or holds not even its header; the trace is there and may not be replaced, or cannot
/// be written.
pub fn recover(spool: &Path, out: impl Into<Destination>) -> Result<Recovered> {
    let left = if spool.exists() { None } else { spool::find(spool) };
    let (summary, torn_bytes) = spool::convert(left.as_deref().unwrap_or(spool), out)?;
    if let Some(left) = left {
        std::fs::remove_file(&left).map_err(|error| Error::io(&left, "could not be deleted", error))?;
    }
    Ok(Recovered { summary, torn_bytes })
}
