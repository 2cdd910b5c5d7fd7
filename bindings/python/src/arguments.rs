//! What Python passes, as the facade takes it.

use crate::failure::Failure;
use pyo3::prelude::*;
use seekless::sim::{Capacities, Lines, Reading, Totals, Unit};
use seekless::trace::import::{Format, Options};

/// A number of bytes (for bare ids, of ids), or text such as `64MB`, `10%` or `1MB..64MB*2`.
#[derive(FromPyObject)]
pub(crate) enum Size {
    #[pyo3(transparent)]
    Bytes(u64),
    #[pyo3(transparent)]
    Text(String),
}

impl Size {
    pub(crate) fn capacities(&self) -> Result<Capacities, Failure> {
        match self {
            Self::Bytes(bytes) => Ok(Capacities::of_bytes(*bytes)),
            Self::Text(text) => text.parse().map_err(Failure::from),
        }
    }
}

/// The capacities for requests with these sums, in bytes or ids.
pub(crate) fn resolved(capacities: &[Capacities], totals: &Totals) -> Result<Vec<u64>, Failure> {
    let each = capacities.iter().map(|sizes| sizes.resolve(totals));
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// How files of other formats are read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ImportOptions {
    format: Option<String>,
    columns: Option<String>,
    ops: Option<String>,
    binary: Option<String>,
    delimiter: String,
    header: bool,
    lenient: bool,
}

impl ImportOptions {
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let named = |name: &String| {
            let known = || Format::all().map(Format::name).collect::<Vec<_>>().join(", ");
            let none = || format!("no format is called {name:?}; there are {}", known());
            Format::named(name).ok_or_else(|| Failure::usage(none()))
        };
        let format = self.format.as_ref().map(named).transpose()?;
        let columns = self.columns.as_deref().map(str::parse).transpose();
        let columns = columns.map_err(|wrong| Failure::usage(format!("columns: {wrong}")))?;
        let ops = self.ops.as_deref().map(str::parse).transpose();
        let ops = ops.map_err(|wrong| Failure::usage(format!("ops: {wrong}")))?;
        let layout = self.binary.as_deref().map(str::parse).transpose();
        let layout = layout.map_err(|wrong| Failure::usage(format!("binary: {wrong}")))?;
        let [delimiter] = self.delimiter.as_bytes() else {
            return Err(Failure::usage("delimiter: give one ASCII character"));
        };
        Ok(Options {
            // What has columns is CSV, and what has a layout is records.
            format: format
                .or(columns.as_ref().map(|_| Format::Csv))
                .or(layout.as_ref().map(|_| Format::Binary)),
            lenient: self.lenient,
            columns,
            ops: ops.unwrap_or_default(),
            layout,
            delimiter: *delimiter,
            header: self.header,
            ..Options::default()
        })
    }
}

/// How traces become requests.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadingOptions {
    unit: Option<String>,
    unit_weights: bool,
    lines: Option<String>,
    memory: Option<u64>,
    import: ImportOptions,
}

impl ReadingOptions {
    pub(crate) fn reading(&self) -> Result<Reading, Failure> {
        let unit = self.unit.as_deref().map(str::parse::<Unit>).transpose()?;
        let lines = self.lines.as_deref().map(str::parse::<Lines>).transpose()?;
        Ok(Reading {
            unit,
            lines: lines.unwrap_or_default(),
            unit_weights: self.unit_weights,
            import: self.import.options()?,
            memory_bytes_max: self.memory.or_else(half_of_free),
            ..Reading::default()
        })
    }
}

/// Half of the memory that is free, as the command's limit.
fn half_of_free() -> Option<u64> {
    seekless::sys::memory::free_bytes().map(|free| free / 2)
}

/// The bytes that a text such as `64MiB` names.
#[pyfunction]
pub(crate) fn parse_bytes(text: &str) -> PyResult<u64> {
    let wrong = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    Ok(seekless::device::units::parse_bytes(text).map_err(|error| wrong(&error))?)
}
