//! Imports Arrow tables of other programs: pandas, polars, DuckDB. A column means what a column of
//! that name means in CSV, and a cell is read as its text would be, so that there is one rule for
//! both.

use super::csv::Rows;
use super::fields::bind_header;
use super::record::Record;
use super::{KNOWN_NAMES, Report};
use crate::column::{Wrong, integers};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::metadata::Metadata;
use crate::{Access, RunInfo, Writer};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, SchemaRef};
use seekless_sys::output::Destination;
use std::io::Write;
use std::path::Path;

/// Rows between two calls of the progress.
const TICK_ROWS: u64 = 1 << 16;

/// Imports the batches of a table as the trace `out`. `name` stands for the table in messages.
/// Columns are named as those of CSV. In a table with the columns of a trace, `path` names the file
/// and the number in `file` is made anew. What the schema's metadata say of kind and runs holds.
///
/// # Errors
/// The table has no path column, a column has a type that is neither numbers nor text, or a cell
/// does not hold what its column should. The error names the row.
pub fn table(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    name: &Path,
    out: impl Into<Destination>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report> {
    let (rows, ignored_columns) = meaning(schema, name)?;
    let known = Metadata::from_pairs(
        schema.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str())),
    )
    .map_err(|wrong| Error::new(ErrorKind::Schema, name, wrong))?;
    let mut writer = Writer::create(out, known)?;
    let total = batches.iter().map(|batch| batch.num_rows() as u64).sum();
    let (mut number, mut runs) = (0, 1);
    let mut record = Record::default();
    for batch in batches {
        let cells = cells(batch, name, number)?;
        for row in 0..batch.num_rows() {
            let wrong = |wrong: String| {
                Error::new(ErrorKind::Malformed, name, wrong).at(Place::Row(number))
            };
            record.fill(|text, column| cells[column].write(row, text), cells.len());
            let (access, path, lost) = rows.parse(&record, number).map_err(wrong)?;
            let metadata = writer.metadata_mut();
            metadata.lost = metadata.lost.saturating_add(lost);
            runs = runs.max(access.run + 1);
            let file = writer.file(&path);
            writer.push(Access { file, ..access })?;
            number += 1;
            if number.is_multiple_of(TICK_ROWS) {
                progress(number, total);
            }
        }
    }
    name_runs(&mut writer, name, runs);
    let summary = writer.finish()?;
    progress(total, total);
    let runs = runs.max(1);
    Ok(Report {
        rows: summary.rows,
        runs,
        files: summary.files,
        ignored_columns,
        ..Report::default()
    })
}

/// What the columns hold, and the names of those that a trace has no place for.
fn meaning(schema: &SchemaRef, name: &Path) -> Result<(Rows, Vec<String>)> {
    let mut header: Vec<String> =
        schema.fields().iter().map(|field| field.name().clone()).collect();
    // In CSV `file` is a name; in a trace it is the number of the file that `path` names.
    let is = |wanted: &'static str| move |name: &String| name.eq_ignore_ascii_case(wanted);
    if header.iter().any(is("path"))
        && let Some(number) = header.iter_mut().find(|name| is("file")(name))
    {
        number.clear();
    }
    let (bindings, mut ignored) = bind_header(&header).map_err(|wrong| {
        let wrong = wrong.replace("header", "schema");
        let message = format!("is no table of accesses: {wrong}. Known names are {KNOWN_NAMES}");
        Error::new(ErrorKind::NotATrace, name, message)
    })?;
    ignored.retain(|name| !name.is_empty());
    Ok((Rows::new(bindings), ignored))
}

/// Says of each run that nothing is known of but its number, where it came from.
fn name_runs(writer: &mut Writer, name: &Path, runs: u32) {
    let known = &mut writer.metadata_mut().runs;
    let run = RunInfo { source: name.display().to_string(), ..RunInfo::default() };
    known.resize(known.len().max(runs as usize), run);
}

fn cells(batch: &RecordBatch, name: &Path, first_row: u64) -> Result<Vec<Cells>> {
    let columns = batch.columns().iter().zip(batch.schema_ref().fields());
    let cells = |(array, field): (&ArrayRef, &arrow_schema::FieldRef)| {
        Cells::of(array).map_err(|wrong| {
            let message = format!("its column `{}` {wrong}", field.name());
            Error::new(ErrorKind::Schema, name, message).at(Place::Row(first_row))
        })
    };
    columns.map(cells).collect()
}

/// The cells of a column of one batch.
struct Cells {
    /// Where nulls are, which read as empty text.
    array: ArrayRef,
    values: Values,
}

enum Values {
    Whole(ScalarBuffer<i64>),
    Unsigned(ScalarBuffer<u64>),
    Real(Vec<f64>),
    /// As a function of the array gives it.
    Text(fn(&ArrayRef, usize) -> &str),
    /// The number of each row's word.
    Words(ScalarBuffer<i64>, Box<Cells>),
    /// A type that no field of a trace has: an error only if the column is read.
    Other,
}

impl Cells {
    fn of(array: &ArrayRef) -> Result<Self, Wrong> {
        let values = match array.data_type() {
            DataType::UInt64 => Values::Unsigned(integers::<UInt64Type>(array)?),
            kind if kind.is_integer() => Values::Whole(integers::<Int64Type>(array)?),
            DataType::Float64 => {
                Values::Real(array.as_primitive::<Float64Type>().values().to_vec())
            }
            DataType::Float32 => {
                let values = array.as_primitive::<Float32Type>().values();
                Values::Real(values.iter().map(|&value| f64::from(value)).collect())
            }
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
                words.write(keys[row] as usize, text);
                Ok(())
            }
            Values::Other => write!(text, "a value of type {}", self.array.data_type()),
        };
    }
}

fn words(array: &ArrayRef) -> Result<Values, Wrong> {
    let dictionary = array.as_any_dictionary();
    let keys: ArrayRef = arrow_array::make_array(dictionary.keys().to_data());
    let (keys, words) = (integers::<Int64Type>(&keys)?, Cells::of(dictionary.values())?);
    let known = 0..words.array.len() as i64;
    match (0..array.len()).find(|&row| array.is_valid(row) && !known.contains(&keys[row])) {
        Some(row) => Err(format!("holds the key {}, which its dictionary has not", keys[row])),
        None => Ok(Values::Words(keys, Box::new(words))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Trace};
    use arrow_array::{Float64Array, StringArray, TimestampSecondArray, UInt64Array};
    use std::sync::Arc;

    fn imported(columns: Vec<(&str, ArrayRef)>) -> Result<Vec<Access>> {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("t.parquet");
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        table(
            &batch.schema(),
            std::slice::from_ref(&batch),
            Path::new("table"),
            &out,
            &mut |_, _| {},
        )?;
        Trace::open(&out)?.accesses()?.collect()
    }

    #[test]
    fn columns_mean_what_they_mean_in_csv() {
        let rows = imported(vec![
            ("path", Arc::new(StringArray::from(vec!["b", "a"]))),
            ("time_s", Arc::new(Float64Array::from(vec![2.5, 1.0]))),
            ("size", Arc::new(UInt64Array::from(vec![Some(7), None]))),
        ])
        .unwrap();
        let times = rows.iter().map(|row| row.time_ns).collect::<Vec<_>>();
        assert_eq!(times, [1_000_000_000, 2_500_000_000]);
        assert!(rows.iter().all(|row| row.op == Op::Load));
        assert_eq!(rows.iter().map(|row| row.bytes).collect::<Vec<_>>(), [0, 7]);
    }

    #[test]
    fn a_traces_own_table_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("1.parquet"), folder.path().join("2.parquet"));
        let mut writer = Writer::create(&first, Metadata::default()).unwrap();
        for number in 0..5 {
            let file = writer.file(&format!("f{}", number % 3));
            let row = Access { time_ns: number, bytes: 9, ..Access::new(Op::Read, file) };
            writer.push(Access { latency_ns: (number > 2).then_some(5), ..row }).unwrap();
        }
        writer.finish().unwrap();
        let trace = Trace::open(&first).unwrap();
        let batches: Vec<_> = trace.batches().unwrap().collect::<Result<_>>().unwrap();
        let schema = batches[0].schema();
        table(&schema, &batches, Path::new("table"), &second, &mut |_, _| {}).unwrap();
        let again = Trace::open(&second).unwrap();
        let rows = |trace: &Trace| trace.accesses().unwrap().collect::<Result<Vec<_>>>().unwrap();
        assert_eq!(rows(&trace), rows(&again));
        assert_eq!(trace.file_names().unwrap(), again.file_names().unwrap());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let path: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let time: ArrayRef = Arc::new(TimestampSecondArray::from(vec![1]));
        let error = imported(vec![("path", path), ("time_s", time.clone())]).unwrap_err();
        assert!(error.to_string().contains("Timestamp"), "{error}");
        let error = imported(vec![("when", time)]).unwrap_err();
        assert!(error.to_string().contains("names no `path`"), "{error}");
    }
}
