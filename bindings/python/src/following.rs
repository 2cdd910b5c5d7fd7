//! `Following`: the files of a list, read ahead of the program.

use crate::buffer;
use crate::fork::OfProcess;
use crate::job;
use crate::only::Only;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use seekless::io;

/// Gives the contents of files that `Store.follow` reads ahead. Any thread may take them.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct Following {
    following: OfProcess<io::Following>,
    source: Only,
}

impl Following {
    pub(crate) fn new(following: io::Following, source: Only) -> Self {
        Self { following: OfProcess::new(following), source }
    }
}

#[pymethods]
impl Following {
    /// The contents of files, in the order of the names.
    fn take<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyList>> {
        let Some(following) = self.following.get() else {
            let message = "this list was begun before a fork: begin it in the child";
            return Err(PyRuntimeError::new_err(message));
        };
        py.check_signals()?;
        let take = || following.take(&names).into_iter().collect::<Result<Vec<_>, _>>();
        let contents = job::short(py, || take().map_err(|error| self.source.failure(error)))?;
        let views = contents.into_iter().map(|content| buffer::view(py, content));
        PyList::new(py, views.collect::<PyResult<Vec<_>>>()?)
    }
}
