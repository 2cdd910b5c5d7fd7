//! Traces: as tables, summed up, and imported from files and tables of others.

use crate::accesses::Accesses;
use crate::arguments::ImportOptions;
use crate::capsule;
use crate::failure::{Class, Failure};
use crate::foreign::Foreign;
use crate::job;
use crate::table::Table;
use pyo3::prelude::*;
use seekless::sys::output::Destination;
use seekless::trace::{self, import, summary};
use std::path::{Path, PathBuf};

/// Rows of a batch. Programs that take tables have a cost for each batch and column.
const BATCH_ROWS: usize = 1 << 17;

/// All rows of a trace as a table.
#[pyfunction]
#[pyo3(signature = (path, reading, progress=None))]
pub(crate) fn trace_table(
    py: Python<'_>,
    path: PathBuf,
    reading: ImportOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    job::wait(py, progress, move |tick| {
        let trace = trace::open_with(&path, &reading.options()?)?;
        let (mut progress, rows) = (tick.progress(), trace.rows());
        let accesses = Accesses::new(&trace)?;
        let mut all = Vec::new();
        let mut done = 0;
        for batch in trace.scan_by(trace.columns()?, BATCH_ROWS)? {
            let batch = batch?;
            done += batch.rows() as u64;
            let table = accesses.table(&batch);
            all.push(table.map_err(|error| Failure::new(Class::Internal, error.to_string()))?);
            progress(done, rows);
        }
        Ok(Table::new(accesses.schema().clone(), all))
    })
}

/// A trace in figures, as JSON.
#[pyfunction]
#[pyo3(signature = (path, reading, progress=None))]
pub(crate) fn trace_info(
    py: Python<'_>,
    path: PathBuf,
    reading: ImportOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    job::wait(py, progress, move |tick| {
        let trace = trace::open_with(&path, &reading.options()?)?;
        json(&summary::summarise(&trace, &mut tick.progress())?)
    })
}

/// Imports files of other formats as the trace `out`; returns the report as JSON.
#[pyfunction]
#[pyo3(signature = (files, out, reading, force=false, progress=None))]
pub(crate) fn import_files(
    py: Python<'_>,
    files: Vec<PathBuf>,
    out: PathBuf,
    reading: ImportOptions,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    job::wait(py, progress, move |tick| {
        let options = reading.options()?;
        let out = Destination::new(out).replacing(force);
        json(&import::any(&files, out, &options, &mut tick.progress())?)
    })
}

/// Imports a table of another package as the trace `out`; returns the report as JSON.
#[pyfunction]
#[pyo3(signature = (table, name, out, force=false, progress=None))]
pub(crate) fn import_table(
    py: Python<'_>,
    table: &Bound<'_, PyAny>,
    name: String,
    out: PathBuf,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (schema, batches) = capsule::import(table)?;
    job::wait(py, progress, move |tick| {
        let out = Destination::new(out).replacing(force);
        let mut progress = tick.progress();
        let unreadable = |wrong| Failure::new(Class::Corrupt, format!("the table: {wrong}"));
        let mut table = Foreign::new(schema, batches).map_err(unreadable)?;
        json(&import::table(&mut table, Path::new(&name), out, &mut progress)?)
    })
}

pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::new(Class::Internal, error.to_string()))
}
