//! Reads a trace in batches of columns, for the fast loops of the simulator.

use crate::columns::Columns;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::renumber::Renumber;
use crate::{Access, FileId, Op, column, schema};
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// A column in which values may be unknown.
#[derive(Clone, Debug)]
pub struct Nullable<T: arrow_buffer::ArrowNativeType> {
    values: ScalarBuffer<T>,
    nulls: Option<NullBuffer>,
}

impl<T: arrow_buffer::ArrowNativeType> Default for Nullable<T> {
    fn default() -> Self {
        Nullable { values: ScalarBuffer::default(), nulls: None }
    }
}

impl<T: arrow_buffer::ArrowNativeType> Nullable<T> {
    /// The value of `row`; `None` if it is unknown or the column was not asked for.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<T> {
        let known = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        if known { self.values.get(row).copied() } else { None }
    }
}

/// A trace may have this many files, and one more for every second byte. A real file takes more,
/// for its number and its name.
const FILES_BASE: u64 = 1 << 16;

/// Some thousand rows of a trace. Columns that were not asked for are empty.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    rows: usize,
    run: ScalarBuffer<u32>,
    time_ns: ScalarBuffer<u64>,
    pid: ScalarBuffer<u32>,
    tid: ScalarBuffer<u32>,
    op: Vec<Op>,
    file: ScalarBuffer<u32>,
    offset: ScalarBuffer<i64>,
    bytes: ScalarBuffer<u64>,
    latency_ns: Nullable<u64>,
    error: Nullable<i32>,
    file_bytes: Nullable<u64>,
    device: Nullable<u64>,
    inode: Nullable<u64>,
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
        })
    }
}

/// The batches of a trace, in order.
#[derive(Debug)]
pub struct Scan {
    reader: Option<Box<ParquetRecordBatchReader>>,
    columns: Columns,
    path: PathBuf,
    rows: u64,
    files: Renumber,
    files_max: u64,
}

impl Scan {
    /// `bytes` is the file's size, which limits how many files it can name.
    pub(crate) fn new(
        reader: ParquetRecordBatchReader,
        columns: Columns,
        path: PathBuf,
        bytes: u64,
    ) -> Self {
        let files_max = FILES_BASE + bytes / 2;
        let (reader, files) = (Some(Box::new(reader)), Renumber::default());
        Scan { reader, columns, path, rows: 0, files, files_max }
    }

    /// How many distinct files have been seen so far; all of them at the end.
    #[must_use]
    pub fn files(&self) -> u32 {
        self.files.files()
    }

    fn decode(&mut self) -> Option<Result<RecordBatch>> {
        let reader = self.reader.as_mut()?;
        let damaged =
            |why| Error::corrupt(&self.path, DAMAGED).at(Place::Row(self.rows)).because(why);
        // The Parquet reader panics on some damaged files, which must not end the program.
        match catch_unwind(AssertUnwindSafe(|| reader.next())) {
            Ok(next) => Some(next?.map_err(|error| damaged(error.to_string()))),
            Err(_) => Some(Err(damaged("the Parquet reader gave up".to_owned()))),
        }
    }

    fn batch(&mut self, decoded: &RecordBatch) -> Result<Batch> {
        let mut batch = Batch { rows: decoded.num_rows(), ..Batch::default() };
        let pick = Pick { decoded, scan: self };
        batch.run = pick.integers::<UInt32Type>(Columns::RUN, schema::RUN)?;
        batch.time_ns = pick.integers::<UInt64Type>(Columns::TIME_NS, schema::TIME_NS)?;
        batch.pid = pick.integers::<UInt32Type>(Columns::PID, schema::PID)?;
        batch.tid = pick.integers::<UInt32Type>(Columns::TID, schema::TID)?;
        batch.file = pick.integers::<UInt32Type>(Columns::FILE, schema::FILE)?;
        batch.offset = pick.integers::<Int64Type>(Columns::OFFSET, schema::OFFSET)?;
        batch.bytes = pick.integers::<UInt64Type>(Columns::BYTES, schema::BYTES)?;
        batch.latency_ns = pick.nullable::<UInt64Type>(Columns::LATENCY_NS, schema::LATENCY_NS)?;
        batch.error = pick.nullable::<Int32Type>(Columns::ERROR, schema::ERROR)?;
        batch.file_bytes = pick.nullable::<UInt64Type>(Columns::FILE_BYTES, schema::FILE_BYTES)?;
        batch.device = pick.nullable::<UInt64Type>(Columns::DEVICE, schema::DEVICE)?;
        batch.inode = pick.nullable::<UInt64Type>(Columns::INODE, schema::INODE)?;
        if let Some(array) = pick.required(Columns::OP, schema::OP)? {
            batch.op = column::ops(array).map_err(|wrong| pick.wrong(schema::OP, &wrong))?;
        }
        if let Some(dense) = self.files.batch(&batch.file) {
            batch.file = dense.into();
        }
        if u64::from(self.files.files()) > self.files_max {
            let message =
                format!("names over {} files, which its size does not allow", self.files_max);
            return Err(Error::new(ErrorKind::Limit, &self.path, message).at(Place::Row(self.rows)));
        }
        self.rows += batch.rows as u64;
        Ok(batch)
    }
}

pub(crate) const DAMAGED: &str =
    "the trace is damaged here or cut short; `seekless trace recover` helps only with a .spool";

/// The columns of one decoded batch.
struct Pick<'a> {
    decoded: &'a RecordBatch,
    scan: &'a Scan,
}

impl Pick<'_> {
    fn integers<T: ArrowPrimitiveType>(
        &self,
        column: Columns,
        name: &str,
    ) -> Result<ScalarBuffer<T::Native>>
    where
        T::Native: TryFrom<i128>,
    {
        match self.required(column, name)? {
            Some(array) => column::integers::<T>(array).map_err(|wrong| self.wrong(name, &wrong)),
            None => Ok(ScalarBuffer::default()),
        }
    }

    fn nullable<T: ArrowPrimitiveType>(
        &self,
        column: Columns,
        name: &str,
    ) -> Result<Nullable<T::Native>>
    where
        T::Native: TryFrom<i128>,
    {
        match self.array(column, name) {
            Some(array) => {
                let values =
                    column::integers::<T>(array).map_err(|wrong| self.wrong(name, &wrong))?;
                Ok(Nullable { values, nulls: array.nulls().cloned() })
            }
            None => Ok(Nullable::default()),
        }
    }

    fn required(&self, column: Columns, name: &str) -> Result<Option<&ArrayRef>> {
        let array = self.array(column, name);
        match array
            .and_then(|array| array.nulls())
            .and_then(|nulls| (0..nulls.len()).find(|&row| nulls.is_null(row)))
        {
            Some(row) => {
                Err(self.wrong(name, "holds no value").at(Place::Row(self.scan.rows + row as u64)))
            }
            None => Ok(array),
        }
    }

    fn array(&self, column: Columns, name: &str) -> Option<&ArrayRef> {
        if self.scan.columns.contains(column) { self.decoded.column_by_name(name) } else { None }
    }

    fn wrong(&self, name: &str, wrong: &str) -> Error {
        let message = format!("its column `{name}` {wrong}");
        Error::new(ErrorKind::Schema, &self.scan.path, message).at(Place::Row(self.scan.rows))
    }
}

impl Iterator for Scan {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        let batch = self.decode()?.and_then(|decoded| self.batch(&decoded));
        if batch.is_err() {
            self.reader = None; // rows behind an error cannot be trusted
        }
        Some(batch)
    }
}
