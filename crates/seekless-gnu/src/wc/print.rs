//! Prints lines of counts as GNU wc does, and computes the width of their columns.

use super::charset::Charset;
use super::{Counts, Wanted, quote};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The least width if the size of an input is not known in advance.
const UNKNOWN: usize = 7;

/// Prints one line: the requested counts and the name.
pub(crate) fn line(
    out: &mut dyn Write,
    counts: &Counts,
    wanted: Wanted,
    width: usize,
    name: Option<&Path>,
    charset: &mut Charset,
) -> io::Result<()> {
    let mut first = true;
    for (figure, wanted) in [
        (counts.lines, wanted.lines),
        (counts.words, wanted.words),
        (counts.characters, wanted.characters),
        (counts.bytes, wanted.bytes),
        (counts.columns, wanted.columns),
    ] {
        if wanted {
            let space = if first { "" } else { " " };
            write!(out, "{space}{figure:width$}")?;
            first = false;
        }
    }
    if let Some(name) = name {
        let bytes = name.as_os_str().as_bytes();
        out.write_all(b" ")?;
        match bytes.contains(&b'\n') {
            true => out.write_all(&quote::name(bytes, charset))?,
            false => out.write_all(bytes)?,
        }
    }
    out.write_all(b"\n")
}

/// The size of an input before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// A regular file of this size.
    Bytes(u64),
    /// A stream or a folder.
    Unknown,
    /// Its metadata could not be read.
    Failed,
}

impl Size {
    pub(crate) fn of(metadata: io::Result<std::fs::Metadata>) -> Size {
        match metadata {
            Ok(metadata) if metadata.is_file() => Size::Bytes(metadata.len()),
            Ok(_) => Size::Unknown,
            Err(_) => Size::Failed,
        }
    }
}

/// The width of the columns: the digits of the sum of all sizes, which no count exceeds.
pub(crate) fn width(sizes: &[Size], wanted: Wanted) -> usize {
    if sizes.len() == 1 && wanted.figures() == 1 {
        return 1;
    }
    let mut least = 1;
    let mut total = 0u64;
    for size in sizes {
        match size {
            Size::Bytes(bytes) => total = total.saturating_add(*bytes),
            Size::Unknown => least = UNKNOWN,
            Size::Failed => {}
        }
    }
    least.max(total.checked_ilog10().unwrap_or(0) as usize + 1)
}
