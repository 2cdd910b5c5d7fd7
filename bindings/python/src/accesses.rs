//! The rows of a trace as Arrow columns, with the columns of docs/reference/trace-format.md; `op`
//! and `path` are dictionaries.

use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int32Type, Int64Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use seekless::trace::{Batch, Columns, Nullable, Op, Trace};
use std::sync::Arc;

/// The name of each column, and whether its values may be unknown.
const COLUMNS: [(Columns, &str, bool); 14] = [
    (Columns::RUN, "run", false),
    (Columns::TIME_NS, "time_ns", false),
    (Columns::PID, "pid", false),
    (Columns::TID, "tid", false),
    (Columns::OP, "op", false),
    (Columns::FILE, "file", false),
    (Columns::FILE, "path", false),
    (Columns::OFFSET, "offset", false),
    (Columns::BYTES, "bytes", false),
    (Columns::LATENCY_NS, "latency_ns", true),
    (Columns::ERROR, "error", true),
    (Columns::FILE_BYTES, "file_bytes", true),
    (Columns::DEVICE, "device", true),
    (Columns::INODE, "inode", true),
];

/// Makes tables of the batches of a trace.
pub(crate) struct Accesses {
    schema: SchemaRef,
    columns: Columns,
    words: ArrayRef,
    paths: ArrayRef,
}

impl Accesses {
    /// The tables have the columns that the file has, and in their metadata what the trace says
    /// about itself.
    pub(crate) fn new(trace: &Trace) -> seekless::trace::Result<Self> {
        let columns = trace.columns()?;
        let paths: ArrayRef = Arc::new(StringArray::from(trace.file_names()?));
        let words = Arc::new(StringArray::from_iter_values(Op::ALL.iter().map(|op| op.as_str())));
        let fields: Vec<Field> = COLUMNS
            .iter()
            .filter(|(column, _, _)| columns.contains(*column))
            .map(|&(_, name, optional)| Field::new(name, kind(name), optional))
            .collect();
        let said = trace.metadata().to_pairs();
        let said = said.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, said));
        Ok(Self { schema, columns, words, paths })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// A batch as a table.
    pub(crate) fn table(&self, batch: &Batch) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let ops = batch.op().iter().map(|&op| op as i8).collect::<Vec<_>>();
        let files = batch.file().iter().map(|&file| file.cast_signed()).collect::<Vec<_>>();
        let op = DictionaryArray::<Int8Type>::try_new(plain::<Int8Type>(&ops), self.words.clone())?;
        let path =
            DictionaryArray::<Int32Type>::try_new(plain::<Int32Type>(&files), self.paths.clone())?;
        let arrays: [ArrayRef; COLUMNS.len()] = [
            Arc::new(plain::<UInt32Type>(batch.run())),
            Arc::new(plain::<UInt64Type>(batch.time_ns())),
            Arc::new(plain::<UInt32Type>(batch.pid())),
            Arc::new(plain::<UInt32Type>(batch.tid())),
            Arc::new(op),
            Arc::new(plain::<UInt32Type>(batch.file())),
            Arc::new(path),
            Arc::new(plain::<Int64Type>(batch.offset())),
            Arc::new(plain::<UInt64Type>(batch.bytes())),
            Arc::new(nullable::<UInt64Type>(batch.latency_ns())),
            Arc::new(nullable::<Int32Type>(batch.error())),
            Arc::new(nullable::<UInt64Type>(batch.file_bytes())),
            Arc::new(nullable::<UInt64Type>(batch.device())),
            Arc::new(nullable::<UInt64Type>(batch.inode())),
        ];
        let held = COLUMNS.iter().zip(arrays);
        let held = held.filter(|((column, _, _), _)| self.columns.contains(*column));
        RecordBatch::try_new(self.schema.clone(), held.map(|(_, array)| array).collect())
    }
}

fn kind(name: &str) -> DataType {
    match name {
        "op" => DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
        "path" => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        "run" | "pid" | "tid" | "file" => DataType::UInt32,
        "offset" => DataType::Int64,
        "error" => DataType::Int32,
        _ => DataType::UInt64,
    }
}

fn plain<T: ArrowPrimitiveType>(values: &[T::Native]) -> PrimitiveArray<T> {
    PrimitiveArray::new(ScalarBuffer::from(values.to_vec()), None)
}

fn nullable<T: ArrowPrimitiveType>(column: &Nullable<T::Native>) -> PrimitiveArray<T> {
    let nulls = column.known().map(NullBuffer::from);
    PrimitiveArray::new(ScalarBuffer::from(column.values().to_vec()), nulls)
}
