//! `Requests`: traces as a cache sees them, read once for several simulations.

use crate::arguments::{ReadingOptions, Size, resolved};
use crate::curve::{self, Sample};
use crate::job;
use crate::simulate;
use crate::table::Table;
use pyo3::prelude::*;
use seekless::sim::{self, Options, Plan};
use std::path::PathBuf;
use std::sync::Arc;

/// The requests of traces, in memory.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct Requests(Arc<sim::Requests>);

#[pymethods]
impl Requests {
    #[new]
    #[pyo3(signature = (traces, reading, progress=None))]
    fn new(
        py: Python<'_>,
        traces: Vec<PathBuf>,
        reading: ReadingOptions,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let reading = reading.reading()?;
        let read = job::wait(py, progress, move |tick| {
            Ok(Arc::new(reading.read(&traces, &mut tick.progress())?))
        })?;
        Ok(Self(read))
    }

    /// The figures of each policy at each capacity, as `simulate` gives them.
    fn simulate(
        &self,
        py: Python<'_>,
        policies: Vec<String>,
        capacities: Vec<Size>,
    ) -> PyResult<Table> {
        let capacities = capacities.iter().map(Size::capacities).collect::<Result<Vec<_>, _>>()?;
        let plan = Plan { policies, capacities, options: Options::default() };
        let requests = self.0.clone();
        let rows = job::wait(py, None, move |tick| simulate::kept(&requests, &plan, tick))?;
        Ok(simulate::table(&rows))
    }

    /// A sampled curve of each policy at these capacities.
    fn sampled(
        &self,
        py: Python<'_>,
        policies: Vec<String>,
        capacities: Vec<Size>,
        sample: Sample,
        seed: u64,
    ) -> PyResult<Table> {
        curve::check(Some(sample), false, &policies)?;
        let capacities = capacities.iter().map(Size::capacities).collect::<Result<Vec<_>, _>>()?;
        let requests = self.0.clone();
        job::wait(py, None, move |tick| {
            let sizes = resolved(&capacities, &requests.totals())?;
            curve::of_each(&requests, &policies, &sizes, (Some(sample), false, seed), tick)
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
