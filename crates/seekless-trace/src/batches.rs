//! A trace as Arrow tables, for other programs: all columns, decoded batch by batch.

use crate::claims::Column;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::trace::COLUMNS;
use crate::{Trace, schema};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of a batch. Programs that take tables have a cost for each batch and column.
const BATCH_ROWS: usize = 1 << 17;

/// The rows of a trace as Arrow tables, in order.
#[derive(Debug)]
pub struct Batches {
    reader: Option<ParquetRecordBatchReader>,
    schema: SchemaRef,
    path: PathBuf,
    rows: u64,
}

impl Trace {
    /// The rows as Arrow tables with the columns of docs/reference/trace-format.md; `op` and `path`
    /// are dictionaries. Columns that another tool has added are left out, and those that it has
    /// dropped are missing. The schema's metadata hold what the trace says about itself.
    ///
    /// # Errors
    /// A column that every trace has is missing, or holds no plain values.
    pub fn batches(&self) -> Result<Batches> {
        let mut leaves = Vec::new();
        let path = [(schema::PATH, false)];
        let numbers = COLUMNS.iter().map(|&(_, name, optional)| (name, optional));
        for (name, optional) in numbers.chain(path) {
            match self.leaf(name)? {
                Some(leaf) => leaves.push((leaf, kind(name))),
                None if optional => {}
                None => return Err(self.lacks(name)),
            }
        }
        let reader = self.reader_of(&leaves, BATCH_ROWS)?;
        let said = self.metadata().to_pairs();
        let said = said.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let fields = arrow_array::RecordBatchReader::schema(&reader).fields().clone();
        let schema = Arc::new(Schema::new_with_metadata(fields, said));
        Ok(Batches { reader: Some(reader), schema, path: self.path().to_owned(), rows: 0 })
    }
}

fn kind(name: &str) -> Column {
    match name {
        schema::OP => Column::Op,
        schema::PATH => Column::Path,
        _ => Column::Number,
    }
}

impl Batches {
    /// The schema of every batch.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn decode(&mut self) -> Option<Result<RecordBatch, String>> {
        let reader = self.reader.as_mut()?;
        // The Parquet reader panics on some damaged files, which must not end the program.
        match catch_unwind(AssertUnwindSafe(|| reader.next())) {
            Ok(next) => {
                let said = |batch: RecordBatch| batch.with_schema(self.schema.clone());
                Some(next?.and_then(said).map_err(|error| error.to_string()))
            }
            Err(_) => Some(Err("the Parquet reader gave up".to_owned())),
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        match self.decode()? {
            Ok(batch) => {
                self.rows += batch.num_rows() as u64;
                Some(Ok(batch))
            }
            Err(why) => {
                self.reader = None; // rows behind an error cannot be trusted
                let error = Error::new(ErrorKind::Corrupt, &self.path, crate::scan::DAMAGED);
                Some(Err(error.at(Place::Row(self.rows)).because(why)))
            }
        }
    }
}
