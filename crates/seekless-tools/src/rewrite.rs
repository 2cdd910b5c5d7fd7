//! Copies a trace row by row, in bounded memory: some rows are left out, names are changed.

use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::output::{Content, Destination};
use seekless_trace::{Access, Columns, FileId, Metadata, Summary, Trace, Writer};

/// What becomes of rows and names.
pub(crate) trait Rule {
    /// Changes a row; false leaves it out.
    fn row(&mut self, access: &mut Access) -> bool;

    /// The new name of a file that keeps a row. Both are escaped as a trace's are.
    fn name(&mut self, name: &str) -> String;
}

/// Writes the rows of `trace` to `out` as `rule` says. The result describes itself by `metadata`.
/// It is an error if no row is kept.
pub(crate) fn rewrite(
    trace: &Trace,
    out: &Destination,
    metadata: Metadata,
    rule: &mut dyn Rule,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    out.check(Content::Binary)?; // its own words, not as the cause of another error
    let columns = trace.columns().map_err(unread)?;
    let mut writer = Writer::create_with(out, metadata, columns).map_err(unwritten)?;
    let names = trace.file_names().map_err(unread)?;
    let mut files: Vec<Option<FileId>> = vec![None; names.len()];
    let (mut done, mut kept) = (0, 0_u64);
    for batch in trace.scan(Columns::ALL).map_err(unread)? {
        let batch = batch.map_err(unread)?;
        for mut access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
            let file = access.file as usize;
            if rule.row(&mut access) {
                let mut number = || writer.file(&rule.name(&names[file]));
                access.file = *files[file].get_or_insert_with(&mut number);
                writer.push(access).map_err(unwritten)?;
                kept += 1;
            }
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    if kept == 0 {
        let why = format!(
            "{}: no row fits; `seekless trace info` shows its runs and times, `trace files` its files",
            trace.path().display()
        );
        return Err(Error::new(ErrorKind::Missing, why));
    }
    writer.finish().map_err(unwritten)
}

/// What stays true of a trace that was made from another, but for its runs. It is named here, so
/// that what metadata may hold later is not passed on unseen.
pub(crate) fn plain(all: &Metadata) -> Metadata {
    let Metadata { kind, view, page_bytes, lost, .. } = *all;
    Metadata { kind, view, page_bytes, lost, ..Metadata::default() }
}

pub(crate) fn unread(error: seekless_trace::Error) -> Error {
    Error::because(ErrorKind::Trace, "the trace cannot be read", error)
}

fn unwritten(error: seekless_trace::Error) -> Error {
    Error::because(ErrorKind::Trace, "the new trace cannot be written", error)
}
