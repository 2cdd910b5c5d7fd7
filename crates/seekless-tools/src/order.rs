//! `seekless order`: computes the order of a program's files in an archive from its runs, and rates
//! that order.
//!
//! Traces and the list of files are joined by name. Ids number the files in the order that is used
//! for untraced ones. [`ordering`](seekless_policy::layout::ordering) makes the order, and
//! [`score`](seekless_sim::score) rates it.

mod choice;
mod files;
mod judge;
mod naming;
pub(crate) mod newest;
mod report;
mod rivals;
mod schedule;
mod shared;
mod trials;
mod universe;
mod write;

pub use judge::{Loading, Loadings};
pub(crate) use naming::learner;
pub use naming::{Learn, Naming};
pub use report::{Group, Report, RunRow, Totals};
pub use rivals::{Rival, Rivals, RunLoadings, Shuffle};
pub use write::write;

use crate::{Error, ErrorKind, Result};
use choice::{BEST, asked, made_by};
pub(crate) use files::Files;
use rayon::prelude::*;
use report::row;
use seekless_device::DeviceSpec;
use seekless_job::roots::Roots;
use seekless_policy::eviction::Id;
use seekless_policy::layout::ordering::{by_method, seeks_min};
use seekless_sim::score::{BLOCK_BYTES, Placement};
use std::borrow::Cow;
use std::path::PathBuf;
use trials::{Trial, Trials};
use universe::Universe;
pub(crate) use universe::{Run, check_sizes, read_runs};

/// How to order, and what to rate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The files of the archive (see [`FileList`](seekless_trace::FileList)). `None` takes the
    /// files that the traces load.
    pub files: Option<PathBuf>,
    /// One of [`METHODS`](seekless_policy::layout::ordering::METHODS).
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
    /// The device from which the archive will be read.
    pub device: DeviceSpec,
    /// Also compare all methods on the device ([`Report::rivals`]).
    pub rivals: bool,
    /// How to find out which files name which, for the method `best`.
    pub references: Option<Naming>,
}

impl Default for Options {
    /// The best order for a slow cloud volume ([`DEVICE`]), an unlimited cache, blocks of 128 KiB.
    fn default() -> Self {
        Self {
            files: None,
            method: BEST.to_owned(),
            cache: None,
            leave_one_out: false,
            score: Vec::new(),
            roots: Roots::default(),
            block_bytes: BLOCK_BYTES,
            device: DEVICE,
            rivals: false,
            references: None,
        }
    }
}

/// The device for which orders are made unless another is named: a slow cloud volume.
pub const DEVICE: DeviceSpec = DeviceSpec::Volume { iops: 500, bytes_per_second: 150_000_000 };

/// An order and its ratings.
#[derive(Clone, Debug)]
pub struct Ordered {
    /// Every file of the archive, once. Names are escaped as in a trace.
    pub order: Vec<String>,
    /// What the order costs each run.
    pub report: Report,
    /// Where each of the runs that made the order goes in it.
    pub courses: Vec<Course>,
}

/// Where a run's first loads find their files: the first byte of each, sizes as they are.
#[derive(Clone, Debug)]
pub struct Course {
    /// The run.
    pub run: String,
    /// In the order.
    pub ordered: Vec<u64>,
    /// With the files by name.
    pub by_name: Vec<u64>,
}

/// Makes an order from `traces` (the last run of the last is the newest) and rates it.
///
/// # Errors
/// A trace or the list cannot be read; the method is unknown; there is no file to order;
/// `leave_one_out` is set for a single run; or those of [`Options::references`].
pub fn order(traces: &[PathBuf], options: &Options) -> Result<Ordered> {
    order_telling(traces, options, &|_, _| {})
}

/// As [`order`]. Calls `progress`, from several threads, with how many of the orders that are
/// compared have been judged, and how many there are.
///
/// # Errors
/// As [`order`].
pub fn order_telling(
    traces: &[PathBuf],
    options: &Options,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Ordered> {
    known(&options.method)?;
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
    let names = universe.names.iter().map(String::as_str);
    let files = Files::new(names, universe.bytes.clone());
    let files = files.naming(options.references.as_ref(), &universe.names)?;
    let number = |runs: &[Run]| runs.iter().map(|run| Numbered::new(&universe, run)).collect();
    let (trained_on, scored): (Vec<_>, Vec<_>) = (number(&runs), number(&scored));
    let loads: Vec<&[Id]> = trained_on.iter().map(|run| run.ids.as_slice()).collect();
    let trials = Trials::new(&files, &options.device, options.cache, &loads);
    let task = Task { trials: &trials, universe: &universe, options };
    trials.make(&task.needed(), progress)?;
    let (ids, made_as) = made_by(&options.method, &trials, None)?;
    let report = task.report(&ids, &trained_on, &scored)?;
    let report = Report { moved, made_as: made_as.map(str::to_owned), ..report };
    let courses = task.courses(&ids, &trained_on);
    let order = ids.into_iter().map(|id| universe.names[id as usize].clone()).collect();
    Ok(Ordered { order, report, courses })
}

/// The names of `universe` (path and bytes, in any order) in the order that `method` makes for the
/// runs of `traces` and for [`DEVICE`]. Files that no trace names are sorted by the bytes of their
/// paths.
///
/// # Errors
/// As [`order`].
pub fn order_names(
    traces: &[PathBuf],
    universe: &[(String, u64)],
    method: &str,
    cache: Option<u64>,
) -> Result<Vec<String>> {
    known(method)?;
    let universe = Universe::from_files(universe.to_vec());
    check_sizes(universe.files())?;
    let runs = read_runs(traces, &Roots::default())?;
    let ids: Vec<Vec<Id>> = runs.iter().map(|run| universe.number(run).0).collect();
    let slices: Vec<&[Id]> = ids.iter().map(Vec::as_slice).collect();
    let names = universe.names.iter().map(String::as_str);
    let files = Files::new(names, universe.bytes.clone());
    let order = by_name(method, &files, &slices, &DEVICE, cache)?.0;
    Ok(order.into_iter().map(|id| universe.names[id as usize].clone()).collect())
}

/// The order of `files` that the method of this name makes of `runs`, oldest first, for `device`.
/// With it, for `best`, which of its candidates that is.
pub(crate) fn by_name(
    method: &str,
    files: &Files,
    runs: &[&[Id]],
    device: &DeviceSpec,
    cache: Option<u64>,
) -> Result<(Vec<Id>, Option<String>)> {
    let (order, name) = made_by(method, &Trials::new(files, device, cache, runs), None)?;
    Ok((order, name.map(str::to_owned)))
}

/// Fails if there is no method of this name.
pub(crate) fn known(method: &str) -> Result<()> {
    by_method(method, None).map(drop).map_err(unknown)
}

fn unknown(error: seekless_policy::Error) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string())
}

/// A run with the universe's ids.
struct Numbered {
    label: String,
    ids: Vec<Id>,
    /// Names that are not in the universe.
    unlisted: Vec<String>,
}

impl Numbered {
    fn new(universe: &Universe, run: &Run) -> Self {
        let (ids, unlisted) = universe.number(run);
        Numbered { label: run.label.clone(), ids, unlisted }
    }
}

struct Task<'a> {
    trials: &'a Trials<'a>,
    universe: &'a Universe,
    options: &'a Options,
}

impl Task<'_> {
    /// The trials of the whole job.
    fn needed(&self) -> Vec<Trial> {
        let Options { method, rivals, leave_one_out, .. } = self.options;
        let mut needed = Vec::new();
        if method == BEST {
            needed.extend(asked(self.trials, None));
            let outs = 0..if *leave_one_out { self.trials.runs.len() } else { 0 };
            needed.extend(outs.flat_map(|out| asked(self.trials, Some(out))));
        }
        if *rivals {
            needed.extend(rivals::needed(self.trials));
        }
        needed
    }

    fn report(&self, order: &[Id], trained: &[Numbered], scored: &[Numbered]) -> Result<Report> {
        let Options { method, cache, block_bytes, .. } = self.options;
        let mut unlisted: Vec<&String> =
            trained.iter().chain(scored).flat_map(|run| &run.unlisted).collect();
        unlisted.sort_unstable();
        unlisted.dedup();
        Ok(Report {
            method: method.clone(),
            made_as: None,
            cache_bytes: *cache,
            block_bytes: *block_bytes,
            files: self.universe.names.len() as u64,
            bytes: self.universe.bytes.iter().sum(),
            files_of_unknown_size: self.universe.unknown_sizes,
            unlisted_files: unlisted.len() as u64,
            unlisted_example: unlisted.first().map(ToString::to_string),
            moved: None,
            trained: self.rate(order, trained),
            seeks_min: self.seeks_min(trained),
            held_out: match self.options.leave_one_out {
                true => Some(self.leave_one_out(trained)?),
                false => None,
            },
            scored: (!scored.is_empty()).then(|| self.rate(order, scored)),
            rivals: self.rivals(trained)?,
        })
    }

    fn courses(&self, order: &[Id], runs: &[Numbered]) -> Vec<Course> {
        let by_name: Vec<Id> = (0..order.len() as Id).collect();
        let [ordered, by_name] =
            [order, &by_name].map(|order| Placement::new(order, &self.universe.bytes));
        let course = |run: &Numbered| Course {
            run: run.label.clone(),
            ordered: ordered.course(&run.ids),
            by_name: by_name.course(&run.ids),
        };
        runs.iter().map(course).collect()
    }

    fn seeks_min(&self, runs: &[Numbered]) -> u64 {
        let runs: Vec<&[Id]> = runs.iter().map(|run| run.ids.as_slice()).collect();
        seeks_min(&runs, self.universe.bytes.len())
    }

    fn rivals(&self, runs: &[Numbered]) -> Result<Option<Rivals>> {
        if !self.options.rivals {
            return Ok(None);
        }
        let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
        rivals::compare(self.trials, &labels, &self.options.device)
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

    fn leave_one_out(&self, runs: &[Numbered]) -> Result<Group> {
        let rate = |(number, run): (usize, &Numbered)| {
            let order = made_by(&self.options.method, self.trials, Some(number))?.0;
            let placement = Placement::new(&order, &self.universe.bytes);
            Ok(row(&run.label, placement.score(&run.ids, self.options.block_bytes)))
        };
        let rows = runs.par_iter().enumerate().map(rate).collect::<Result<Vec<_>>>()?;
        Ok(Group::new(rows))
    }
}

#[cfg(test)]
mod tests;
