//! `simulate(device=...)`: caches and readaheads in time.

use crate::arguments::{ReadingOptions, Size};
use crate::failure::Failure;
use crate::job;
use crate::rows::{batch, columns};
use crate::table::Table;
use pyo3::prelude::*;
use seekless::device::units::{parse_bytes, parse_duration};
use seekless::device::{DeviceModel, Queue};
use seekless::policy::readahead::Options;
use seekless::sim::timed::{self, Pacing, Rules, TimedCase, TimedFigures, Workload};
use seekless::tools::device::named;
use std::path::PathBuf;

/// What a simulation in time adds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TimeOptions {
    device: String,
    readahead: Vec<String>,
    readahead_max: String,
    readahead_lead: String,
    think: String,
    arrivals: bool,
}

/// The figures of each capacity, policy and readahead.
#[pyfunction]
#[pyo3(signature = (traces, policies, capacities, reading, time, progress=None))]
pub(crate) fn simulate_timed(
    py: Python<'_>,
    traces: Vec<PathBuf>,
    policies: Vec<String>,
    capacities: Vec<Size>,
    reading: ReadingOptions,
    time: TimeOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    let reading = reading.reading()?;
    let capacities = capacities.iter().map(Size::capacities).collect::<Result<Vec<_>, _>>()?;
    let device = named(&time.device).map_err(Failure::from)?;
    let wrong = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let bytes = parse_bytes(&time.readahead_max).map_err(|error| wrong(&error))?;
    let lead = time.readahead_lead.parse().map_err(|error| wrong(&error))?;
    let think_ns = parse_duration(&time.think).map_err(|error| wrong(&error))?;
    let options = Options { lead, ..Options::with_max_bytes(bytes) };
    let pacing = if time.arrivals { Pacing::Arrivals } else { Pacing::Closed };
    let rules = Rules { pacing, think_ns, ..Rules::default() };
    let readaheads = time.readahead;
    job::wait(py, progress, move |tick| {
        let memory = reading.memory_bytes_max;
        let workload = Workload::read(&traces, &reading.import, memory, &mut tick.progress())?;
        let pages = workload.distinct_pages();
        let each = capacities.iter().map(|sizes| sizes.resolve_pages(pages));
        let sizes = each.collect::<Result<Vec<_>, _>>()?.concat();
        let mut cases = Vec::new();
        for capacity in sizes {
            for policy in &policies {
                cases.extend(readaheads.iter().map(|readahead| TimedCase {
                    policy: policy.clone(),
                    capacity: Some(capacity),
                    readahead: readahead.clone(),
                    options,
                }));
            }
        }
        let model =
            || -> Box<dyn DeviceModel> { Box::new(Queue::new(device.model(), timed::HOST_QUEUE)) };
        let rows = timed::each(&workload, &cases, &rules, &model, &mut tick.progress())?;
        Ok(table(&rows))
    })
}

fn table(rows: &[TimedFigures]) -> Table {
    batch(columns![rows;
        policy, capacity, readahead, readahead_max_pages, readahead_lead, accesses, pages_demanded,
        pages_ready, pages_fetched, pages_prefetched, pages_used, pages_late, pages_wasted,
        pages_evicted_unused, pages_unused_at_end, device_reads, device_writes, device_bytes,
        device_busy_seconds, queueing_seconds, wait_seconds, seconds, bytes_delivered,
        bytes_per_second, amplification,
    ])
    .into()
}
