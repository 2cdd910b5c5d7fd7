//! An opened trace: what it says about itself, and ways to read its rows.

use crate::checksum::{self, Blocks};
use crate::claims::{self, Column, Pages};
use crate::column::Stored;
use crate::columns::Columns;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::leaf::caught;
use crate::lines::LINE_BYTES_MAX;
use crate::metadata::Metadata;
use crate::paths::Paths;
use crate::source::Source;
use crate::{Access, Batch, Scan, schema};
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::Length;
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows decoded at a time. Their columns stay in the second-level cache.
const BATCH_ROWS: usize = 16_384;

/// What an opened trace was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The Parquet file itself.
    Parquet,
    /// The spool of a recording that was cut off. Inform the user.
    Spool {
        /// How many bytes at its end were torn; 0 if the last batch was whole.
        torn_bytes: u64,
    },
    /// A file of another format, imported into a temporary trace.
    Imported,
}

/// An opened trace. It is cheap to keep, since rows are read when they are asked for.
#[derive(Clone, Debug)]
pub struct Trace {
    path: PathBuf,
    source: Source,
    parquet: Arc<ParquetMetaData>,
    metadata: Metadata,
    origin: Origin,
}

impl Trace {
    /// Opens the Parquet file behind `file`; `path` is its name in messages.
    pub(crate) fn from_file(file: File, path: &Path) -> Result<Self> {
        let unreadable = |error| Error::io(path, "could not be read", error);
        let source = Source::new(file).map_err(unreadable)?;
        let covered = checksum::check_footer(source.len(), |start, end| source.read(start, end));
        let covered = covered.map_err(unreadable)?;
        let covered = covered.map_err(|wrong| Error::corrupt(path, wrong))?;
        let damaged = |why: Box<dyn std::error::Error + Send + Sync>| {
            Error::corrupt(path, "is not a complete Parquet file: copy it again from its source")
                .because(why)
        };
        check_footer(&source).map_err(|error| damaged(error.into()))?;
        let load = || ParquetMetaDataReader::new().parse_and_finish(&source);
        let parquet = Arc::new(caught(load).map_err(|error| damaged(error.into()))?);
        readable(&parquet).map_err(|wrong| Error::new(ErrorKind::Schema, path, wrong))?;
        let pairs = parquet.file_metadata().key_value_metadata();
        let pairs = pairs
            .into_iter()
            .flatten()
            .filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)));
        let mut sums =
            pairs.clone().filter(|(key, _)| *key == checksum::KEY_BLOCKS).map(|(_, value)| value);
        let source = match covered {
            Some(covered) => {
                let lost =
                    || Error::corrupt(path, "its footer has lost the checksums of its blocks");
                source.with_blocks(Blocks::parse(sums.next_back(), covered).ok_or_else(lost)?)
            }
            None => source,
        };
        let metadata = Metadata::from_pairs(pairs)
            .map_err(|wrong| Error::new(ErrorKind::Schema, path, wrong))?;
        Ok(Trace { path: path.to_owned(), source, parquet, metadata, origin: Origin::Parquet })
    }

    /// The same trace under the name that the user knows.
    pub(crate) fn named(self, path: &Path, origin: Origin) -> Self {
        Trace { path: path.to_owned(), origin, ..self }
    }

    /// What the trace says about itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What it was read from. Inform the user about an [`Origin::Spool`].
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The file it was opened from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The size of the Parquet file in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.source.len()
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.parquet.file_metadata().num_rows().try_into().unwrap_or(0)
    }

    /// Reads all rows, decoding only `columns`.
    ///
    /// # Errors
    /// A required column is missing. `latency_ns`, `error`, `file_bytes`, `device`, `inode` and
    /// `ttl_ns` are optional; a missing one is unknown in every row.
    pub fn scan(&self, columns: Columns) -> Result<Scan> {
        self.scan_by(columns, BATCH_ROWS)
    }

    /// As [`Trace::scan`], in batches of `batch_rows` rows.
    ///
    /// # Errors
    /// As [`Trace::scan`].
    pub fn scan_by(&self, columns: Columns, batch_rows: usize) -> Result<Scan> {
        let mut leaves = Vec::new();
        for (column, name, optional) in COLUMNS {
            match self.leaf(name)? {
                _ if !columns.contains(column) => {}
                Some(leaf) => leaves.push((column, leaf, kind(column))),
                None if optional => {}
                None => return Err(self.lacks(name)),
            }
        }
        let pages: Vec<_> = leaves.iter().map(|&(_, leaf, kind)| (leaf, kind)).collect();
        let source = caught(|| self.source_of(&pages)).map_err(|why| self.undecodable(why))?;
        let source = Arc::new(source);
        let stored = |(column, leaf, _)| (column, Stored::new(&source, &self.parquet, leaf));
        let stored = leaves.into_iter().map(stored).collect();
        let path = self.path.clone();
        Ok(Scan::new(stored, path, self.rows(), self.source.len(), batch_rows.max(1)))
    }

    /// The columns that the file has. Another tool may have dropped some.
    ///
    /// # Errors
    /// A column holds lists or tables.
    pub fn columns(&self) -> Result<Columns> {
        COLUMNS.iter().try_fold(Columns::NONE, |known, &(column, name, _)| {
            Ok(if self.leaf(name)?.is_some() { known | column } else { known })
        })
    }

    /// The names of all columns of its table, in order.
    pub(crate) fn column_names(&self) -> Vec<String> {
        let fields = self.parquet.file_metadata().schema().get_fields();
        fields.iter().map(|field| field.name().to_owned()).collect()
    }

    pub(crate) fn schema(&self) -> &SchemaDescriptor {
        self.parquet.file_metadata().schema_descr()
    }

    pub(crate) fn parquet(&self) -> &Arc<ParquetMetaData> {
        &self.parquet
    }

    /// Whether this is no trace, but the table of another program: it does not say that it is a
    /// trace, and lacks a column that every trace has.
    pub(crate) fn is_table(&self) -> bool {
        let pairs = self.parquet.file_metadata().key_value_metadata();
        let says = pairs.into_iter().flatten().any(|pair| pair.key.starts_with("seekless."));
        let names = self.column_names();
        let lacks = |name: &str| !names.iter().any(|found| found == name);
        !says && COLUMNS.iter().any(|&(_, name, optional)| !optional && lacks(name))
    }

    /// The number of a column among the leaves of the schema.
    pub(crate) fn leaf(&self, name: &str) -> Result<Option<usize>> {
        let leaves = self.parquet.file_metadata().schema_descr();
        let is_named = |leaf: &usize| leaves.column(*leaf).path().parts()[0] == name;
        let Some(leaf) = (0..leaves.num_columns()).find(is_named) else { return Ok(None) };
        let column = leaves.column(leaf);
        let flat = column.path().parts().len() == 1 && column.max_rep_level() == 0;
        if flat && column.physical_type() != Type::FIXED_LEN_BYTE_ARRAY {
            return Ok(Some(leaf));
        }
        let message =
            format!("its column `{name}` holds no plain values, expected numbers or text");
        Err(Error::new(ErrorKind::Schema, &self.path, message))
    }

    pub(crate) fn lacks(&self, name: &str) -> Error {
        let message = format!("has no column `{name}`, which every trace has");
        Error::new(ErrorKind::Schema, &self.path, message)
    }

    pub(crate) fn undecodable(&self, why: ParquetError) -> Error {
        Error::corrupt(&self.path, "cannot be decoded").because(why)
    }

    /// The file, for a scan of these columns.
    pub(crate) fn source_of(&self, leaves: &[(usize, Column)]) -> parquet::errors::Result<Source> {
        let pages = Pages::new(&self.parquet, leaves, self.source.len())?;
        Ok(self.source.clone().with_pages(pages))
    }

    /// Every row, in order of run and time.
    ///
    /// # Errors
    /// As [`Trace::scan`].
    pub fn accesses(&self) -> Result<impl Iterator<Item = Result<Access>> + use<>> {
        Ok(Accesses { scan: self.scan(Columns::ALL)?, batch: Batch::default(), row: 0 })
    }

    /// The names of all files; the index is the [`FileId`](crate::FileId) that scans give.
    ///
    /// # Errors
    /// As [`Trace::scan`].
    pub fn file_names(&self) -> Result<Vec<String>> {
        let leaf = self.leaf(schema::PATH)?.ok_or_else(|| self.lacks(schema::PATH))?;
        let not_text =
            || Error::new(ErrorKind::Schema, &self.path, "its column `path` is not text");
        let source = caught(|| self.source_of(&[(leaf, Column::Path)]))
            .map_err(|why| self.undecodable(why))?;
        let mut paths = Paths::new(source, self.parquet.clone(), leaf).ok_or_else(not_text)?;
        let mut names: Vec<String> = Vec::new();
        let (mut row, mut bytes) = (0, 0);
        let bytes_max = NAMES_BYTES_BASE
            .saturating_add(self.source.len().saturating_mul(NAMES_BYTES_PER_FILE_BYTE));
        for batch in self.scan(Columns::FILE)? {
            let batch = batch?;
            let read = caught(|| paths.next(batch.rows())).map_err(|why| self.undecodable(why))?;
            if read.len() < batch.rows() {
                let message = "its column `path` holds no value";
                return Err(Error::new(ErrorKind::Schema, &self.path, message)
                    .at(Place::Row(row + read.len() as u64)));
            }
            for (&file, path) in batch.file().iter().zip(read) {
                if file as usize == names.len() {
                    if path.len() > LINE_BYTES_MAX {
                        let message = format!(
                            "has a path of {} bytes; one has at most {LINE_BYTES_MAX}",
                            path.len()
                        );
                        return Err(
                            Error::new(ErrorKind::Limit, &self.path, message).at(Place::Row(row))
                        );
                    }
                    bytes += (path.len() + size_of::<String>()) as u64;
                    if bytes > bytes_max {
                        let message = format!(
                            "has names of over {bytes_max} bytes together, which its size does not allow"
                        );
                        return Err(
                            Error::new(ErrorKind::Limit, &self.path, message).at(Place::Row(row))
                        );
                    }
                    names.push(str::from_utf8(path.data()).map_err(|_| not_text())?.to_owned());
                }
                row += 1;
            }
        }
        Ok(names)
    }
}

/// The names of a trace's files may take this in memory, plus this many times the file's size.
const NAMES_BYTES_BASE: u64 = 24 << 20;
const NAMES_BYTES_PER_FILE_BYTE: u64 = 16;

/// Compares the footer's claims with its size before the Parquet reader allocates memory for them.
fn check_footer(source: &Source) -> std::io::Result<()> {
    let Some(end) = source.len().checked_sub(FOOTER_END_BYTES) else { return Ok(()) };
    let tail = source.read(end, source.len())?;
    let length = tail.first_chunk().map_or(0, |length| u64::from(u32::from_le_bytes(*length)));
    match end.checked_sub(length) {
        Some(start) => claims::check_footer(&source.read(start, end)?),
        None => Ok(()), // the Parquet reader reports this
    }
}

/// The footer's length and the magic.
const FOOTER_END_BYTES: u64 = 8;

fn kind(column: Columns) -> Column {
    if column == Columns::OP { Column::Op } else { Column::Number }
}

/// Column, name, and whether a trace may lack it.
pub(crate) const COLUMNS: [(Columns, &str, bool); 14] = [
    (Columns::RUN, schema::RUN, false),
    (Columns::TIME_NS, schema::TIME_NS, false),
    (Columns::PID, schema::PID, false),
    (Columns::TID, schema::TID, false),
    (Columns::OP, schema::OP, false),
    (Columns::FILE, schema::FILE, false),
    (Columns::OFFSET, schema::OFFSET, false),
    (Columns::BYTES, schema::BYTES, false),
    (Columns::LATENCY_NS, schema::LATENCY_NS, true),
    (Columns::ERROR, schema::ERROR, true),
    (Columns::FILE_BYTES, schema::FILE_BYTES, true),
    (Columns::DEVICE, schema::DEVICE, true),
    (Columns::INODE, schema::INODE, true),
    (Columns::TTL_NS, schema::TTL_NS, true),
];

struct Accesses {
    scan: Scan,
    batch: Batch,
    row: usize,
}

impl Iterator for Accesses {
    type Item = Result<Access>;

    fn next(&mut self) -> Option<Result<Access>> {
        loop {
            if let Some(access) = self.batch.access(self.row) {
                self.row += 1;
                return Some(Ok(access));
            }
            match self.scan.next()? {
                Ok(batch) => (self.batch, self.row) = (batch, 0),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Refuses columns in a compression that is not built in; otherwise they would look damaged.
fn readable(parquet: &ParquetMetaData) -> Result<(), String> {
    for column in parquet.row_groups().iter().flat_map(|group| group.columns()) {
        match column.compression() {
            Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::ZSTD(_) => {}
            other => {
                return Err(format!(
                    "column {} is compressed with {other}, which is not read here: write it with zstd, gzip or snappy",
                    column.column_path()
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Writer};
    use parquet::file::metadata::{ParquetMetaDataBuilder, RowGroupMetaData};

    #[test]
    fn a_compression_that_is_not_built_in_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let file = writer.file("a");
        writer.push(Access::new(Op::Read, file)).unwrap();
        writer.finish().unwrap();
        let written = Trace::open(&path).unwrap().parquet.as_ref().clone();
        assert_eq!(readable(&written), Ok(()));
        let group: RowGroupMetaData = written.row_group(0).clone();
        let columns = group.columns().iter().map(|column| {
            column.clone().into_builder().set_compression(Compression::LZ4_RAW).build().unwrap()
        });
        let group =
            group.clone().into_builder().set_column_metadata(columns.collect()).build().unwrap();
        let changed = ParquetMetaDataBuilder::new(written.file_metadata().clone())
            .add_row_group(group)
            .build();
        assert!(readable(&changed).unwrap_err().contains("LZ4_RAW"));
    }
}
