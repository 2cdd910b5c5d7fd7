//! Imports Parquet tables of other programs: pandas, polars, DuckDB. A column means what a column
//! of that name means in CSV, or what `--columns` says, and a cell is read as its text would be.

use super::Import;
use super::csv::{self, Rows};
use super::record::Record;
use crate::claims::Column;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::leaf::{Leaf, Values, caught};
use crate::trace::Trace;
use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use ::parquet::schema::types::ColumnDescriptor;
use std::io::Write;
use std::sync::Arc;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 8192;

/// Imports the table of `trace`, which has other columns than a trace.
pub(super) fn import_file(import: &mut Import<'_>, trace: &Trace) -> Result<()> {
    let path = trace.path();
    let header = trace.column_names();
    let (rows, ignored) = csv::bind_table(import, &header, path)?;
    for name in ignored {
        if !import.report.ignored_columns.contains(&name) {
            import.report.ignored_columns.push(name);
        }
    }
    let mut table = Table::open(trace, &header, &rows)?;
    let mut record = Record::default();
    let (mut runs, mut number) = (1, 0);
    while !import.at_limit() && number < trace.rows() {
        let at = (number % BATCH_ROWS as u64) as usize;
        if at == 0 {
            table.next(BATCH_ROWS.min((trace.rows() - number) as usize), trace)?;
        }
        record.fill(|text, column| table.cell(at, column, text), header.len());
        let pushed = match rows.parse(&record, number) {
            Ok(row) => {
                runs = runs.max(row.access.run - rows.first_run() + 1);
                import.push_row(&row, |import| named(import, &row.name, trace))
            }
            Err(wrong) => Err(Error::new(ErrorKind::Malformed, path, wrong).at(Place::Row(number))),
        };
        import.forgive(pushed)?;
        number += 1;
        import.tick_at(trace.file_bytes() * number / trace.rows());
    }
    import.add_runs(path, runs);
    Ok(())
}

fn named(import: &mut Import<'_>, name: &str, trace: &Trace) -> Result<crate::FileId> {
    if import.writer.names_are_too_many(import.progress.done + trace.file_bytes()) {
        import.full = true;
        let message = "names take far more memory than the file has bytes: check what it holds";
        return Err(Error::new(ErrorKind::Limit, trace.path(), message));
    }
    Ok(import.writer.file(name))
}

/// The columns that are read, and their values in some rows.
struct Table {
    /// By column; those that are not read are absent.
    columns: Vec<Option<(Source, Cells)>>,
    names: Vec<String>,
}

/// A column, by how Parquet stores it.
enum Source {
    I32(Leaf<Int32Type>, bool),
    I64(Leaf<Int64Type>, bool),
    F32(Leaf<FloatType>),
    F64(Leaf<DoubleType>),
    Text(Leaf<ByteArrayType>),
}

/// Values of some rows of a column.
enum Cells {
    None,
    Whole(Vec<Option<i128>>),
    Real(Vec<Option<f64>>),
    Text(Values<ByteArray>),
}

impl Table {
    fn open(trace: &Trace, header: &[String], rows: &Rows) -> Result<Self> {
        let mut leaves = vec![None; header.len()];
        for column in rows.columns().filter(|&column| column < header.len()) {
            leaves[column] = trace.leaf(&header[column])?;
        }
        let schema = trace.schema();
        let is_text = |leaf: usize| schema.column(leaf).physical_type() == Type::BYTE_ARRAY;
        let kind = |leaf: usize| if is_text(leaf) { Column::Path } else { Column::Number };
        let read: Vec<_> = leaves.iter().flatten().map(|&leaf| (leaf, kind(leaf))).collect();
        let pages =
            Arc::new(caught(|| trace.source_of(&read)).map_err(|why| trace.undecodable(why))?);
        let open = |(leaf, name): (Option<usize>, &String)| match leaf {
            None => Ok(None),
            Some(leaf) => {
                let (pages, parquet) = (pages.clone(), trace.parquet().clone());
                let found = schema.column(leaf);
                let signed = !is_unsigned(&found);
                let source = match found.physical_type() {
                    Type::INT32 => Source::I32(Leaf::new(pages, parquet, leaf), signed),
                    Type::INT64 => Source::I64(Leaf::new(pages, parquet, leaf), signed),
                    Type::FLOAT => Source::F32(Leaf::new(pages, parquet, leaf)),
                    Type::DOUBLE => Source::F64(Leaf::new(pages, parquet, leaf)),
                    Type::BYTE_ARRAY => Source::Text(Leaf::new(pages, parquet, leaf)),
                    other => {
                        let message =
                            format!("its column `{name}` holds {other}, expected numbers or text");
                        return Err(Error::new(ErrorKind::Schema, trace.path(), message));
                    }
                };
                Ok(Some((source, Cells::None)))
            }
        };
        let columns = leaves.iter().copied().zip(header).map(open).collect::<Result<_>>()?;
        Ok(Table { columns, names: header.to_vec() })
    }

    /// Reads the next rows of each column.
    fn next(&mut self, rows: usize, trace: &Trace) -> Result<()> {
        for (column, name) in self.columns.iter_mut().zip(&self.names) {
            let Some((source, cells)) = column else { continue };
            let damaged = |why| {
                let message = format!("its column `{name}` is damaged");
                Error::corrupt(trace.path(), message).because(why)
            };
            *cells = caught(|| source.next(rows)).map_err(damaged)?;
        }
        Ok(())
    }

    /// Adds the text of a cell: nothing if it has no value.
    fn cell(&self, at: usize, column: usize, text: &mut Vec<u8>) {
        let Some((_, cells)) = &self.columns[column] else { return };
        let written = match cells {
            Cells::None => Ok(()),
            Cells::Whole(all) => all[at].map_or(Ok(()), |value| write!(text, "{value}")),
            Cells::Real(all) => match all[at] {
                Some(value) if !value.is_nan() => write!(text, "{value}"),
                _ => Ok(()),
            },
            Cells::Text(all) if all.known.as_ref().is_none_or(|known| known[at]) => {
                text.write_all(all.values[at].data())
            }
            Cells::Text(_) => Ok(()),
        };
        debug_assert!(written.is_ok(), "a vector takes all");
    }
}

impl Source {
    fn next(&mut self, rows: usize) -> ::parquet::errors::Result<Cells> {
        Ok(match self {
            Source::I32(leaf, true) => whole(leaf.next(rows)?, i128::from),
            Source::I32(leaf, false) => whole(leaf.next(rows)?, |it| i128::from(it as u32)),
            Source::I64(leaf, true) => whole(leaf.next(rows)?, i128::from),
            Source::I64(leaf, false) => whole(leaf.next(rows)?, |it| i128::from(it as u64)),
            Source::F32(leaf) => Cells::Real(known(leaf.next(rows)?, f64::from)),
            Source::F64(leaf) => Cells::Real(known(leaf.next(rows)?, |it| it)),
            Source::Text(leaf) => Cells::Text(leaf.next(rows)?),
        })
    }
}

fn whole<T: Copy>(values: Values<T>, wide: impl Fn(T) -> i128) -> Cells {
    Cells::Whole(known(values, wide))
}

/// The values of the rows that have one.
fn known<T: Copy, U>(values: Values<T>, convert: impl Fn(T) -> U) -> Vec<Option<U>> {
    let Values { values, known } = values;
    let is_known = |at: usize| known.as_ref().is_none_or(|known| known[at]);
    let cell = |(at, value): (usize, &T)| is_known(at).then(|| convert(*value));
    values.iter().enumerate().map(cell).collect()
}

fn is_unsigned(column: &ColumnDescriptor) -> bool {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(kind)), _) => !kind.is_signed,
        (_, kind) => matches!(
            kind,
            ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        ),
    }
}
