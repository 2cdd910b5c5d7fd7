//! Writes a trace. Rows come in any order; the Parquet file is sorted by run and time. Memory is
//! bounded.
//!
//! Rows pass through a window of a quarter of a million rows. Each time it is full, its older half
//! is written to the file. A row older than those in the file is *late*. Late rows are sorted in
//! chunks, spilled to disk, and merged with the file at the end. So rows that come nearly in order,
//! as from a recorder, are encoded once; rows in any order are encoded twice.

mod bits;
mod chunk;
mod encoder;
mod load_group;
mod loads;
mod merge;
mod merged;
mod name_columns;
mod row_group;
mod spill;
mod times;
mod window;

use crate::error::{Error, ErrorKind, Result};
use crate::names::Names;
use crate::{Access, Columns, FileId, Metadata, Trace};
use encoder::Encoder;
pub(crate) use loads::Loads;
use seekless_sys::output::{Content, Destination, Output};
use spill::Spills;
use std::io::{self, Seek};
use std::path::Path;
use window::Window;

/// Rows that wait at most, which take 34 MB.
const WINDOW_ROWS: usize = 1 << 18;
/// Late rows kept in memory until they are spilled.
const LATE_ROWS: usize = 1 << 18;
/// How many runs a trace may have. Tables are indexed by run, so that a wrong number could cost
/// gigabytes.
pub(crate) const RUNS_MAX: u32 = 1 << 16;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Rows in the file.
    pub rows: u64,
    /// Distinct files in it.
    pub files: u64,
    /// Rows that came too late for one pass, and were merged in at the end.
    pub late: u64,
}

/// Writes one trace file. It appears only at [`Writer::finish`]; a drop before leaves nothing
/// behind.
#[derive(Debug)]
pub struct Writer {
    out: Destination,
    metadata: Metadata,
    names: Names,
    encoder: Encoder,
    window: Window,
    window_rows: usize,
    written: Option<(u32, u64)>,
    late: Vec<Access>,
    spills: Spills,
    late_rows: u64,
}

impl Writer {
    /// Starts the trace that will appear at `out`. If `out` is a path alone, there must be no file,
    /// now and when the trace is finished. A trace that holds arguments of programs
    /// ([`Metadata::keeps_arguments`]) will be for this user alone (mode 0600).
    ///
    /// # Errors
    /// `out` exists and may not be replaced, or its folder is missing or not writable.
    pub fn create(out: impl Into<Destination>, metadata: Metadata) -> Result<Self> {
        Self::with_window(out.into(), metadata, WINDOW_ROWS, false)
    }

    /// As [`Writer::create`]; the trace also holds the lifetimes of objects if `columns` has
    /// [`Columns::TTL_NS`].
    ///
    /// # Errors
    /// As [`Writer::create`].
    pub fn create_with(
        out: impl Into<Destination>,
        metadata: Metadata,
        columns: Columns,
    ) -> Result<Self> {
        let lifetimes = columns.contains(Columns::TTL_NS);
        Self::with_window(out.into(), metadata, WINDOW_ROWS, lifetimes)
    }

    /// Starts a temporary trace made from the file `path`, with these columns besides those of
    /// every trace. [`Writer::into_trace`] ends it.
    pub(crate) fn unplaced(path: &Path, columns: Columns) -> Result<Self> {
        Self::create_with(Destination::nowhere(path), Metadata::default(), columns)
    }

    /// Starts a trace in a file without a name beside `path`. [`Writer::finish_at`] ends it.
    pub(crate) fn beside(path: &Path) -> Result<Self> {
        Self::create(Destination::unnamed_beside(path), Metadata::default())
    }

    /// As [`Writer::create`]. Tests use a small window, so that few rows reach every path of the
    /// code.
    fn with_window(
        out: Destination,
        metadata: Metadata,
        window_rows: usize,
        lifetimes: bool,
    ) -> Result<Self> {
        Ok(Writer {
            encoder: Encoder::create(out.create(Content::Binary)?, lifetimes)?,
            metadata,
            names: Names::default(),
            window: Window::default(),
            window_rows: window_rows.max(2),
            written: None,
            late: Vec::new(),
            spills: Spills::new(out.clone()),
            late_rows: 0,
            out,
        })
    }

    /// The number of the file called `path`, for rows to come. A path that is not UTF-8 must be
    /// escaped by [`escape_path`](crate::escape_path). The finished trace may number the file
    /// differently: its numbers follow the first appearance in time.
    pub fn file(&mut self, path: &str) -> FileId {
        self.names.intern(path).0
    }

    /// Whether the names take more memory than `consumed` bytes of text justify.
    pub(crate) fn names_are_too_many(&self, consumed: u64) -> bool {
        self.names.are_too_many(consumed)
    }

    /// What the trace will say about itself. It may change until [`Writer::finish`].
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The disk is full, `access.file` is not from [`Writer::file`], or `access.run` is 65,536 or
    /// more.
    pub fn push(&mut self, access: Access) -> Result<()> {
        if access.file as usize >= self.names.len() || access.run >= RUNS_MAX {
            return Err(self.refused(&access));
        }
        let key = access.key();
        if self.written.is_some_and(|written| key < written) {
            return self.push_late(access);
        }
        self.window.push(access);
        if self.window.len() >= self.window_rows { self.write_older_half() } else { Ok(()) }
    }

    /// Adds loads, which come in order behind all rows, and does `work` meanwhile. The first rows
    /// of a trace must come so; before other rows follow, [`Writer::file`] must have numbered all
    /// ids.
    ///
    /// # Errors
    /// The disk is full.
    pub(crate) fn push_loads<T>(&mut self, loads: &Loads, work: impl FnOnce() -> T) -> Result<T> {
        debug_assert!(self.window.is_empty() && self.late_rows == 0, "no other rows came before");
        let last = loads.runs.last().copied().zip(loads.times.last().copied());
        self.written = last.or(self.written);
        self.encoder.write_loads(loads, work)
    }

    fn refused(&self, access: &Access) -> Error {
        let message = if access.run >= RUNS_MAX {
            format!("run {} is out of range: a trace holds {RUNS_MAX} runs", access.run)
        } else {
            format!("file number {} was not given by this writer", access.file)
        };
        Error::new(ErrorKind::Usage, self.out.path(), message)
    }

    fn push_late(&mut self, access: Access) -> Result<()> {
        self.late_rows += 1;
        self.late.push(access);
        if self.late.len() >= self.window_rows.min(LATE_ROWS) {
            self.spills.add(&mut self.late)?;
        }
        Ok(())
    }

    fn write_older_half(&mut self) -> Result<()> {
        self.write_oldest(self.window.len() / 2)
    }

    fn write_oldest(&mut self, rows: usize) -> Result<()> {
        let (encoder, names) = (&mut self.encoder, &self.names);
        let last = self.window.take(rows, |rows| encoder.write(rows, names))?;
        self.written = last.or(self.written);
        Ok(())
    }

    /// Writes the remaining rows, merges late rows in, and puts the file in its place.
    ///
    /// # Errors
    /// The disk is full, or the file could not be synced or renamed. Nothing is left behind then.
    pub fn finish(self) -> Result<Summary> {
        let (out, summary) = self.write_rest()?;
        out.publish()?;
        Ok(summary)
    }

    /// As [`Writer::finish`], at another place than where the rows were written: they are copied.
    ///
    /// # Errors
    /// As [`Writer::create`] and [`Writer::finish`].
    pub(crate) fn finish_at(self, place: &Destination) -> Result<Summary> {
        let out = place.create(Content::Binary)?;
        let keeps_arguments = self.metadata.keeps_arguments();
        let (written, summary) = self.write_rest()?;
        if keeps_arguments {
            let refused = |error| Error::io(out.path(), "cannot be kept from other users", error);
            out.make_private().map_err(refused)?;
        }
        let mut rows = merge::again(&written)?;
        let copied = rows.rewind().and_then(|()| io::copy(&mut rows, &mut out.file()));
        copied.map_err(|error| Error::io(place.path(), "could not be written", error))?;
        out.publish()?;
        Ok(summary)
    }

    /// Ends a temporary trace, and opens it.
    pub(crate) fn into_trace(self) -> Result<Trace> {
        let (out, _) = self.write_rest()?;
        Trace::from_file(merge::again(&out)?, out.path())
    }

    fn write_rest(mut self) -> Result<(Output, Summary)> {
        self.write_oldest(self.window.len())?;
        self.window = Window::default();
        if self.late_rows > 0 {
            self.late.sort_by_key(Access::key);
            let late = std::mem::take(&mut self.late);
            self.encoder = merge::merge(&self.out, self.encoder, self.spills, late, &self.names)?;
        }
        let (rows, files) = (self.encoder.rows(), self.encoder.files());
        let out = self.encoder.finish(&self.metadata, &self.names)?;
        Ok((out, Summary { rows, files, late: self.late_rows }))
    }
}

#[cfg(test)]
mod tests;
