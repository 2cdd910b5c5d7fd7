//! A trace in figures, as `trace info` prints them. It takes one pass. Memory grows with the number
//! of files and of gaps between the ranges that were read, not with rows.

mod count;
pub mod files;
mod intervals;
mod sizes;
mod waits;

use crate::error::Result;
use crate::metadata::Metadata;
use crate::{Columns, Trace};
use serde::Serialize;
use std::collections::BTreeMap;

pub use sizes::Sizes;
pub use waits::{CallKind, FileWaits, Spent, Waits};

/// A trace in figures. Bytes are those of successful reads and writes. A load's bytes count only if
/// its run has no calls for the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TraceSummary {
    /// What the trace says about itself.
    pub metadata: Metadata,
    /// Rows.
    pub accesses: u64,
    /// Rows of each kind. A kind that does not occur is missing.
    pub ops: BTreeMap<&'static str, u64>,
    /// Opens that failed, by error number.
    pub failed_opens: BTreeMap<i32, u64>,
    /// Distinct names, also of files that do not exist.
    pub names: u64,
    /// Distinct files that were read, mapped or loaded, at least in part.
    pub files: u64,
    /// Bytes read. A load's bytes count only if its run has no calls for the file.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Distinct bytes read: the union of the ranges of each file.
    pub unique_bytes: u64,
    /// The sizes of the files.
    pub sizes: Sizes,
    /// How often files were loaded again.
    pub reuse: Reuse,
    /// Each run.
    pub runs: Vec<RunSummary>,
}

/// How often files were loaded again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reuse {
    /// Loads of whole files, in all runs.
    pub loads: u64,
    /// Loads of a file that the same run had loaded before.
    pub repeated_in_run: u64,
    /// Loads of a file that the same or an earlier run had loaded before.
    pub repeated: u64,
    /// Files that every run used.
    pub files_in_every_run: u64,
    /// Files that only one run used.
    pub files_in_one_run: u64,
}

/// One run in figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunSummary {
    /// Its rows.
    pub accesses: u64,
    /// Loads of whole files.
    pub loads: u64,
    /// Successful opens.
    pub opens: u64,
    /// Opens that failed.
    pub failed_opens: u64,
    /// Distinct files that were read, mapped or loaded, at least in part.
    pub files: u64,
    /// Files among them that no other run used.
    pub files_only_here: u64,
    /// Bytes read. A load's bytes count only if its run has no calls for the file.
    pub read_bytes: u64,
    /// Distinct bytes read.
    pub unique_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// From the first access to the end of the last, in nanoseconds.
    pub span_ns: u64,
}

/// Sums up `trace`. Calls `progress` with rows done and their sum.
///
/// # Errors
/// The trace cannot be read, or is not sorted by run.
pub fn summarise(trace: &Trace, progress: &mut dyn FnMut(u64, u64)) -> Result<TraceSummary> {
    let mut count = count::Count::new(trace.file_bytes());
    let columns = Columns::RUN
        | Columns::TIME_NS
        | Columns::OP
        | Columns::FILE
        | Columns::OFFSET
        | Columns::BYTES;
    let optional = Columns::LATENCY_NS | Columns::ERROR | Columns::FILE_BYTES;
    let mut done = 0;
    for batch in trace.scan(columns | optional)? {
        let batch = batch?;
        for row in 0..batch.rows() {
            count.add(&batch, row).map_err(|wrong| wrong.into_error(trace.path()))?;
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    Ok(count.finish(trace.metadata().clone()))
}

#[cfg(test)]
mod tests;
