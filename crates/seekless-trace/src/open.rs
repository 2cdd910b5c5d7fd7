//! Opens whatever a verb may be given as a trace: a Parquet file, a spool, or text with a known header.

use crate::error::{Error, Result};
use crate::trace::{Origin, Trace};
use crate::{ErrorKind, import};
use std::fs::File;
use std::path::Path;

/// Opens a Parquet trace, a spool, or a CSV with a header of known names (plain, gzip, xz, lzma or zstd), which is
/// imported on the fly into a temporary trace.
///
/// # Errors
/// As [`Trace::open`]; or the text cannot be imported.
pub fn open_any(path: &Path) -> Result<Trace> {
    match Trace::open(path) {
        Err(error) if error.kind() == ErrorKind::NotATrace => {
            let trace = by_way_of(path, |out| {
                import::csv(&[path.to_owned()], out, &import::Options::default(), &mut |_, _| {}).map(drop)
            })?;
            Ok(trace.named(path, Origin::Text))
        }
        opened => opened,
    }
}

/// Opens the trace that `write` writes to a temporary path; its file is deleted, and lives as long as the trace.
pub(crate) fn by_way_of(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<Trace> {
    let failed = |error| Error::io(path, "no temporary trace could be made for it", error);
    let folder = tempfile::tempdir().map_err(failed)?;
    let out = folder.path().join("trace.parquet");
    write(&out)?;
    Trace::from_file(File::open(&out).map_err(failed)?, path)
}
