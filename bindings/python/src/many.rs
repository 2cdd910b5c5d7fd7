//! `LoadMany`: the files of a list, as they arrive.

use crate::buffer;
use crate::fork::OfProcess;
use crate::job::{self, lock};
use crate::only::Only;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use seekless::io;
use std::sync::Mutex;

/// Yields `(name, content)` in the order of arrival. Reading runs ahead by a window.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct LoadMany {
    loads: OfProcess<Mutex<io::LoadMany>>,
    names: Vec<String>,
    source: Only,
}

impl LoadMany {
    pub(crate) fn new(store: io::Store, source: Only, names: Vec<String>) -> Self {
        let loads = OfProcess::new(Mutex::new(store.load_many(names.iter().map(String::as_str))));
        Self { loads, names, source }
    }
}

#[pymethods]
impl LoadMany {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(&str, Bound<'py, PyAny>)>> {
        let Some(loads) = self.loads.get() else {
            let message = "these loads were begun before a fork: begin them in the child";
            return Err(PyRuntimeError::new_err(message));
        };
        py.check_signals()?;
        match job::short(py, || Ok(lock(loads).next()))? {
            Some((position, content)) => {
                let content = content.map_err(|error| self.source.failure(error))?;
                let content = buffer::view(py, content)?;
                Ok(Some((&self.names[position], content)))
            }
            None => Ok(None),
        }
    }

    fn __length_hint__(&self) -> usize {
        self.loads.get().map_or(0, |loads| lock(loads).len())
    }
}
