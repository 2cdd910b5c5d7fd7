//! Exports Ozen's text: sectors of a device as his collector writes them, and pages as his
//! simulator writes them after a cache.

use super::BUFFER_BYTES;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::foreign::{POST_CACHE_HEADING, SECTOR_BYTES};
use crate::{Batch, Columns, Op, Trace};
use seekless_sys::output::{Content, Destination, Output};
use std::fmt;
use std::io::{BufWriter, IntoInnerError, Write};

/// A limit on a row. A gigabyte is two million lines, and a call reads at most two gigabytes.
const ROW_BYTES_MAX: u64 = 4 << 30;

/// Writes a trace of one device or file as lines `r N` for reads and `w N` for writes. There is a
/// line for each sector of 512 bytes that an access touches; offset −1 is sector −1. Calls
/// `progress` with rows done and their sum.
///
/// # Errors
/// The trace cannot be read, has several files, which the format cannot distinguish, or has a row
/// of over 4 GiB; or `out` cannot be written.
pub fn ozen(trace: &Trace, out: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let failed = |error| Error::io(trace.path(), "its sectors could not be written as text", error);
    let columns = Columns::OP | Columns::FILE | Columns::OFFSET | Columns::BYTES | Columns::ERROR;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    let (mut done, mut device) = (0, None);
    for batch in trace.scan(columns)? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let Some(letter) = letter(&batch, row) else { continue };
            if *device.get_or_insert(batch.file()[row]) != batch.file()[row] {
                let message =
                    "names several files, and Ozen's text has one device; use --format csv";
                return Err(Error::new(ErrorKind::Usage, trace.path(), message));
            }
            if batch.bytes()[row] > ROW_BYTES_MAX {
                let bytes = batch.bytes()[row];
                let message = format!(
                    "covers {bytes} bytes, and Ozen's text has a line for each sector of 512: rows of at most \
                     {ROW_BYTES_MAX} bytes are written; use --format csv"
                );
                let row = done + row as u64;
                return Err(Error::new(ErrorKind::Limit, trace.path(), message).at(Place::Row(row)));
            }
            for sector in sectors(batch.offset()[row], batch.bytes()[row]) {
                writeln!(out, "{letter} {sector}").map_err(failed)?;
            }
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    out.flush().map_err(failed)
}

fn letter(batch: &Batch, row: usize) -> Option<char> {
    let letter = match batch.op()[row] {
        Op::Read | Op::Fault | Op::Load => 'r',
        Op::Write => 'w',
        _ => return None,
    };
    (batch.error().get(row).is_none() && batch.bytes()[row] > 0).then_some(letter)
}

/// The sectors that a range touches; `bytes` is not 0.
fn sectors(offset: i64, bytes: u64) -> std::ops::RangeInclusive<i64> {
    if offset < 0 {
        return -1..=-1;
    }
    let last = offset.saturating_add_unsigned(bytes - 1);
    offset / SECTOR_BYTES..=last / SECTOR_BYTES
}

/// Writes the accesses that pass a cache, as Ozen's simulator does: a heading, then lines `r N` or
/// `w N`. N is the number of a page of 4096 bytes. The file appears whole or not at all.
#[derive(Debug)]
pub struct OzenPages {
    out: BufWriter<Output>,
}

impl OzenPages {
    /// Starts what will appear at `out`.
    ///
    /// # Errors
    /// `out` is there and may not be replaced, or its folder is missing or not writable.
    pub fn create(out: impl Into<Destination>) -> Result<Self> {
        let out = out.into().create(Content::Text)?;
        let mut pages = Self { out: BufWriter::with_capacity(BUFFER_BYTES, out) };
        pages.line(format_args!("{POST_CACHE_HEADING}"))?;
        Ok(pages)
    }

    /// Adds a read or write of `page`.
    ///
    /// # Errors
    /// The disk is full.
    pub fn push(&mut self, write: bool, page: u64) -> Result<()> {
        self.line(format_args!("{} {page}", if write { 'w' } else { 'r' }))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// The disk is full or the file could not be synced or renamed; then nothing is left behind.
    pub fn finish(self) -> Result<()> {
        let path = self.out.get_ref().path().to_owned();
        let out = self.out.into_inner().map_err(IntoInnerError::into_error);
        Ok(out.map_err(|error| Error::io(&path, "could not be written", error))?.publish()?)
    }

    fn line(&mut self, line: fmt::Arguments<'_>) -> Result<()> {
        let written = writeln!(self.out, "{line}");
        written.map_err(|error| Error::io(self.out.get_ref().path(), "could not be written", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_touches_each_sector_it_overlaps() {
        assert_eq!(sectors(4096, 512), 8..=8);
        assert_eq!(sectors(511, 2), 0..=1);
        assert_eq!(sectors(0, 4096), 0..=7);
        assert_eq!(sectors(-1, 512), -1..=-1);
    }
}
