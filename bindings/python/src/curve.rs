//! `curve`: miss ratios over a range of cache sizes.

use crate::arguments::ReadingOptions;
use crate::failure::Failure;
use crate::job::{self, Tick};
use crate::rows::{Cell, batch};
use crate::table::Table;
use pyo3::prelude::*;
use seekless::sim::Requests;
use seekless::sim::curve::{
    Curve, Method, Point, Sampling, Shards, exact, sampled, shards, shards_while_read, spread,
};
use std::path::PathBuf;

/// How many ids a curve looks at: this share of them, or this number.
#[derive(FromPyObject, Clone, Copy)]
pub(crate) enum Sample {
    #[pyo3(transparent)]
    Ids(u32),
    #[pyo3(transparent)]
    Rate(f64),
}

/// The points of the curve of each policy. `sample` is None for exact curves.
#[pyfunction]
#[pyo3(signature = (traces, policies, reading, points=50, sample=None, stack=false, seed=0, progress=None))]
#[expect(clippy::too_many_arguments, reason = "the package names and explains them")]
pub(crate) fn curve(
    py: Python<'_>,
    traces: Vec<PathBuf>,
    policies: Vec<String>,
    reading: ReadingOptions,
    points: usize,
    sample: Option<Sample>,
    stack: bool,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table> {
    let reading = reading.reading()?;
    check(sample, stack, &policies)?;
    job::wait(py, progress, move |tick| {
        if let (true, Some(Sample::Rate(rate))) = (stack, sample) {
            let sample = Shards { seed, ..Shards::fixed_rate(rate) };
            let told = &mut tick.progress();
            // As long as the trace is of records, it need not fit the memory.
            if let Some(found) = shards_while_read(&reading, &traces, points.max(1), sample, told)?
            {
                return Ok(table(&vec![found; policies.len()]));
            }
        }
        let requests = reading.read(&traces, &mut tick.progress())?;
        let sizes = spread(&requests, points.max(1));
        of_each(&requests, &policies, &sizes, (sample, stack, seed), tick)
    })
}

/// Refuses samples that make no sense.
pub(crate) fn check(
    sample: Option<Sample>,
    stack: bool,
    policies: &[String],
) -> Result<(), Failure> {
    match sample {
        Some(Sample::Ids(ids)) if ids < 2 => {
            return Err(Failure::usage("sample: give at least 2 ids"));
        }
        Some(Sample::Rate(rate)) if !(rate > 0.0 && rate <= 1.0) => {
            let message =
                format!("sample: {rate} is no share of the ids; give one over 0 and at most 1");
            return Err(Failure::usage(message));
        }
        None if stack => return Err(Failure::usage("stack: give a sample, such as 0.01")),
        _ => {}
    }
    if stack && policies.iter().any(|policy| policy != "lru") {
        let message =
            "stack: finds the curve of lru alone; without it, a sample finds that of any policy";
        return Err(Failure::usage(message));
    }
    Ok(())
}

/// The points of the curve of each policy at these sizes.
pub(crate) fn of_each(
    requests: &Requests,
    policies: &[String],
    sizes: &[u64],
    (sample, stack, seed): (Option<Sample>, bool, u64),
    tick: &Tick,
) -> Result<Table, Failure> {
    let mut curves = Vec::new();
    for policy in policies {
        let mut progress = tick.progress();
        curves.push(match sample {
            None => exact(requests, policy, sizes, &mut progress)?,
            Some(sample) if stack => {
                let sample = match sample {
                    Sample::Rate(rate) => Shards::fixed_rate(rate),
                    Sample::Ids(ids) => Shards::fixed_size(ids),
                };
                shards(requests, sizes, Shards { seed, ..sample })
            }
            Some(sample) => {
                let sampling = match sample {
                    Sample::Rate(rate) => Sampling::rate(rate),
                    Sample::Ids(ids) => Sampling::ids(requests, ids),
                };
                let sampling = Sampling { seed, ..sampling };
                sampled(requests, policy, sizes, sampling, &mut progress)?
            }
        });
    }
    Ok(table(&curves))
}

fn table(curves: &[Curve]) -> Table {
    let points: Vec<(&Curve, &Point)> = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(move |point| (curve, point)))
        .collect();
    let text = |of: fn(&Curve) -> &str| {
        Cell::column(points.iter().map(|(curve, _)| of(curve).to_owned()).collect())
    };
    let number =
        |of: fn(&Curve) -> u64| Cell::column(points.iter().map(|(curve, _)| of(curve)).collect());
    let ratio = |of: fn(&Curve, &Point) -> f64| {
        Cell::column(points.iter().map(|(curve, point)| of(curve, point)).collect())
    };
    batch(vec![
        ("policy", text(|curve| &curve.policy)),
        (
            "method",
            text(|curve| match curve.method {
                Method::Exact => "exact",
                Method::Shards => "shards",
                Method::Sampled => "sampled",
            }),
        ),
        ("capacity", Cell::column(points.iter().map(|(_, point)| point.capacity).collect())),
        ("miss_ratio", ratio(|_, point| point.miss_ratio)),
        ("byte_miss_ratio", ratio(|_, point| point.byte_miss_ratio)),
        ("low", ratio(|_, point| point.low)),
        ("high", ratio(|_, point| point.high)),
        ("requests", number(|curve| curve.requests)),
        ("distinct", number(|curve| curve.distinct)),
        ("requests_sampled", number(|curve| curve.requests_sampled)),
        ("rate", ratio(|curve, _| curve.rate)),
        ("confidence", ratio(|curve, _| curve.confidence)),
    ])
    .into()
}
