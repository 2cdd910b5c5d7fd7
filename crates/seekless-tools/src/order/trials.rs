//! Candidates for an order, each made without one run or two and judged on a run that was left out.
//!
//! The choice of an order and the table of all methods need many of the same trials. Each is made
//! once, on all cores, and the same order is judged on the same run once, whichever candidates
//! made it.

use super::files::Files;
use super::judge::{Judge, Loadings};
use rayon::prelude::*;
use seekless_device::{Costs, DeviceSpec};
use seekless_job::Result;
use seekless_policy::eviction::Id;
use seekless_policy::foresight::references::References;
use seekless_policy::layout::ordering::{Best, ByName, Greedy, Ordering, Recent};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most runs that are left out in turn.
const FOLDS_MAX: usize = 4;

/// Judging stops when this many files have been laid out for one candidate.
const FILES_LAID_OUT_MAX: usize = 1_000_000;

/// Is given how many trials are done, of how many.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// The candidate that needs no runs.
pub(super) const NAME: &str = "name";

/// One or two runs by number, the lower first; one run stands twice.
type Pair = [usize; 2];

/// A run that judges an order which was made without it, and perhaps without another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Trial {
    without: Pair,
    run: usize,
}

impl Trial {
    /// `run` is left out, and so is `other` if there is one.
    pub(super) fn new(run: usize, other: Option<usize>) -> Self {
        let other = other.unwrap_or(run);
        Trial { without: [run.min(other), run.max(other)], run }
    }
}

/// The sizes that matter to an order: a cache holds contents, an archive coded bytes.
enum Sizes {
    Content,
    Coded,
}

/// A way to make an order.
struct Candidate {
    /// For people.
    name: &'static str,
    method: Method,
    sizes: Sizes,
}

enum Method {
    /// [`Best`], with what the runs that make the order show of which files name which.
    Groups {
        any_size: bool,
    },
    Plain(Box<dyn Ordering + Send + Sync>),
}

/// All trials of some files and runs on one device.
pub(crate) struct Trials<'a> {
    pub(super) files: &'a Files,
    /// Oldest first.
    pub(super) runs: &'a [&'a [Id]],
    pub(super) costs: Costs,
    pub(super) judge: Judge<'a>,
    candidates: Vec<Candidate>,
    /// A figure for each candidate.
    known: Mutex<HashMap<Trial, Vec<Loadings>>>,
    /// By the content of the order, and the run.
    judged: Mutex<HashMap<(u64, usize), Loadings>>,
}

impl<'a> Trials<'a> {
    /// None yet. `cache` is what greedy assumes in front of the archive.
    pub(crate) fn new(
        files: &'a Files,
        device: &DeviceSpec,
        cache: Option<u64>,
        runs: &'a [&'a [Id]],
    ) -> Self {
        Trials {
            files,
            runs,
            costs: device.costs(),
            judge: Judge::new(files, device),
            candidates: candidates(cache),
            known: Mutex::default(),
            judged: Mutex::default(),
        }
    }

    /// How many runs may be left out in turn, each with an order of its own.
    pub(super) fn folds_max(&self) -> usize {
        folds_max(self.files.bytes.len())
    }

    /// What each candidate is called.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.candidates.iter().map(|candidate| candidate.name)
    }

    /// The order that the candidate of this number makes of all runs but those of `without`.
    pub(super) fn made(&self, candidate: usize, without: &[usize]) -> Vec<Id> {
        let kept = self.kept(without);
        let references = match self.candidates[candidate].method {
            Method::Groups { .. } => self.learned(&kept),
            Method::Plain(_) => References::default(),
        };
        self.made_of(candidate, &kept, &references)
    }

    /// All runs but those of `without`.
    fn kept(&self, without: &[usize]) -> Vec<&'a [Id]> {
        let kept = (0..).zip(self.runs).filter(|(number, _)| !without.contains(number));
        kept.map(|(_, run)| *run).collect()
    }

    /// Which files name which, as far as these runs show it.
    fn learned(&self, runs: &[&[Id]]) -> References {
        self.files.learn.as_ref().map(|learn| learn(runs)).unwrap_or_default()
    }

    /// The order that the candidate of this number makes of these runs, which show `references`.
    fn made_of(&self, candidate: usize, runs: &[&[Id]], references: &References) -> Vec<Id> {
        let Candidate { method, sizes, .. } = &self.candidates[candidate];
        let bytes = match sizes {
            Sizes::Content => &self.files.bytes,
            Sizes::Coded => &self.files.coded,
        };
        match *method {
            Method::Groups { any_size } => {
                let (kin, references) = (self.files.kin.clone(), references.clone());
                Best { kin, any_size, references }.order(runs, bytes, &self.costs)
            }
            Method::Plain(ref ordering) => ordering.order(runs, bytes, &self.costs),
        }
    }

    /// What each candidate's order takes in this trial.
    pub(super) fn of(&self, trial: Trial) -> Result<Vec<Loadings>> {
        if let Some(known) = lock(&self.known).get(&trial) {
            return Ok(known.clone());
        }
        self.make(&[trial], &|_, _| {})?;
        Ok(lock(&self.known)[&trial].clone())
    }

    /// Makes those of these trials that were not made yet, on all cores. An order is made once for
    /// all runs that judge it, and not kept; so are the references of each set of runs.
    pub(super) fn make(&self, trials: &[Trial], progress: Progress<'_>) -> Result<()> {
        let mut by_order: BTreeMap<Pair, BTreeSet<usize>> = BTreeMap::new();
        for trial in trials.iter().filter(|trial| !lock(&self.known).contains_key(trial)) {
            by_order.entry(trial.without).or_default().insert(trial.run);
        }
        let (done, all) = (AtomicU64::new(0), (by_order.len() * self.candidates.len()) as u64);
        let judged = |(&without, by): (&Pair, &BTreeSet<usize>)| {
            let kept = self.kept(&without);
            let references = self.learned(&kept);
            let judged = |candidate| {
                let order = self.made_of(candidate, &kept, &references);
                let content = content(&order);
                let loadings = by.iter().map(|&run| self.judged(&order, content, run)).collect();
                progress(1 + done.fetch_add(1, Relaxed), all);
                loadings
            };
            let numbers = (0..self.candidates.len()).into_par_iter();
            numbers.map(judged).collect::<Result<Vec<Vec<Loadings>>>>()
        };
        let judged = by_order.par_iter().map(judged).collect::<Result<Vec<_>>>()?;
        let mut known = lock(&self.known);
        for ((&without, by), candidates) in by_order.iter().zip(judged) {
            for (at, &run) in by.iter().enumerate() {
                let loadings = candidates.iter().map(|by_run| by_run[at]).collect();
                known.insert(Trial { without, run }, loadings);
            }
        }
        Ok(())
    }

    fn judged(&self, order: &[Id], content: u64, run: usize) -> Result<Loadings> {
        let key = (content, run);
        if let Some(known) = lock(&self.judged).get(&key) {
            return Ok(*known);
        }
        let loadings = self.judge.judge(order, self.runs[run])?;
        lock(&self.judged).insert(key, loadings);
        Ok(loadings)
    }
}

fn candidates(cache: Option<u64>) -> Vec<Candidate> {
    let groups = |any_size| Method::Groups { any_size };
    let coded = |name, method| Candidate { name, method, sizes: Sizes::Coded };
    let greedy = Method::Plain(Box::new(Greedy { cache }));
    vec![
        coded("groups by run, small files apart", groups(false)),
        coded("groups by run", groups(true)),
        coded("recent", Method::Plain(Box::new(Recent))),
        coded(NAME, Method::Plain(Box::new(ByName))),
        Candidate { name: "greedy", method: greedy, sizes: Sizes::Content },
    ]
}

fn content(order: &[Id]) -> u64 {
    let mut hasher = DefaultHasher::new();
    order.hash(&mut hasher);
    hasher.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many runs may be left out in turn, each with an order of its own, for this many files.
pub(crate) fn folds_max(files: usize) -> usize {
    (FILES_LAID_OUT_MAX / files.max(1)).clamp(1, FOLDS_MAX)
}
