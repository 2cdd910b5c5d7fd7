//! Encodes sorted rows as Parquet: picks the encoding of each column, and numbers files by first
//! appearance.

use crate::checksum::{MAKER, Summed};
use crate::error::{Error, Result};
use crate::names::Names;
use crate::{Access, FileId, Metadata, Op, arrays, schema};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, RecordBatch, StringArray, UInt32Array,
};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use seekless_sys::output::Output;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ROW_GROUP_ROWS: usize = 1_000_000;
/// Rows encoded at a time. Their columns stay in the second-level cache.
const BATCH_ROWS: usize = 8192;
/// If the paths of a row group take more than this, the rest of them is written without a
/// dictionary.
const PATH_DICTIONARY_BYTES: usize = 32 << 20;

/// A Parquet file being written, with numbers for its files.
pub(super) struct Encoder {
    parquet: ArrowWriter<Summed>,
    path: PathBuf,
    rows: u64,
    /// The caller's number → this file's.
    numbers: Vec<Option<FileId>>,
    /// This file's number → the caller's.
    order: Vec<FileId>,
    /// The caller's number → a batch, and its key in the dictionary of that batch.
    keys: Vec<(u64, i32)>,
    batch: u64,
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
        let parquet = ArrowWriter::try_new(Summed::new(out), schema::schema(), Some(properties()))
            .map_err(|error| failed(&path, error))?;
        let (numbers, order, keys) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Encoder { parquet, path, rows: 0, numbers, order, keys, batch: 0 })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn files(&self) -> u64 {
        self.order.len() as u64
    }

    /// Adds rows. They are sorted, and not older than the rows already written. Their files have
    /// the caller's numbers.
    pub(super) fn write(&mut self, rows: &[Access], names: &Names) -> Result<()> {
        for rows in rows.chunks(BATCH_ROWS) {
            let batch =
                self.batch(rows, names).map_err(|error| failed(&self.path, error.into()))?;
            self.parquet.write(&batch).map_err(|error| failed(&self.path, error))?;
            self.rows += rows.len() as u64;
        }
        Ok(())
    }

    /// Writes the metadata and the footer. Also returns the file's numbers → the caller's.
    pub(super) fn finish_ordered(mut self, metadata: &Metadata) -> Result<(Output, Vec<FileId>)> {
        let unwritten = |error| Error::io(&self.path, "could not be written", error);
        self.parquet.flush().map_err(|error| failed(&self.path, error))?;
        self.parquet.sync().map_err(unwritten)?;
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
    ) -> Result<RecordBatch, arrow_schema::ArrowError> {
        self.batch += 1;
        let (files, paths) = self.files_and_paths(rows, names)?;
        let columns = arrays::columns(rows, ops(rows)?, files, paths);
        RecordBatch::try_new(schema::schema(), columns)
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

fn ops(rows: &[Access]) -> Result<ArrayRef, arrow_schema::ArrowError> {
    let words = StringArray::from_iter_values(Op::ALL.iter().map(|op| op.as_str()));
    let keys = Int8Array::from_iter_values(rows.iter().map(|row| row.op as i8));
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(keys, Arc::new(words))?))
}

fn properties() -> WriterProperties {
    let column = |name: &str| ColumnPath::from(name);
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("{MAKER}{}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap_or_default()))
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
