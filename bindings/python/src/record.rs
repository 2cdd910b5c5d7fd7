//! `record`: runs a command under the recorder.

use crate::failure::Failure;
use crate::job;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use seekless::record::{self as recorder, Options};
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a command, and records what it and its children read. Returns figures of the recording.
#[pyfunction]
#[pyo3(signature = (command, output, only, exclude, special, force))]
pub(crate) fn record<'py>(
    py: Python<'py>,
    command: Vec<OsString>,
    output: PathBuf,
    only: Vec<String>,
    exclude: Vec<String>,
    special: bool,
    force: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(PyValueError::new_err("no program to record: give it and its arguments"));
    };
    let options = Options { special, force, only, exclude, ..Options::default() };
    let recorded = job::alone(py, || Ok(recorder::record(program, arguments, &output, &options)?))?;
    if let Some(error) = recorded.unfinished {
        return Err(Failure::from(error).at(&output).into());
    }
    let (seen, figures) = (recorded.summary, PyDict::new(py));
    figures.set_item("status", recorded.status.code())?;
    figures.set_item("duration_ns", recorded.duration_ns)?;
    macro_rules! say {
        ($($field:ident),*) => { $(figures.set_item(stringify!($field), seen.$field)?;)* };
    }
    say!(
        accesses,
        opens,
        failed_opens,
        bytes_read,
        bytes_written,
        loads,
        files,
        processes,
        lost,
        left_out,
        blind_spots
    );
    Ok(figures)
}
