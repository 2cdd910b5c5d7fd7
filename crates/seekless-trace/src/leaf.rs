//! Reads one column of a trace file, one row group after another, as plain values.

use crate::source::Source;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The values of some rows of a column.
#[derive(Debug)]
pub(crate) struct Values<T> {
    /// One entry for each row. A row without a value has the default of the type.
    pub(crate) values: Vec<T>,
    /// Which rows have a value; `None` if all have.
    pub(crate) known: Option<Vec<bool>>,
}

/// A column whose values Parquet stores as `D`.
pub(crate) struct Leaf<D: DataType> {
    source: Arc<Source>,
    parquet: Arc<ParquetMetaData>,
    /// Its number among the leaves of the schema.
    column: usize,
    /// The definition level of a row with a value: 0 if every row must have one.
    level: i16,
    next_group: usize,
    reader: Option<ColumnReaderImpl<D>>,
    left_in_group: usize,
}

impl<D: DataType> std::fmt::Debug for Leaf<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaf").field("column", &self.column).finish_non_exhaustive()
    }
}

impl<D: DataType> Leaf<D> {
    /// The column must be of the type `D`, and flat.
    pub(crate) fn new(source: Arc<Source>, parquet: Arc<ParquetMetaData>, column: usize) -> Self {
        let level = parquet.file_metadata().schema_descr().column(column).max_def_level();
        Self { source, parquet, column, level, next_group: 0, reader: None, left_in_group: 0 }
    }

    /// The values of the next `rows` rows.
    ///
    /// # Errors
    /// The column is damaged, or ends before.
    pub(crate) fn next(&mut self, rows: usize) -> Result<Values<D::T>> {
        let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
        let mut done = 0;
        while done < rows {
            if self.left_in_group == 0 && !self.open_group()? {
                return Err(short());
            }
            let Some(reader) = &mut self.reader else { return Err(short()) };
            let wanted = (rows - done).min(self.left_in_group);
            let into = (self.level > 0).then_some(&mut levels);
            let (read, _, _) = reader.read_records(wanted, into, None, &mut values)?;
            if read == 0 {
                return Err(short());
            }
            self.left_in_group -= read;
            done += read;
        }
        if values.len() == rows {
            return Ok(Values { values, known: None });
        }
        let known: Vec<bool> = levels.iter().map(|&level| level == self.level).collect();
        let spread = spread(values, &known).filter(|values| values.len() == rows);
        Ok(Values { values: spread.ok_or_else(short)?, known: Some(known) })
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

/// Calls `read`. The Parquet reader panics on some damaged files, which must not end the program.
pub(crate) fn caught<T, E: From<ParquetError>>(
    read: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let gave_up = |_| Err(ParquetError::General("the reader gave up".to_owned()).into());
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(gave_up)
}

fn short() -> ParquetError {
    ParquetError::EOF("a column has fewer rows than the file".to_owned())
}

/// The values with gaps where none is known; `None` if there is another number of them.
fn spread<T: Default>(values: Vec<T>, known: &[bool]) -> Option<Vec<T>> {
    let mut values = values.into_iter();
    let spread: Option<Vec<T>> =
        known.iter().map(|&known| if known { values.next() } else { Some(T::default()) }).collect();
    spread.filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_their_rows() {
        let known = [true, false, false, true];
        assert_eq!(spread(vec![7, 9], &known), Some(vec![7, 0, 0, 9]));
        assert_eq!(spread(vec![7], &known), None);
        assert_eq!(spread(vec![7, 8, 9], &known), None);
    }
}
