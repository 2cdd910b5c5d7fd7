//! Reads a trace in batches of columns, for the fast loops of the simulator.

use crate::column::{Integer, Stored, Wrong};
use crate::columns::Columns;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::leaf::{Values, caught};
use crate::renumber::Renumber;
use crate::{Access, FileId, Op, schema};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// A column in which values may be unknown.
#[derive(Clone, Debug, Default)]
pub struct Nullable<T> {
    values: Vec<T>,
    known: Option<Vec<bool>>,
}

impl<T: Copy> Nullable<T> {
    /// The value of `row`; `None` if it is unknown or the column was not asked for.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<T> {
        let known = self.known.as_ref().is_none_or(|known| known.get(row) == Some(&true));
        if known { self.values.get(row).copied() } else { None }
    }

    /// The values, an arbitrary one in each row without. Empty if the column was not asked for.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Which rows have a value; `None` if all have.
    #[must_use]
    pub fn known(&self) -> Option<&[bool]> {
        self.known.as_deref()
    }
}

/// A trace may have this many files, and one more for every second byte. A real file takes more,
/// for its number and its name.
const FILES_BASE: u64 = 1 << 16;

/// Some thousand rows of a trace. Columns that were not asked for are empty.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    rows: usize,
    run: Vec<u32>,
    time_ns: Vec<u64>,
    pid: Vec<u32>,
    tid: Vec<u32>,
    op: Vec<Op>,
    file: Vec<u32>,
    offset: Vec<i64>,
    bytes: Vec<u64>,
    latency_ns: Nullable<u64>,
    error: Nullable<i32>,
    file_bytes: Nullable<u64>,
    device: Nullable<u64>,
    inode: Nullable<u64>,
    ttl_ns: Nullable<u64>,
}

impl Batch {
    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The run of each row.
    #[must_use]
    pub fn run(&self) -> &[u32] {
        &self.run
    }
    /// The time of each row, in nanoseconds from its run's start.
    #[must_use]
    pub fn time_ns(&self) -> &[u64] {
        &self.time_ns
    }
    /// The process of each row.
    #[must_use]
    pub fn pid(&self) -> &[u32] {
        &self.pid
    }
    /// The thread of each row.
    #[must_use]
    pub fn tid(&self) -> &[u32] {
        &self.tid
    }
    /// What each row did.
    #[must_use]
    pub fn op(&self) -> &[Op] {
        &self.op
    }
    /// The file of each row: dense, by first appearance.
    #[must_use]
    pub fn file(&self) -> &[FileId] {
        &self.file
    }
    /// The byte offset of each row.
    #[must_use]
    pub fn offset(&self) -> &[i64] {
        &self.offset
    }
    /// The bytes of each row.
    #[must_use]
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }
    /// The latency of each row.
    #[must_use]
    pub fn latency_ns(&self) -> &Nullable<u64> {
        &self.latency_ns
    }
    /// The error number of each row.
    #[must_use]
    pub fn error(&self) -> &Nullable<i32> {
        &self.error
    }
    /// The file's size at each row.
    #[must_use]
    pub fn file_bytes(&self) -> &Nullable<u64> {
        &self.file_bytes
    }
    /// The device of each row.
    #[must_use]
    pub fn device(&self) -> &Nullable<u64> {
        &self.device
    }
    /// The inode of each row.
    #[must_use]
    pub fn inode(&self) -> &Nullable<u64> {
        &self.inode
    }
    /// How long the object of each row may be kept from then on, in nanoseconds.
    #[must_use]
    pub fn ttl_ns(&self) -> &Nullable<u64> {
        &self.ttl_ns
    }

    /// One row of a batch that was scanned with [`Columns::ALL`]; `None` past the end or if columns
    /// are missing.
    #[must_use]
    pub fn access(&self, row: usize) -> Option<Access> {
        Some(Access {
            run: *self.run.get(row)?,
            time_ns: *self.time_ns.get(row)?,
            pid: *self.pid.get(row)?,
            tid: *self.tid.get(row)?,
            op: *self.op.get(row)?,
            file: *self.file.get(row)?,
            offset: *self.offset.get(row)?,
            bytes: *self.bytes.get(row)?,
            latency_ns: self.latency_ns.get(row),
            error: self.error.get(row),
            file_bytes: self.file_bytes.get(row),
            device: self.device.get(row),
            inode: self.inode.get(row),
            ttl_ns: self.ttl_ns.get(row).and_then(NonZeroU64::new),
        })
    }
}

/// The batches of a trace, in order.
#[derive(Debug)]
pub struct Scan {
    /// The columns that were asked for and that the file has; `None` behind an error.
    columns: Option<Vec<(Columns, Stored)>>,
    path: PathBuf,
    rows: u64,
    rows_left: u64,
    batch_rows: usize,
    files: Renumber,
    files_max: u64,
}

impl Scan {
    /// `rows` is how many the file has. `bytes` is its size, which limits how many files it can
    /// name.
    pub(crate) fn new(
        columns: Vec<(Columns, Stored)>,
        path: PathBuf,
        rows: u64,
        bytes: u64,
        batch_rows: usize,
    ) -> Self {
        let (files, files_max) = (Renumber::default(), FILES_BASE + bytes / 2);
        Scan {
            columns: Some(columns),
            path,
            rows: 0,
            rows_left: rows,
            batch_rows,
            files,
            files_max,
        }
    }

    /// How many distinct files have been seen so far; all of them at the end.
    #[must_use]
    pub fn files(&self) -> u32 {
        self.files.files()
    }

    fn batch(&mut self, columns: &mut [(Columns, Stored)]) -> Result<Batch> {
        let rows = self.rows_left.min(self.batch_rows as u64) as usize;
        let mut batch = Batch { rows, ..Batch::default() };
        for (column, stored) in columns {
            self.read(*column, stored, &mut batch)?;
        }
        if let Some(dense) = self.files.batch(&batch.file) {
            batch.file = dense;
        }
        if u64::from(self.files.files()) > self.files_max {
            let message =
                format!("names over {} files, which its size does not allow", self.files_max);
            return Err(Error::new(ErrorKind::Limit, &self.path, message).at(Place::Row(self.rows)));
        }
        self.rows += rows as u64;
        self.rows_left -= rows as u64;
        Ok(batch)
    }

    /// Reads a column of the batch.
    fn read(&self, column: Columns, stored: &mut Stored, batch: &mut Batch) -> Result<()> {
        match column {
            Columns::RUN => batch.run = self.integers(schema::RUN, stored, batch.rows)?,
            Columns::TIME_NS => {
                batch.time_ns = self.integers(schema::TIME_NS, stored, batch.rows)?
            }
            Columns::PID => batch.pid = self.integers(schema::PID, stored, batch.rows)?,
            Columns::TID => batch.tid = self.integers(schema::TID, stored, batch.rows)?,
            Columns::FILE => batch.file = self.integers(schema::FILE, stored, batch.rows)?,
            Columns::OFFSET => batch.offset = self.integers(schema::OFFSET, stored, batch.rows)?,
            Columns::BYTES => batch.bytes = self.integers(schema::BYTES, stored, batch.rows)?,
            Columns::OP => {
                let rows = batch.rows;
                batch.op = self.required(schema::OP, || stored.ops(rows))?;
            }
            Columns::LATENCY_NS => {
                batch.latency_ns = self.nullable(schema::LATENCY_NS, stored, batch.rows)?;
            }
            Columns::ERROR => batch.error = self.nullable(schema::ERROR, stored, batch.rows)?,
            Columns::FILE_BYTES => {
                batch.file_bytes = self.nullable(schema::FILE_BYTES, stored, batch.rows)?;
            }
            Columns::DEVICE => batch.device = self.nullable(schema::DEVICE, stored, batch.rows)?,
            Columns::INODE => batch.inode = self.nullable(schema::INODE, stored, batch.rows)?,
            Columns::TTL_NS => batch.ttl_ns = self.nullable(schema::TTL_NS, stored, batch.rows)?,
            _ => {}
        }
        Ok(())
    }

    fn integers<T: Integer>(&self, name: &str, stored: &mut Stored, rows: usize) -> Result<Vec<T>> {
        self.required(name, || stored.integers(rows))
    }

    fn nullable<T: Integer>(
        &self,
        name: &str,
        stored: &mut Stored,
        rows: usize,
    ) -> Result<Nullable<T>> {
        let Values { values, known } = self.placed(name, || stored.integers(rows))?;
        Ok(Nullable { values, known })
    }

    /// The values of a column in which every row has one.
    fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce() -> Result<Values<T>, Wrong>,
    ) -> Result<Vec<T>> {
        let Values { values, known } = self.placed(name, read)?;
        match known.and_then(|known| known.iter().position(|&known| !known)) {
            Some(row) => {
                Err(self.wrong(name, "holds no value").at(Place::Row(self.rows + row as u64)))
            }
            None => Ok(values),
        }
    }

    /// Calls `read`, and says in which column and row it failed.
    fn placed<T>(
        &self,
        name: &str,
        read: impl FnOnce() -> Result<Values<T>, Wrong>,
    ) -> Result<Values<T>> {
        caught(read).map_err(|wrong| match wrong {
            Wrong::Schema(wrong) => self.wrong(name, &wrong),
            Wrong::Damaged(why) => {
                Error::corrupt(&self.path, DAMAGED).at(Place::Row(self.rows)).because(why)
            }
        })
    }

    fn wrong(&self, name: &str, wrong: &str) -> Error {
        let message = format!("its column `{name}` {wrong}");
        Error::new(ErrorKind::Schema, &self.path, message).at(Place::Row(self.rows))
    }
}

pub(crate) const DAMAGED: &str =
    "the trace is damaged here or cut short; `seekless trace recover` helps only with a .spool";

impl Iterator for Scan {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        // Taken, so that no rows follow an error: they cannot be trusted.
        let mut columns = self.columns.take().filter(|_| self.rows_left > 0)?;
        let batch = self.batch(&mut columns);
        if batch.is_ok() {
            self.columns = Some(columns);
        }
        Some(batch)
    }
}
