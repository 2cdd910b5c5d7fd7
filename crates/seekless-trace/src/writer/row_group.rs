//! A row group of any rows. We encode its pages ourselves: a column that is constant, or empty,
//! costs a look at each value, and the keys of files are known already. Parquet's own writer looks
//! every value of every column up in a table.

mod gathered;
mod numbers;
mod words;

use super::chunk::{Finished, Squeezer};
use super::load_group::column;
use super::name_columns::NameColumns;
use super::times::TimeColumn;
use crate::{Access, FileId, schema};
use gathered::Gathered;
use numbers::{Coding, NumberColumn, Order};
use parquet::errors::Result;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use words::OpColumn;

/// Rows of a row group, unless it ends early.
pub(super) const ROW_GROUP_ROWS: usize = 1_000_000;
/// Rows of a page. Their columns stay in the second-level cache.
const PAGE_ROWS: usize = 8192;
/// A row group ends early if the names of its files take this: a reader holds them at once.
const NAMES_BYTES: usize = 32 << 20;

/// The row group that is being encoded. It is made once, and used for one after another.
pub(super) struct RowGroup {
    /// Rows in whole pages.
    rows: usize,
    /// The rows of the page that is being filled.
    gathered: Gathered,
    run: NumberColumn,
    times: TimeColumn,
    pid: NumberColumn,
    tid: NumberColumn,
    op: OpColumn,
    names: NameColumns,
    offset: NumberColumn,
    bytes: NumberColumn,
    latency: NumberColumn,
    error: NumberColumn,
    file_bytes: NumberColumn,
    device: NumberColumn,
    inode: NumberColumn,
    /// In a file with lifetimes.
    ttl: Option<NumberColumn>,
    squeezer: Squeezer,
}

impl RowGroup {
    /// An empty group of a file of this schema.
    pub(super) fn new(schema: &SchemaDescriptor) -> Result<Self> {
        let schema: &[ColumnDescPtr] = schema.columns();
        let keyed = |name| NumberColumn::new(column(schema, name), Coding::Keys, Order::Unsigned);
        Ok(Self {
            rows: 0,
            gathered: Gathered::default(),
            run: keyed(schema::RUN),
            times: TimeColumn::new(column(schema, schema::TIME_NS)),
            pid: keyed(schema::PID),
            tid: keyed(schema::TID),
            op: OpColumn::new(column(schema, schema::OP)),
            names: NameColumns::new(column(schema, schema::FILE), column(schema, schema::PATH)),
            offset: NumberColumn::new(
                column(schema, schema::OFFSET),
                Coding::Differences,
                Order::Signed,
            ),
            bytes: keyed(schema::BYTES),
            latency: NumberColumn::new(
                column(schema, schema::LATENCY_NS),
                Coding::Differences,
                Order::Unsigned,
            ),
            error: NumberColumn::new(column(schema, schema::ERROR), Coding::Keys, Order::Signed),
            file_bytes: keyed(schema::FILE_BYTES),
            device: keyed(schema::DEVICE),
            inode: keyed(schema::INODE),
            ttl: schema::has_lifetimes(schema).then(|| keyed(schema::TTL_NS)),
            squeezer: Squeezer::new()?,
        })
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> usize {
        self.rows + self.gathered.rows()
    }

    /// How many rows the page has room for.
    pub(super) fn room(&self) -> usize {
        PAGE_ROWS.min(ROW_GROUP_ROWS - self.rows) - self.gathered.rows()
    }

    /// Whether it is to be ended before further rows.
    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROW_GROUP_ROWS || self.names.dictionary_bytes() >= NAMES_BYTES
    }

    /// Adds sorted rows to the page, which has room for them. `number` gives the number of a row's
    /// file in the file that is written.
    pub(super) fn add(&mut self, rows: &[Access], number: impl FnMut(FileId) -> FileId) {
        self.gathered.add(rows, number);
        if self.ttl.is_some() {
            self.gathered.add_lifetimes(rows);
        }
    }

    /// Encodes the page, if it has rows. `name` gives the name of a file, by its number in the file
    /// that is written.
    pub(super) fn end_page<'a>(&mut self, name: impl Fn(FileId) -> &'a str) -> Result<()> {
        let (all, squeezer) = (&mut self.gathered, &mut self.squeezer);
        if all.rows() == 0 {
            return Ok(());
        }
        self.rows += all.rows();
        self.run.page(&all.run, None, squeezer)?;
        self.times.page(&all.time_ns, squeezer)?;
        self.pid.page(&all.pid, None, squeezer)?;
        self.tid.page(&all.tid, None, squeezer)?;
        self.op.page(&all.op, squeezer)?;
        let name = |at: usize, text: &mut Vec<u8>| {
            text.extend_from_slice(name(all.file[at]).as_bytes());
        };
        self.names.page(&all.file, name, squeezer)?;
        self.offset.page(&all.offset, None, squeezer)?;
        self.bytes.page(&all.bytes, None, squeezer)?;
        for (column, values) in [
            (&mut self.latency, &all.latency_ns),
            (&mut self.error, &all.error),
            (&mut self.file_bytes, &all.file_bytes),
            (&mut self.device, &all.device),
            (&mut self.inode, &all.inode),
        ] {
            column.page(&values.values, Some(&values.present), squeezer)?;
        }
        if let Some(column) = &mut self.ttl {
            column.page(&all.ttl_ns.values, Some(&all.ttl_ns.present), squeezer)?;
        }
        self.gathered.clear();
        Ok(())
    }

    /// Ends the group, and returns its columns in the order of the schema. The next rows begin
    /// another.
    pub(super) fn finish(&mut self) -> Result<Vec<Finished>> {
        self.rows = 0;
        let squeezer = &mut self.squeezer;
        let [file, path] = self.names.finish(squeezer)?;
        let mut columns = vec![
            self.run.finish(squeezer)?,
            self.times.finish()?,
            self.pid.finish(squeezer)?,
            self.tid.finish(squeezer)?,
            self.op.finish(squeezer)?,
            file,
            path,
            self.offset.finish(squeezer)?,
            self.bytes.finish(squeezer)?,
            self.latency.finish(squeezer)?,
            self.error.finish(squeezer)?,
            self.file_bytes.finish(squeezer)?,
            self.device.finish(squeezer)?,
            self.inode.finish(squeezer)?,
        ];
        if let Some(column) = &mut self.ttl {
            columns.push(column.finish(squeezer)?);
        }
        Ok(columns)
    }
}

#[cfg(test)]
mod tests;
