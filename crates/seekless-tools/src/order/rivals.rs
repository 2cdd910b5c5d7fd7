//! Every method beside the others, on a device, each run loaded from orders made without it.

use super::choice::{asked, candidate_of, fastest};
use super::files::Files;
use super::judge::{Judge, Loading, Loadings};
use super::shared::share_an_order;
use super::trials::{Trial, Trials};
use rayon::prelude::*;
use seekless_device::{DeviceSpec, SplitMix64};
use seekless_job::Result;
use seekless_policy::eviction::Id;
use seekless_policy::layout::ordering::METHODS;
use serde::Serialize;

/// A gain in time that is called none.
const ALIKE_PERCENT: u64 = 3;

/// Loads are shuffled inside groups of this many bytes: several reads, and few enough to stay in
/// the memory of a store until all are loaded.
const GROUP_BYTES: u64 = 8 << 20;

/// How methods compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rivals {
    /// The device, in its own words.
    pub device: String,
    /// A row for each method: `best`, `name`, `recent`, `greedy`.
    pub methods: Vec<Rival>,
    /// What no order can beat: each run's own files alone, in its own order. Sums over the runs.
    pub floor: Loading,
    /// The method with the least time of both ways of loading together.
    pub winner: String,
    /// Whether any two runs load what they have in common in one order, more than by chance. It
    /// depends on the runs alone, whatever the device.
    pub shared_order: bool,
    /// Given if they do not, and shuffling inside groups would gain something on the device.
    pub shuffle: Option<Shuffle>,
}

/// One method, over the runs that were left out in turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rival {
    /// Its name.
    pub method: String,
    /// Sums over the runs.
    #[serde(flatten)]
    pub sums: Loadings,
    /// Each run by itself.
    pub runs: Vec<RunLoadings>,
}

/// A run that was left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunLoadings {
    /// The name of its trace.
    pub run: String,
    /// What it takes.
    #[serde(flatten)]
    pub loadings: Loadings,
}

/// Runs that share files, but no order: a program could shuffle in groups instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shuffle {
    /// Files in a group.
    pub files: u64,
    /// Time of the newest run on demand, in the order `best`.
    pub time_ns: u64,
    /// The same if the run loaded one group after the other, shuffled inside each.
    pub grouped_time_ns: u64,
}

/// The runs that are left out in turn, as many as one more than a choice leaves out. None of fewer
/// than two runs, since no order can then be made without the run that judges it.
fn left_out(trials: &Trials<'_>) -> Vec<usize> {
    match trials.runs.len() {
        0 | 1 => Vec::new(),
        count => (count - count.min(trials.folds_max() + 1)..count).collect(),
    }
}

/// The trials that [`compare`] needs.
pub(super) fn needed(trials: &Trials<'_>) -> Vec<Trial> {
    let of = |out| [vec![Trial::new(out, None)], asked(trials, Some(out))].concat();
    left_out(trials).into_iter().flat_map(of).collect()
}

/// Compares all methods over the runs of `trials`, which `labels` names. `None` for fewer than two.
pub(crate) fn compare(
    trials: &Trials<'_>,
    labels: &[&str],
    device: &DeviceSpec,
) -> Result<Option<Rivals>> {
    let outs = left_out(trials);
    if outs.is_empty() {
        return Ok(None);
    }
    trials.make(&needed(trials), &|_, _| {})?;
    let rival = |&method: &&str| -> Result<Rival> {
        let (mut sums, mut rows) = (Loadings::default(), Vec::new());
        for &out in &outs {
            let candidate = match candidate_of(method, trials) {
                Some(candidate) => candidate,
                None => fastest(trials, Some(out))?,
            };
            let loadings = trials.of(Trial::new(out, None))?[candidate];
            sums += loadings;
            rows.push(RunLoadings { run: labels[out].to_owned(), loadings });
        }
        Ok(Rival { method: method.to_owned(), sums, runs: rows })
    };
    let methods = METHODS.iter().map(rival).collect::<Result<Vec<_>>>()?;
    let floors = outs.par_iter().map(|&out| trials.judge.floor(trials.runs[out]));
    let mut floor = Loading::default();
    floors.collect::<Result<Vec<_>>>()?.into_iter().for_each(|run| floor += run);
    let winner = methods.iter().min_by_key(|rival| rival.time_ns()).map(|rival| &rival.method);
    let winner = winner.cloned().unwrap_or_default();
    let shared_order = share_an_order(trials.runs, trials.files.bytes.len());
    let shuffle = match shared_order {
        true => None,
        false => shuffle(&trials.judge, trials.files, trials.runs, &methods[0])?,
    };
    let device = device.to_string();
    Ok(Some(Rivals { device, methods, floor, winner, shared_order, shuffle }))
}

impl Rival {
    fn time_ns(&self) -> u64 {
        self.sums.listed.time_ns + self.sums.on_demand.time_ns
    }
}

/// What shuffling inside groups would gain for the newest run, if that is at least as much as would
/// be called a difference.
fn shuffle(
    judge: &Judge<'_>,
    files: &Files,
    runs: &[&[Id]],
    best: &Rival,
) -> Result<Option<Shuffle>> {
    let (Some(&run), Some(row)) = (runs.last(), best.runs.last()) else { return Ok(None) };
    let mut own: Vec<Id> = run.to_vec();
    own.sort_unstable();
    own.dedup();
    let bytes: u64 = own.iter().map(|&id| files.coded[id as usize]).sum();
    let group = (GROUP_BYTES * own.len() as u64).checked_div(bytes).unwrap_or(0).max(2);
    if own.len() as u64 <= group {
        return Ok(None);
    }
    let mut draws = SplitMix64::new(0);
    let mut groups: Vec<&mut [Id]> = own.chunks_mut(group as usize).collect();
    mix(&mut draws, &mut groups);
    let mut grouped = Vec::with_capacity(run.len());
    for group in groups {
        mix(&mut draws, group);
        grouped.extend_from_slice(group);
    }
    let by_name: Vec<Id> = (0..files.bytes.len() as Id).collect();
    let time_ns = row.loadings.on_demand.time_ns;
    let grouped_time_ns = judge.judge(&by_name, &grouped)?.on_demand.time_ns;
    let gains = grouped_time_ns * 100 <= time_ns * (100 - ALIKE_PERCENT);
    Ok(gains.then_some(Shuffle { files: group, time_ns, grouped_time_ns }))
}

/// Fisher and Yates's shuffle.
fn mix<T>(draws: &mut SplitMix64, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, draws.below(last as u64 + 1) as usize);
    }
}
