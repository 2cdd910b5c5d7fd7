//! Tables of other packages, for the importer: each cell as the text that it would be in CSV.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use seekless::trace::import;
use std::io::Write;

/// A table, read from its first row to its last.
pub(crate) struct Foreign {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The batch that is being read.
    current: usize,
    /// The number of its first row.
    first_row: u64,
    cells: Vec<Cells>,
}

impl Foreign {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self, String> {
        let mut foreign = Self { schema, batches, current: 0, first_row: 0, cells: Vec::new() };
        foreign.cells = foreign.cells_of_current()?;
        Ok(foreign)
    }

    fn cells_of_current(&self) -> Result<Vec<Cells>, String> {
        let columns = self.batches.get(self.current).map_or(&[][..], RecordBatch::columns);
        columns.iter().map(Cells::of).collect()
    }

    /// Goes on to the batch that has this row; rows are read in their order.
    fn advance_to(&mut self, row: u64) -> Result<(), String> {
        while let Some(batch) = self.batches.get(self.current) {
            if row < self.first_row + batch.num_rows() as u64 {
                return Ok(());
            }
            self.first_row += batch.num_rows() as u64;
            self.current += 1;
            self.cells = self.cells_of_current()?;
        }
        Err("has fewer rows than the table".to_owned())
    }
}

impl import::Table for Foreign {
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn metadata(&self) -> Vec<(String, String)> {
        self.schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    fn rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    fn cell(&mut self, row: u64, column: usize, text: &mut Vec<u8>) -> Result<(), String> {
        self.advance_to(row)?;
        let cells = self.cells.get(column).ok_or("is missing in a part of the table")?;
        cells.write((row - self.first_row) as usize, text);
        Ok(())
    }
}

/// The cells of a column of one batch.
struct Cells {
    /// Where nulls are, which read as empty text.
    array: ArrayRef,
    values: Values,
}

enum Values {
    Whole(Vec<i64>),
    Unsigned(Vec<u64>),
    Real(Vec<f64>),
    /// As a function of the array gives it.
    Text(fn(&ArrayRef, usize) -> &str),
    /// The number of each row's word.
    Words(Vec<usize>, Box<Cells>),
    /// A type that no field of a trace has: an error only if the column is read.
    Other,
}

impl Cells {
    fn of(array: &ArrayRef) -> Result<Self, String> {
        let values = match array.data_type() {
            DataType::Int8 => Values::Whole(widened::<Int8Type, _>(array)),
            DataType::Int16 => Values::Whole(widened::<Int16Type, _>(array)),
            DataType::Int32 => Values::Whole(widened::<Int32Type, _>(array)),
            DataType::Int64 => Values::Whole(widened::<Int64Type, _>(array)),
            DataType::UInt8 => Values::Unsigned(widened::<UInt8Type, _>(array)),
            DataType::UInt16 => Values::Unsigned(widened::<UInt16Type, _>(array)),
            DataType::UInt32 => Values::Unsigned(widened::<UInt32Type, _>(array)),
            DataType::UInt64 => Values::Unsigned(widened::<UInt64Type, _>(array)),
            DataType::Float64 => Values::Real(widened::<Float64Type, _>(array)),
            DataType::Float32 => Values::Real(widened::<Float32Type, _>(array)),
            DataType::Utf8 => Values::Text(|array, row| array.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Values::Text(|array, row| array.as_string::<i64>().value(row)),
            DataType::Utf8View => Values::Text(|array, row| array.as_string_view().value(row)),
            DataType::Dictionary(_, _) => words(array)?,
            _ => Values::Other,
        };
        Ok(Self { array: array.clone(), values })
    }

    /// Adds the text of a cell: nothing for a null.
    fn write(&self, row: usize, text: &mut Vec<u8>) {
        if self.array.is_null(row) {
            return;
        }
        // Writing to a vector cannot fail.
        let _ = match &self.values {
            Values::Whole(values) => write!(text, "{}", values[row]),
            Values::Unsigned(values) => write!(text, "{}", values[row]),
            Values::Real(values) if values[row].is_nan() => Ok(()), // pandas' null
            Values::Real(values) => write!(text, "{}", values[row]),
            Values::Text(get) => text.write_all(get(&self.array, row).as_bytes()),
            Values::Words(keys, words) => {
                words.write(keys[row], text);
                Ok(())
            }
            Values::Other => write!(text, "a value of type {}", self.array.data_type()),
        };
    }
}

fn widened<S: ArrowPrimitiveType, T: From<S::Native>>(array: &ArrayRef) -> Vec<T> {
    array.as_primitive::<S>().values().iter().map(|&value| T::from(value)).collect()
}

fn words(array: &ArrayRef) -> Result<Values, String> {
    let dictionary = array.as_any_dictionary();
    let words = Cells::of(dictionary.values())?;
    if words.array.is_empty() && array.null_count() < array.len() {
        return Err("holds a key, but its dictionary is empty".to_owned());
    }
    // Keys of nulls are arbitrary, and not looked up.
    let keys = if words.array.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    match keys
        .iter()
        .enumerate()
        .find(|&(row, key)| array.is_valid(row) && *key >= words.array.len())
    {
        Some((_, key)) => Err(format!("holds the key {key}, which its dictionary has not")),
        None => Ok(Values::Words(keys, Box::new(words))),
    }
}
