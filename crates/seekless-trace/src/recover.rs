//! Turns the spool of a recording that was cut off into a trace.

use crate::error::Result;
use crate::{Summary, spool};
use std::path::Path;

/// What was recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// What the trace holds.
    pub summary: Summary,
    /// Bytes at the spool's end that belong to no whole batch.
    pub torn_bytes: u64,
}

/// Writes the spool at `spool` as the trace `out`: every whole batch of it. The spool stays.
///
/// # Errors
/// The spool cannot be read, is no spool or holds not even its header; the trace cannot be written.
pub fn recover(spool: &Path, out: &Path) -> Result<Recovered> {
    let (summary, torn_bytes) = spool::convert(spool, out)?;
    Ok(Recovered { summary, torn_bytes })
}
