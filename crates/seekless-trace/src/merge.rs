//! Merges several traces into one. Runs are numbered in the order given; files are joined by name.

use crate::error::{Error, ErrorKind, Result};
use crate::{Access, Columns, FileId, Metadata, RunInfo, Summary, Trace, Writer, open_any};
use seekless_sys::output::{Content, Destination};
use std::path::PathBuf;

/// Merges `traces` (anything that [`open_any`] opens) into the trace `out`. Calls `progress` with
/// rows done and their sum.
///
/// # Errors
/// A trace cannot be read; two traces have different kinds or page sizes; `out` exists and may not
/// be replaced, or cannot be written.
pub fn merge(
    traces: &[PathBuf],
    out: impl Into<Destination>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let out = out.into();
    out.check(Content::Binary)?;
    let traces: Vec<Trace> = traces.iter().map(|path| open_any(path)).collect::<Result<_>>()?;
    let Some(first) = traces.first() else {
        return Err(Error::new(
            ErrorKind::Usage,
            out.path(),
            "nothing to merge: name at least one trace",
        ));
    };
    let total = traces.iter().map(Trace::rows).sum();
    let Metadata { kind, page_bytes, view, .. } = *first.metadata();
    // Of traces from both sides of the cache the whole has no side.
    let view = view.filter(|_| traces.iter().all(|trace| trace.metadata().view == view));
    let metadata = Metadata { kind, view, page_bytes, ..Metadata::default() };
    let add = |all: Columns, trace: &Trace| Ok::<_, Error>(all | trace.columns()?);
    let columns = traces.iter().try_fold(Columns::NONE, add)?;
    let mut writer = Writer::create_with(out, metadata, columns)?;
    let (mut runs, mut done) = (0, 0);
    for trace in &traces {
        check_same(first, trace)?;
        let mut used = 0;
        let files: Vec<FileId> = trace.file_names()?.iter().map(|name| writer.file(name)).collect();
        for batch in trace.scan(Columns::ALL)? {
            let batch = batch?;
            for access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
                used = used.max(access.run.saturating_add(1));
                let run = access.run.saturating_add(runs);
                writer.push(Access { run, file: files[access.file as usize], ..access })?;
            }
            done += batch.rows() as u64;
            progress(done, total);
        }
        runs += add_metadata(writer.metadata_mut(), trace.metadata(), used);
    }
    writer.finish()
}

fn check_same(first: &Trace, other: &Trace) -> Result<()> {
    let (one, two) = (first.metadata(), other.metadata());
    if one.kind == two.kind && one.page_bytes == two.page_bytes {
        return Ok(());
    }
    let describe = |metadata: &Metadata| {
        format!("{} with {} byte pages", metadata.kind.as_str(), metadata.page_bytes)
    };
    let message = format!(
        "is a trace of {}, but {} is one of {}",
        describe(two),
        first.path().display(),
        describe(one)
    );
    Err(Error::new(ErrorKind::Usage, other.path(), message))
}

/// Appends what `one` says about its runs; its rows use `used` of them. Returns how many runs it
/// has.
fn add_metadata(all: &mut Metadata, one: &Metadata, used: u32) -> u32 {
    let runs = one.runs.len().max(used as usize);
    let info = one.runs.iter().cloned().chain(std::iter::repeat_with(RunInfo::default)).take(runs);
    all.runs.extend(info);
    all.lost = all.lost.saturating_add(one.lost);
    runs as u32
}
