//! Encodes sorted rows as Parquet: picks the encoding of each column, and numbers files by first
//! appearance.

use super::chunk::{Finished, compression};
use super::load_group::LoadGroup;
use super::loads::Loads;
use crate::checksum::{MAKER, Summed};
use crate::error::{Error, Result};
use crate::names::Names;
use crate::{Access, FileId, Metadata, Op, arrays, schema};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, DictionaryArray, Int8Array, Int32Array, StringArray, UInt32Array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Encoding;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use seekless_sys::output::Output;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const ROW_GROUP_ROWS: usize = 1_000_000;
/// Rows encoded at a time. Their columns stay in the second-level cache.
const BATCH_ROWS: usize = 8192;
/// If the paths of a row group take more than this, the rest of them is written without a
/// dictionary.
const PATH_DICTIONARY_BYTES: usize = 32 << 20;

/// A Parquet file being written, with numbers for its files.
pub(super) struct Encoder {
    parquet: SerializedFileWriter<Summed>,
    factory: ArrowRowGroupWriterFactory,
    /// The columns of the row group that is being encoded; empty before its first row.
    columns: Vec<ArrowColumnWriter>,
    /// Rows in it.
    group_rows: usize,
    path: PathBuf,
    rows: u64,
    /// The caller's number → this file's.
    numbers: Vec<Option<FileId>>,
    /// This file's number → the caller's.
    order: Vec<FileId>,
    /// The caller's number → a batch, and its key in the dictionary of that batch.
    keys: Vec<(u64, i32)>,
    batch: u64,
    /// The row group of loads, once there are loads.
    loads: Option<Box<LoadGroup>>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder")
            .field("path", &self.path)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl Encoder {
    pub(super) fn create(out: Output) -> Result<Self> {
        let path = out.path().to_owned();
        let (parquet, factory) =
            ArrowWriter::try_new(Summed::new(out), schema::schema(), Some(properties()))
                .and_then(ArrowWriter::into_serialized_writer)
                .map_err(|error| failed(&path, error))?;
        Ok(Encoder {
            parquet,
            factory,
            columns: Vec::new(),
            group_rows: 0,
            path,
            rows: 0,
            numbers: Vec::new(),
            order: Vec::new(),
            keys: Vec::new(),
            batch: 0,
            loads: None,
        })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn files(&self) -> u64 {
        self.order.len() as u64
    }

    /// Adds rows. They are sorted, and not older than the rows already written. Their files have
    /// the caller's numbers.
    pub(super) fn write(&mut self, mut rows: &[Access], names: &Names) -> Result<()> {
        self.end_load_group()?;
        while !rows.is_empty() {
            let room = BATCH_ROWS.min(ROW_GROUP_ROWS - self.group_rows).min(rows.len());
            let (batch, rest) = rows.split_at(room);
            let values =
                self.batch(batch, names).map_err(|error| failed(&self.path, error.into()))?;
            self.begin_group()?;
            encode(&mut self.columns, &values).map_err(|error| failed(&self.path, error))?;
            self.rows += room as u64;
            self.group_rows += room;
            if self.group_rows == ROW_GROUP_ROWS {
                self.end_group()?;
            }
            rows = rest;
        }
        Ok(())
    }

    /// Adds loads, and does `work` meanwhile. They are sorted, and not older than the rows already
    /// written, which were loads too.
    pub(super) fn write_loads<T>(&mut self, loads: &Loads, work: impl FnOnce() -> T) -> Result<T> {
        let known = self.order.len() as FileId;
        let files = loads.files.iter().map(|&file| file + 1).max().unwrap_or(0).max(known);
        self.order.extend(known..files);
        self.numbers.extend((known..files).map(Some));
        let mut start = 0;
        while let Some(room) = self.full_at(loads.len() - start) {
            self.add_loads(loads, start..start + room, || ())?;
            self.end_load_group()?;
            start += room;
        }
        self.add_loads(loads, start..loads.len(), work)
    }

    /// How many of `more` loads fill their row group, if they do.
    fn full_at(&self, more: usize) -> Option<usize> {
        let room = ROW_GROUP_ROWS - self.loads.as_ref().map_or(0, |loads| loads.rows());
        (more >= room).then_some(room)
    }

    fn add_loads<T>(
        &mut self,
        loads: &Loads,
        part: Range<usize>,
        work: impl FnOnce() -> T,
    ) -> Result<T> {
        let wrong = |error| failed(&self.path, error);
        let group = match &mut self.loads {
            Some(group) => group,
            None => {
                let group = LoadGroup::new(self.parquet.schema_descr()).map_err(wrong)?;
                self.loads.insert(Box::new(group))
            }
        };
        self.rows += part.len() as u64;
        group.add(loads, part, work).map_err(wrong)
    }

    /// Writes the row group of loads, if it has rows.
    fn end_load_group(&mut self) -> Result<()> {
        let Some(loads) = self.loads.as_mut().filter(|loads| loads.rows() > 0) else {
            return Ok(());
        };
        let mut write = || {
            let mut group = self.parquet.next_row_group()?;
            for Finished { bytes, close } in loads.finish()? {
                group.append_column(&bytes, close)?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| failed(&self.path, error))
    }

    fn begin_group(&mut self) -> Result<()> {
        if self.columns.is_empty() {
            let number = self.parquet.flushed_row_groups().len();
            let columns = self.factory.create_column_writers(number);
            self.columns = columns.map_err(|error| failed(&self.path, error))?;
        }
        Ok(())
    }

    /// Writes the row group, if it has rows.
    fn end_group(&mut self) -> Result<()> {
        self.group_rows = 0;
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() {
            return Ok(());
        }
        let write = || {
            let mut group = self.parquet.next_row_group()?;
            for column in columns {
                column.close()?.append_to_row_group(&mut group)?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| failed(&self.path, error))
    }

    /// Writes the metadata and the footer. Also returns the file's numbers → the caller's.
    pub(super) fn finish_ordered(mut self, metadata: &Metadata) -> Result<(Output, Vec<FileId>)> {
        let path = self.path.clone();
        let unwritten = |error| Error::io(&path, "could not be written", error);
        self.end_load_group()?;
        self.end_group()?;
        self.parquet.flush().map_err(unwritten)?;
        let sums = self.parquet.inner_mut().end_blocks();
        for (key, value) in metadata.to_pairs().into_iter().chain(sums) {
            self.parquet.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        let out = self.parquet.into_inner().map_err(|error| failed(&self.path, error))?;
        Ok((out.finish().map_err(unwritten)?, self.order))
    }

    pub(super) fn finish(self, metadata: &Metadata) -> Result<Output> {
        Ok(self.finish_ordered(metadata)?.0)
    }

    fn batch(
        &mut self,
        rows: &[Access],
        names: &Names,
    ) -> Result<Vec<ArrayRef>, arrow_schema::ArrowError> {
        self.batch += 1;
        let (files, paths) = self.files_and_paths(rows, names)?;
        Ok(arrays::columns(rows, ops(rows)?, files, paths))
    }

    fn files_and_paths(
        &mut self,
        rows: &[Access],
        names: &Names,
    ) -> Result<(ArrayRef, ArrayRef), arrow_schema::ArrowError> {
        self.numbers.resize(names.len(), None);
        self.keys.resize(names.len(), (0, 0));
        let mut files = Vec::with_capacity(rows.len());
        let mut keys = Vec::with_capacity(rows.len());
        let mut values = Vec::new();
        for row in rows {
            let file = row.file as usize;
            let order = &mut self.order;
            files.push(*self.numbers[file].get_or_insert_with(|| {
                order.push(row.file);
                order.len() as FileId - 1
            }));
            let key = &mut self.keys[file];
            if key.0 != self.batch {
                *key = (self.batch, values.len() as i32); // at most BATCH_ROWS
                values.push(names.get(row.file));
            }
            keys.push(key.1);
        }
        let values = Arc::new(StringArray::from_iter_values(values));
        let paths = DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), values)?;
        Ok((Arc::new(UInt32Array::from(files)), Arc::new(paths)))
    }
}

/// Encodes the columns of a batch.
fn encode(columns: &mut [ArrowColumnWriter], values: &[ArrayRef]) -> parquet::errors::Result<()> {
    for ((column, field), values) in columns.iter_mut().zip(schema::schema().fields()).zip(values) {
        compute_leaves(field, values)?.iter().try_for_each(|leaf| column.write(leaf))?;
    }
    Ok(())
}

fn ops(rows: &[Access]) -> Result<ArrayRef, arrow_schema::ArrowError> {
    let words = StringArray::from_iter_values(Op::ALL.iter().map(|op| op.as_str()));
    let keys = Int8Array::from_iter_values(rows.iter().map(|row| row.op as i8));
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(words))?))
}

fn properties() -> WriterProperties {
    let column = |name: &str| ColumnPath::from(name);
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("{MAKER}{}", env!("CARGO_PKG_VERSION")))
        .set_compression(compression())
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_sorting_columns(Some(
            [0, 1]
                .map(|column_idx| SortingColumn {
                    column_idx,
                    descending: false,
                    nulls_first: false,
                })
                .to_vec(),
        ))
        .set_column_dictionary_page_size_limit(column(schema::PATH), PATH_DICTIONARY_BYTES);
    for name in [schema::TIME_NS, schema::LATENCY_NS, schema::OFFSET] {
        properties = properties
            .set_column_dictionary_enabled(column(name), false)
            .set_column_encoding(column(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn failed(path: &Path, error: parquet::errors::ParquetError) -> Error {
    Error::new(crate::ErrorKind::Io, path, "could not be written").because(error)
}
