//! Imports tables of other programs: pandas, polars, DuckDB. A column means what a column of that
//! name means in CSV, and a cell is read as its text would be, so that there is one rule for both.

use super::csv::Rows;
use super::fields::bind_header;
use super::record::Record;
use super::{KNOWN_NAMES, Report};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::metadata::Metadata;
use crate::{Access, RunInfo, Writer};
use seekless_sys::output::Destination;
use std::collections::BTreeMap;
use std::path::Path;

/// Rows between two calls of the progress.
const TICK_ROWS: u64 = 1 << 16;

/// A table of another program.
pub trait Table {
    /// The names of its columns.
    fn columns(&self) -> Vec<String>;

    /// What it says about itself, by the keys of a trace's metadata; may be empty.
    fn metadata(&self) -> Vec<(String, String)>;

    /// How many rows it has.
    fn rows(&self) -> u64;

    /// Adds the text of a cell to `text`: nothing if it has no value.
    ///
    /// # Errors
    /// The cell holds neither a number nor text, or is damaged. The error says what it holds.
    fn cell(&mut self, row: u64, column: usize, text: &mut Vec<u8>) -> Result<(), String>;
}

/// Imports a table as the trace `out`. `name` stands for the table in messages. Columns are named
/// as those of CSV. In a table with the columns of a trace, `path` names the file and the number in
/// `file` is made anew. What the table's metadata say of kind and runs holds.
///
/// # Errors
/// The table has no path column, a column has a type that is neither numbers nor text, or a cell
/// does not hold what its column should. The error names the row.
pub fn table(
    table: &mut dyn Table,
    name: &Path,
    out: impl Into<Destination>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report> {
    let columns = table.columns();
    let (rows, ignored_columns) = meaning(&columns, name)?;
    let said = table.metadata();
    let known = Metadata::from_pairs(said.iter().map(|(key, value)| (&**key, &**value)))
        .map_err(|wrong| Error::new(ErrorKind::Schema, name, wrong))?;
    let mut writer = Writer::create(out, known)?;
    let (total, mut runs) = (table.rows(), 1);
    let (mut record, mut left_out) = (Record::default(), BTreeMap::new());
    for number in 0..total {
        let mut wrong = None;
        record.fill(
            |text, column| {
                if let Err(found) = table.cell(number, column, text) {
                    wrong.get_or_insert_with(|| format!("column `{}` {found}", columns[column]));
                }
            },
            columns.len(),
        );
        let parsed = match wrong {
            Some(wrong) => Err(wrong),
            None => rows.parse(&record, number),
        };
        let row = parsed.map_err(|wrong| {
            Error::new(ErrorKind::Malformed, name, wrong).at(Place::Row(number))
        })?;
        let metadata = writer.metadata_mut();
        metadata.lost = metadata.lost.saturating_add(row.lost);
        runs = runs.max(row.access.run + 1);
        if let Some(kind) = row.left_out {
            *left_out.entry(kind).or_default() += 1;
        } else {
            let file = writer.file(&row.name);
            writer.push(Access { file, ..row.access })?;
        }
        if (number + 1).is_multiple_of(TICK_ROWS) {
            progress(number + 1, total);
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
        left_out,
        ignored_columns,
        ..Report::default()
    })
}

/// What the columns hold, and the names of those that a trace has no place for.
fn meaning(columns: &[String], name: &Path) -> Result<(Rows, Vec<String>)> {
    let mut header = columns.to_vec();
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
