//! `simulate`: hits, reads and writes of caches of several policies and sizes.

use crate::arguments::{ReadingOptions, Size, resolved};
use crate::failure::Failure;
use crate::job::{self, Tick};
use crate::own::Maker;
use crate::rows::{Cell, batch, columns};
use crate::table::Table;
use pyo3::prelude::*;
use seekless::policy::eviction::POLICIES;
use seekless::sim::{
    Capacities, Figures, Opened, Options, Plan, Reading, Requests, Windows, WriteBack,
    simulate_cases,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Every policy: its name, what it does, and who published it.
#[pyfunction]
pub(crate) fn policies() -> Vec<(&'static str, &'static str, &'static str)> {
    POLICIES.iter().map(|about| (about.name, about.what, about.source)).collect()
}

/// A policy's name, or a class of Python.
#[derive(FromPyObject)]
pub(crate) enum Policy {
    #[pyo3(transparent)]
    Named(String),
    #[pyo3(transparent)]
    Own(Py<PyAny>),
}

/// The figures of a case, and how long its simulation took.
pub(crate) type Row = (Figures, Duration);

/// The figures of each policy at each capacity: of each capacity, all policies.
#[pyfunction]
#[pyo3(signature = (traces, policies, capacities, reading, write_back="evict", fetch_on_write=false, changed="hit", progress=None))]
#[expect(clippy::too_many_arguments, reason = "the package names and explains them")]
pub(crate) fn simulate(
    py: Python<'_>,
    traces: Vec<PathBuf>,
    policies: Vec<Policy>,
    capacities: Vec<Size>,
    reading: ReadingOptions,
    write_back: &str,
    fetch_on_write: bool,
    changed: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    let write_back: WriteBack = write_back.parse().map_err(Failure::from)?;
    let reading = Reading { times: write_back.needs_times(), ..reading.reading()? };
    let changed = changed.parse().map_err(Failure::from)?;
    let options = Options { changed, fetch_on_write, write_back, ..Options::default() };
    let capacities = capacities.iter().map(Size::capacities).collect::<Result<Vec<_>, _>>()?;
    let mut names = Vec::new();
    let mut own = Vec::new();
    for (place, policy) in policies.into_iter().enumerate() {
        match policy {
            Policy::Named(name) => names.push(name),
            Policy::Own(class) => own.push((place, Maker::new(py, class)?)),
        }
    }
    if own.is_empty() {
        let plan = Plan { policies: names, capacities, options };
        let rows = job::wait(py, progress, move |tick| named(&reading, &traces, &plan, tick))?;
        return Ok(table(&rows));
    }
    let work = (names, capacities, options);
    beside_own(py, reading, traces, work, own, progress)
}

/// Simulates policies of ours: a long trace while it is read, others from memory.
fn named(
    reading: &Reading,
    traces: &[PathBuf],
    plan: &Plan,
    tick: &Tick,
) -> Result<Vec<Row>, Failure> {
    match reading.open(traces, plan, Windows::default(), &mut tick.progress())? {
        Opened::Long(stream) => Ok(stream.simulate(&mut tick.progress())?.1),
        Opened::Kept(requests) => kept(&requests, plan, tick),
    }
}

/// Simulates policies of ours from memory.
pub(crate) fn kept(requests: &Requests, plan: &Plan, tick: &Tick) -> Result<Vec<Row>, Failure> {
    let cases = plan.cases(&requests.totals())?;
    Ok(simulate_cases(requests, &cases, &plan.options, &mut tick.progress())?)
}

/// Simulates policies of ours, then those of Python, which need this thread.
fn beside_own(
    py: Python<'_>,
    reading: Reading,
    traces: Vec<PathBuf>,
    (names, capacities, options): (Vec<String>, Vec<Capacities>, Options),
    own: Vec<(usize, Maker)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    let each = names.len() + own.len();
    let plan = Plan { policies: names, capacities, options };
    let (requests, plan, mut rows) = job::wait(py, progress, move |tick| {
        let requests = reading.read(&traces, &mut tick.progress())?;
        let rows = kept(&requests, &plan, tick)?;
        Ok((requests, plan, rows))
    })?;
    // Of each capacity, all policies in the order in which they were named.
    let sizes = resolved(&plan.capacities, &requests.totals())?;
    for (at, capacity) in sizes.into_iter().enumerate() {
        for (place, maker) in &own {
            let started = Instant::now();
            let figures = maker.simulate(py, &requests, capacity, &plan.options)?;
            rows.insert(at * each + place, (figures, started.elapsed()));
        }
    }
    Ok(table(&rows))
}

/// The rows as a table, with the columns of the command's `--json`.
pub(crate) fn table(rows: &[Row]) -> Table {
    let figures: Vec<&Figures> = rows.iter().map(|(figures, _)| figures).collect();
    let seconds = || rows.iter().map(|(_, time)| time.as_secs_f64());
    let mut columns = columns![figures; policy, variant];
    columns.push(("unit", Cell::column(figures.iter().map(|row| row.unit.to_string()).collect())));
    columns.extend(columns![figures;
        capacity, capacity_units, requests, reads, writes, hits, misses, read_misses, write_misses,
        compulsory_misses, bypassed, device_reads, write_backs, flushed, writes_through, held_up,
        write_back_runs, dirty_at_end, cost, hit_bytes, miss_bytes, compulsory_bytes, write_back_bytes,
        hit_ratio, miss_ratio, non_compulsory_miss_ratio, byte_miss_ratio,
    ]);
    let rates = figures.iter().zip(seconds());
    let rates = rates.map(|(row, seconds)| row.requests as f64 / seconds.max(1e-9));
    columns.push(("seconds", Cell::column(seconds().collect())));
    columns.push(("requests_per_second", Cell::column(rates.collect())));
    batch(columns).into()
}
