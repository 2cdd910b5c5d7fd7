//! The order `best`: several candidates are made, each is judged on runs that it was not made from,
//! and the one that loads fastest is made again from all runs.
//!
//! Name, recent and greedy are among the candidates. So `best` is worse than they are only where
//! the next run is unlike the runs at hand. Where no candidate gains anything, files lie by name.

use super::judge::Loadings;
use super::trials::{NAME, Trial, Trials};
use seekless_device::Costs;
use seekless_job::Result;
use seekless_policy::eviction::Id;

/// The least gain of a candidate over the one that needs no runs.
const GAIN_PERMILLE_MIN: u128 = 10;
/// The gain must also exceed this many standard errors, once at least [`RUNS_FOR_ERRORS`] runs were
/// left out. With two, each order is made from a single run, and the error of two figures is
/// meaningless.
const ERRORS_MIN: f64 = 2.0;
const RUNS_FOR_ERRORS: usize = 3;

/// The default method.
pub(super) const BEST: &str = "best";

/// The order that `method` makes of all runs but `out`. With it, for `best`, the name of the
/// candidate that it is. Of a name that is no method's, `best` is made: see
/// [`known`](super::known).
pub(crate) fn made_by(
    method: &str,
    trials: &Trials<'_>,
    out: Option<usize>,
) -> Result<(Vec<Id>, Option<&'static str>)> {
    let (candidate, name) = match candidate_of(method, trials) {
        Some(candidate) => (candidate, None),
        None => {
            let best = fastest(trials, out)?;
            (best, trials.names().nth(best))
        }
    };
    Ok((trials.made(candidate, out.as_slice()), name))
}

/// The number of the candidate that this method is; `best` may be any.
pub(super) fn candidate_of(method: &str, trials: &Trials<'_>) -> Option<usize> {
    trials.names().position(|name| name == method)
}

/// What [`fastest`] asks, for all runs but `out`: each of the newest runs is left out in turn. None
/// is if there is but one run.
pub(super) fn asked(trials: &Trials<'_>, out: Option<usize>) -> Vec<Trial> {
    let runs: Vec<usize> = (0..trials.runs.len()).filter(|&run| Some(run) != out).collect();
    let folds = match runs.len() {
        0 | 1 => 0,
        count => count.min(trials.folds_max()),
    };
    runs[runs.len() - folds..].iter().map(|&run| Trial::new(run, out)).collect()
}

/// The number of the candidate that is fastest for all runs but `out`.
pub(super) fn fastest(trials: &Trials<'_>, out: Option<usize>) -> Result<usize> {
    let asked = asked(trials, out);
    if asked.is_empty() {
        return Ok(0);
    }
    trials.make(&asked, &|_, _| {})?;
    let by_run = asked.iter().map(|&trial| trials.of(trial)).collect::<Result<Vec<_>>>()?;
    let of = |candidate: usize| by_run.iter().map(|run| run[candidate]).collect();
    let loadings: Vec<Vec<Loadings>> = (0..trials.names().count()).map(of).collect();
    let sums: Vec<Loadings> = loadings.iter().map(|runs| sum(runs)).collect();
    let first = sums[0];
    let rank = |sum: &Loadings| (relative(sum, &first), work(sum, &trials.costs));
    let best = (0..sums.len()).min_by_key(|&at| rank(&sums[at])).unwrap_or(0);
    let by_name = trials.names().position(|name| name == NAME).unwrap_or(best);
    let rank = [best, by_name].map(|at| rank(&sums[at]));
    let is_better = gains(rank[0], rank[1]) && !by_chance(&loadings[best], &loadings[by_name]);
    Ok(if is_better { best } else { by_name })
}

fn sum(runs: &[Loadings]) -> Loadings {
    let mut sum = Loadings::default();
    runs.iter().for_each(|run| sum += *run);
    sum
}

/// Whether one order may be faster than another on these runs by chance: the mean of its gains, run
/// by run, is within [`ERRORS_MIN`] of its standard errors.
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

/// Whether one rank is enough below another, in time or, where the times are equal, in work.
fn gains(least: (u128, u128), other: (u128, u128)) -> bool {
    let below = |least: u128, other: u128| least * 1000 < other * (1000 - GAIN_PERMILLE_MIN);
    below(least.0, other.0) || (least.0 == other.0 && below(least.1, other.1))
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
