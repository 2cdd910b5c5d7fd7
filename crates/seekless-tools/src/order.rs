//! `seekless order`: computes the order of a program's files in an archive from its runs, and rates
//! that order.
//!
//! Traces and the list of files are joined by name. Ids number the files in the order that is used
//! for untraced ones. [`seekless_policy::ordering`] makes the order, and [`seekless_sim::score`]
//! rates it.

mod report;
mod universe;
mod write;

pub use report::{Group, Report, RunRow, Totals};
pub use write::write;

use crate::roots::Roots;
use crate::{Error, ErrorKind, Result};
use rayon::prelude::*;
use report::row;
use seekless_device::Costs;
use seekless_policy::eviction::Id;
use seekless_policy::ordering::{Ordering, by_method};
use seekless_sim::score::{BLOCK_BYTES, Placement};
use std::borrow::Cow;
use std::path::PathBuf;
use universe::Universe;
pub(crate) use universe::{Run, check_sizes, read_runs};

/// How to order, and what to rate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The files of the archive (see [`FileList`](seekless_trace::FileList)). `None` takes the
    /// files that the traces load.
    pub files: Option<PathBuf>,
    /// One of [`METHODS`](seekless_policy::ordering::METHODS).
    pub method: String,
    /// Bytes of the cache between program and archive; `None` is an unlimited cache.
    pub cache: Option<u64>,
    /// Also rate each run on an order that was made from the others.
    pub leave_one_out: bool,
    /// More traces to rate, which the order is not made from.
    pub score: Vec<PathBuf>,
    /// Where traced files are now. The order uses the new names.
    pub roots: Roots,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// What the device charges, for methods that need to know.
    pub costs: Costs,
}

impl Default for Options {
    /// Greedy chains, an unlimited cache, blocks of 128 KiB.
    fn default() -> Self {
        Self {
            files: None,
            method: "greedy".to_owned(),
            cache: None,
            leave_one_out: false,
            score: Vec::new(),
            roots: Roots::default(),
            block_bytes: BLOCK_BYTES,
            costs: COSTS,
        }
    }
}

/// A slow cloud volume. No present method uses it.
pub(crate) const COSTS: Costs =
    Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

/// An order and its ratings.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// Every file of the archive, once. Names are escaped as in a trace.
    pub order: Vec<String>,
    /// What the order costs each run.
    pub report: Report,
}

/// Makes an order from `traces` (the last run of the last is the newest) and rates it.
///
/// # Errors
/// A trace or the list cannot be read; the method is unknown; there is no file to order; or
/// `leave_one_out` is set for a single run.
pub fn order(traces: &[PathBuf], options: &Options) -> Result<Ordered> {
    let ordering = method(&options.method, options.cache)?;
    let mut roots = Cow::Borrowed(&options.roots);
    let mut runs = read_runs(traces, &roots)?;
    let mut moved = None;
    if let Some(list) = &options.files {
        moved = Universe::from_list(list, &runs, false)?.moved(&runs);
    }
    if let Some(root) = &moved {
        roots = Cow::Owned(Roots::new(vec![root.clone()]));
        runs = read_runs(traces, &roots)?;
    }
    let scored = read_runs(&options.score, &roots)?;
    if options.leave_one_out && runs.len() < 2 {
        let why =
            format!("leaving one run out needs at least two, and the traces hold {}", runs.len());
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    let universe = match &options.files {
        Some(list) => Universe::from_list(list, &runs, options.method == "name")?,
        None => Universe::from_runs(&runs),
    };
    if universe.names.is_empty() {
        let why = "there is nothing to order: the traces load no file; see `seekless trace info`";
        return Err(Error::new(ErrorKind::Missing, why));
    }
    check_sizes(universe.files())?;
    let task = Task { ordering: &*ordering, universe: &universe, options };
    let trained_on = task.number(&runs);
    let ids = task.order(&trained_on, None);
    let report = Report { moved, ..task.report(&ids, &trained_on, &task.number(&scored)) };
    let order = ids.into_iter().map(|id| universe.names[id as usize].clone()).collect();
    Ok(Ordered { order, report })
}

/// The names of `universe` (path and bytes, in any order) in the order that `method` makes for the
/// runs of `traces`. Files that no trace names are sorted by the bytes of their paths.
///
/// # Errors
/// As [`order`].
pub fn order_names(
    traces: &[PathBuf],
    universe: &[(String, u64)],
    method: &str,
    cache: Option<u64>,
) -> Result<Vec<String>> {
    let ordering = self::method(method, cache)?;
    let universe = Universe::from_files(universe.to_vec());
    check_sizes(universe.files())?;
    let runs = read_runs(traces, &Roots::default())?;
    let ids: Vec<Vec<Id>> = runs.iter().map(|run| universe.number(run).0).collect();
    let slices: Vec<&[Id]> = ids.iter().map(Vec::as_slice).collect();
    let order = ordering.order(&slices, &universe.bytes, &COSTS);
    Ok(order.into_iter().map(|id| universe.names[id as usize].clone()).collect())
}

/// The ordering with this name.
pub(crate) fn method(name: &str, cache: Option<u64>) -> Result<Box<dyn Ordering + Send + Sync>> {
    by_method(name, cache).map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
}

/// A run with the universe's ids.
struct Numbered {
    label: String,
    ids: Vec<Id>,
    /// Names that are not in the universe.
    unlisted: Vec<String>,
}

struct Task<'a> {
    ordering: &'a (dyn Ordering + Send + Sync),
    universe: &'a Universe,
    options: &'a Options,
}

impl Task<'_> {
    fn number(&self, runs: &[Run]) -> Vec<Numbered> {
        let number = |run: &Run| {
            let (ids, unlisted) = self.universe.number(run);
            Numbered { label: run.label.clone(), ids, unlisted }
        };
        runs.iter().map(number).collect()
    }

    fn order(&self, runs: &[Numbered], without: Option<usize>) -> Vec<Id> {
        let kept = runs.iter().enumerate().filter(|(number, _)| Some(*number) != without);
        let slices: Vec<&[Id]> = kept.map(|(_, run)| run.ids.as_slice()).collect();
        self.ordering.order(&slices, &self.universe.bytes, &self.options.costs)
    }

    fn report(&self, order: &[Id], trained: &[Numbered], scored: &[Numbered]) -> Report {
        let Options { method, cache, block_bytes, .. } = self.options;
        let mut unlisted: Vec<&String> =
            trained.iter().chain(scored).flat_map(|run| &run.unlisted).collect();
        unlisted.sort_unstable();
        unlisted.dedup();
        Report {
            method: method.clone(),
            cache_bytes: *cache,
            block_bytes: *block_bytes,
            files: self.universe.names.len() as u64,
            bytes: self.universe.bytes.iter().sum(),
            files_of_unknown_size: self.universe.unknown_sizes,
            unlisted_files: unlisted.len() as u64,
            unlisted_example: unlisted.first().map(ToString::to_string),
            moved: None,
            trained: self.rate(order, trained),
            held_out: self.options.leave_one_out.then(|| self.leave_one_out(trained)),
            scored: (!scored.is_empty()).then(|| self.rate(order, scored)),
        }
    }

    fn rate(&self, order: &[Id], runs: &[Numbered]) -> Group {
        let placement = Placement::new(order, &self.universe.bytes);
        let block_bytes = self.options.block_bytes;
        Group::new(
            runs.iter()
                .map(|run| row(&run.label, placement.score(&run.ids, block_bytes)))
                .collect(),
        )
    }

    fn leave_one_out(&self, runs: &[Numbered]) -> Group {
        let rate = |(number, run): (usize, &Numbered)| {
            let order = self.order(runs, Some(number));
            let placement = Placement::new(&order, &self.universe.bytes);
            row(&run.label, placement.score(&run.ids, self.options.block_bytes))
        };
        Group::new(runs.par_iter().enumerate().map(rate).collect())
    }
}

#[cfg(test)]
mod tests;
