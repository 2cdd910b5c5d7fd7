//! The order `best`: several candidates are made, each is judged on runs that it was not made from,
//! and the one that loads fastest is made again from all runs.
//!
//! Name, recent and greedy are among the candidates. So `best` is worse than they are only where
//! the next run is unlike the runs at hand. Where no candidate gains anything, files lie by name.

use super::files::Files;
use super::judge::{Judge, Loadings};
use crate::error::Result;
use rayon::prelude::*;
use seekless_device::{Costs, DeviceSpec};
use seekless_policy::eviction::Id;
use seekless_policy::ordering::{Best, ByName, Greedy, Ordering, Recent};

/// Most runs that are left out in turn.
const FOLDS_MAX: usize = 4;

/// Judging stops when so many files have been laid out for one candidate.
const FILES_LAID_OUT_MAX: usize = 1_000_000;

/// The candidate that needs no runs. Another one must gain so much over it.
const NAME: &str = "name";
const GAIN_PERMILLE_MIN: u128 = 10;
/// So many standard errors, too, if enough runs were left out for these to say something. Of two
/// runs each is loaded from an order of one other run alone, which is a poor image of the order of
/// both; and two figures have a standard error of any size by chance.
const ERRORS_MIN: f64 = 2.0;
const RUNS_FOR_ERRORS: usize = 3;

/// Chooses an order by simulation.
pub(crate) struct Choice<'a> {
    pub(crate) files: &'a Files,
    pub(crate) device: &'a DeviceSpec,
    pub(crate) cache: Option<u64>,
}

/// An order, and the name of the candidate that it is.
pub(crate) struct Chosen {
    pub(crate) order: Vec<Id>,
    pub(crate) name: &'static str,
}

/// The sizes that matter to an order.
enum Sizes {
    Content,
    Coded,
}

/// A name for people, and the way to make the order.
type Candidate = (&'static str, Box<dyn Ordering + Send + Sync>, Sizes);

impl Choice<'_> {
    /// The best order for `runs`, oldest first.
    pub(crate) fn choose(&self, runs: &[&[Id]]) -> Result<Chosen> {
        let costs = self.device.costs();
        let candidates = self.candidates();
        let best = match self.folds(runs.len()) {
            0 => 0,
            folds => self.fastest(&candidates, runs, folds, &costs)?,
        };
        let candidate = &candidates[best];
        Ok(Chosen { order: self.made(candidate, runs, &costs), name: candidate.0 })
    }

    /// What a candidate makes of `runs`. A cache holds contents, an archive coded bytes.
    fn made(&self, (_, ordering, sizes): &Candidate, runs: &[&[Id]], costs: &Costs) -> Vec<Id> {
        let bytes = match sizes {
            Sizes::Content => &self.files.bytes,
            Sizes::Coded => &self.files.coded,
        };
        ordering.order(runs, bytes, costs)
    }

    /// How many of the newest runs are left out in turn: none if there is but one run.
    fn folds(&self, runs: usize) -> usize {
        match runs {
            0 | 1 => 0,
            _ => runs.min(folds_max(self.files.bytes.len())),
        }
    }

    fn candidates(&self) -> Vec<Candidate> {
        let best = |any_size| Box::new(Best { kin: self.files.kin.clone(), any_size });
        vec![
            ("groups by run, small files apart", best(false), Sizes::Coded),
            ("groups by run", best(true), Sizes::Coded),
            ("recent", Box::new(Recent), Sizes::Coded),
            (NAME, Box::new(ByName), Sizes::Coded),
            ("greedy", Box::new(Greedy { cache: self.cache }), Sizes::Content),
        ]
    }

    fn fastest(
        &self,
        candidates: &[Candidate],
        runs: &[&[Id]],
        folds: usize,
        costs: &Costs,
    ) -> Result<usize> {
        let judge = Judge::new(self.files, self.device);
        let held_out: Vec<usize> = (runs.len() - folds..runs.len()).collect();
        let judged = |candidate: &Candidate| -> Result<Vec<Loadings>> {
            let one = |&out: &usize| {
                let order = self.made(candidate, &without(runs, out), costs);
                judge.judge(&order, runs[out])
            };
            held_out.iter().map(one).collect()
        };
        let loadings = candidates.par_iter().map(judged).collect::<Result<Vec<_>>>()?;
        let sums: Vec<Loadings> = loadings.iter().map(|runs| sum(runs)).collect();
        let first = sums[0];
        let rank = |sum: &Loadings| (relative(sum, &first), work(sum, costs));
        let best = (0..sums.len()).min_by_key(|&at| rank(&sums[at])).unwrap_or(0);
        let by_name = candidates.iter().position(|(name, ..)| *name == NAME).unwrap_or(best);
        let rank = [best, by_name].map(|at| rank(&sums[at]));
        let is_better = gains(rank[0], rank[1]) && !by_chance(&loadings[best], &loadings[by_name]);
        Ok(if is_better { best } else { by_name })
    }
}

fn sum(runs: &[Loadings]) -> Loadings {
    let mut sum = Loadings::default();
    runs.iter().for_each(|run| sum += *run);
    sum
}

/// Whether one order may be faster than another on these runs by chance: the mean of what it gains,
/// run by run, is within so many of its standard errors.
fn by_chance(one: &[Loadings], other: &[Loadings]) -> bool {
    let gain = |(one, other): (&Loadings, &Loadings)| {
        let part = |one: u64, other: u64| 1.0 - one as f64 / other.max(1) as f64;
        part(one.listed.time_ns, other.listed.time_ns)
            + part(one.on_demand.time_ns, other.on_demand.time_ns)
    };
    let gains: Vec<f64> = one.iter().zip(other).map(gain).collect();
    let count = gains.len() as f64;
    if gains.len() < RUNS_FOR_ERRORS {
        return false;
    }
    let mean = gains.iter().sum::<f64>() / count;
    let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
    mean < ERRORS_MIN * (squares / (count - 1.0) / count).sqrt()
}

/// Whether one rank is enough below another, in time or, where that is too short to tell, in work.
fn gains(least: (u128, u128), other: (u128, u128)) -> bool {
    let below = |least: u128, other: u128| least * 1000 < other * (1000 - GAIN_PERMILLE_MIN);
    below(least.0, other.0) || (least.0 == other.0 && below(least.1, other.1))
}

/// How many runs may be left out in turn, each with an order of its own, for so many files.
pub(crate) fn folds_max(files: usize) -> usize {
    (FILES_LAID_OUT_MAX / files.max(1)).clamp(1, FOLDS_MAX)
}

/// All runs but that of number `out`.
pub(crate) fn without<'a>(runs: &[&'a [Id]], out: usize) -> Vec<&'a [Id]> {
    let kept = runs.iter().enumerate().filter(|(number, _)| *number != out);
    kept.map(|(_, run)| *run).collect()
}

/// The time of both ways of loading, each in millionths of the first candidate's.
fn relative(sum: &Loadings, first: &Loadings) -> u128 {
    let part = |time: u64, of: u64| u128::from(time) * 1_000_000 / u128::from(of.max(1));
    part(sum.listed.time_ns, first.listed.time_ns)
        + part(sum.on_demand.time_ns, first.on_demand.time_ns)
}

/// What requests and bytes cost one by one, for devices that serve so few of them in no time.
fn work(sum: &Loadings, costs: &Costs) -> u128 {
    let of = |requests: u64, bytes: u64| {
        u128::from(requests) * u128::from(costs.gap_bytes()) + u128::from(bytes)
    };
    of(sum.listed.requests, sum.listed.bytes) + of(sum.on_demand.requests, sum.on_demand.bytes)
}
