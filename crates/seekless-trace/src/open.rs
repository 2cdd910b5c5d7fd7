//! Opens whatever a verb may be given as a trace: a Parquet file, a spool, or text with a known header.

use crate::error::Result;
use crate::trace::{Origin, Trace};
use crate::{ErrorKind, import};
use std::path::Path;

/// Opens a Parquet trace, a spool, or a CSV with a header of known names (plain, gzip, xz, lzma or zstd), which is
/// imported on the fly into a temporary trace.
///
/// # Errors
/// As [`Trace::open`]; or the text cannot be imported.
pub fn open_any(path: &Path) -> Result<Trace> {
    match Trace::open(path) {
        Err(error) if error.kind() == ErrorKind::NotATrace => {
            Ok(import::open(path)?.named(path, Origin::Text))
        }
        opened => opened,
    }
}
