//! Reads the `path` column row by row. A row's path is a slice of its page, so that rows with the
//! same path share its memory.

use crate::leaf::{Leaf, Values};
use crate::source::Source;
use parquet::basic::Type;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::Result;
use parquet::file::metadata::ParquetMetaData;
use std::sync::Arc;

/// The paths of a file.
pub(crate) struct Paths(Leaf<ByteArrayType>);

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
        Some(Paths(Leaf::new(Arc::new(source), parquet, column)))
    }

    /// The paths of the next `rows` rows; fewer if a row has no path: then that row comes next.
    ///
    /// # Errors
    /// The column is damaged, or has fewer rows.
    pub(crate) fn next(&mut self, rows: usize) -> Result<Vec<ByteArray>> {
        let Values { mut values, known } = self.0.next(rows)?;
        if let Some(gap) = known.and_then(|known| known.iter().position(|&known| !known)) {
            values.truncate(gap);
        }
        Ok(values)
    }
}
