//! Reads the `path` column row by row. A row's path is a slice of its page, so that rows with the
//! same path share its memory.

use crate::source::Source;
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// Reads the paths of a file, one row group after another.
pub(crate) struct Paths {
    source: Arc<Source>,
    parquet: Arc<ParquetMetaData>,
    column: usize,
    next_group: usize,
    reader: Option<ColumnReaderImpl<ByteArrayType>>,
    left_in_group: usize,
}

impl Paths {
    /// `column` is its number among the leaves of the schema; `None` if it holds no text.
    pub(crate) fn new(
        source: Source,
        parquet: Arc<ParquetMetaData>,
        column: usize,
    ) -> Option<Self> {
        let descriptor = parquet.file_metadata().schema_descr().column(column);
        if descriptor.physical_type() != Type::BYTE_ARRAY || descriptor.max_rep_level() > 0 {
            return None;
        }
        let source = Arc::new(source);
        Some(Self { source, parquet, column, next_group: 0, reader: None, left_in_group: 0 })
    }

    /// The paths of the next `rows` rows; fewer if the column ends, or at a row without a path.
    ///
    /// # Errors
    /// The column is damaged.
    pub(crate) fn next(&mut self, rows: usize) -> Result<Vec<ByteArray>> {
        let mut paths = Vec::with_capacity(rows);
        while paths.len() < rows {
            if self.left_in_group == 0 && !self.open_group()? {
                break;
            }
            let Some(reader) = &mut self.reader else { break };
            let wanted = (rows - paths.len()).min(self.left_in_group);
            let (mut levels, before) = (Vec::new(), paths.len());
            let (read, _, _) = reader.read_records(wanted, Some(&mut levels), None, &mut paths)?;
            self.left_in_group -= read;
            if read < wanted || paths.len() - before < read {
                break; // the column is shorter than the others, or a row has no path
            }
        }
        Ok(paths)
    }

    fn open_group(&mut self) -> Result<bool> {
        let Some(group) = self.parquet.row_groups().get(self.next_group) else { return Ok(false) };
        self.next_group += 1;
        self.left_in_group = group.num_rows().try_into().unwrap_or(0);
        let column = group.column(self.column);
        let pages =
            SerializedPageReader::new(self.source.clone(), column, self.left_in_group, None)?;
        self.reader = Some(ColumnReaderImpl::new(column.column_descr_ptr(), Box::new(pages)));
        Ok(true)
    }
}
