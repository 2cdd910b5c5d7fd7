//! Rates lists on runs that they were not made from.

use super::candidates::{Candidates, Part};
use super::choose::{Chosen, Rule, choose};
use seekless_job::ranges::{bytes, common_bytes, total, union};
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::layout::extents::Extent;
use serde::Serialize;

/// How lists do on runs that they were not made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Each run, on the list that all others make.
    pub held_out: Vec<HeldOut>,
    /// What more runs add: lists of the newest one, two, ... other runs.
    pub learned: Vec<Learned>,
}

/// A run on a list that was made without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeldOut {
    /// The run's number, over all traces.
    pub run: u64,
    /// Bytes of the run's needs, of files that a list may name.
    pub needed_bytes: u64,
    /// Bytes of these that the list brings in.
    pub covered_bytes: u64,
    /// Bytes that the list brings in.
    pub listed_bytes: u64,
    /// Bytes of these that the run does not need.
    pub vain_bytes: u64,
}

/// Lists that were made from the same number of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Learned {
    /// From how many runs.
    pub runs: u64,
    /// Which share of the held-out runs' bytes the lists bring in, from 0 to 1.
    pub covered: f64,
    /// Bytes that a list brings in, on average.
    pub listed_bytes: u64,
    /// Bytes that a list brings in and the run does not need, on average.
    pub vain_bytes: u64,
}

pub(super) fn score(candidates: &Candidates, rule: &Rule) -> Result<Score> {
    let used: Vec<usize> =
        (0..candidates.runs.len()).filter(|&run| !candidates.runs[run].is_empty()).collect();
    if used.len() < 2 {
        let why = "a list is scored on a run that it was not made from, so that takes at least two \
                   runs; record the program once more";
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    let mut score = Score::default();
    for count in 1..used.len() {
        let rows: Vec<HeldOut> =
            used.iter().map(|&run| held_out(candidates, rule, &used, run, count)).collect();
        score.learned.push(mean(count as u64, &rows));
        score.held_out = rows;
    }
    Ok(score)
}

/// A run on the list that the newest `count` others of `used` make.
fn held_out(
    candidates: &Candidates,
    rule: &Rule,
    used: &[usize],
    run: usize,
    count: usize,
) -> HeldOut {
    let others: Vec<&[Part]> = used
        .iter()
        .filter(|&&other| other != run)
        .map(|&other| candidates.runs[other].as_slice())
        .collect();
    let newest = &others[others.len() - count..];
    // A list of few runs would be empty if it asked for what more runs need.
    let rule = Rule { min_runs: rule.min_runs.min(count as u32), ..*rule };
    let chosen = choose(&candidates.files, newest, &rule);
    rate(run, candidates, &chosen, rule.ranges)
}

fn rate(run: usize, candidates: &Candidates, chosen: &Chosen, ranges: bool) -> HeldOut {
    let mut needed: Vec<Vec<Extent>> = vec![Vec::new(); candidates.files.len()];
    for &(file, range) in &candidates.runs[run] {
        needed[file as usize].push(range);
    }
    let needed: Vec<Vec<Extent>> = needed.into_iter().map(union).collect();
    let mut row = HeldOut {
        run: run as u64,
        needed_bytes: total(needed.iter().map(|ranges| bytes(ranges))),
        ..HeldOut::default()
    };
    for file in &chosen.listed {
        let needed = &needed[file.file as usize];
        row.listed_bytes = row.listed_bytes.saturating_add(file.listed_bytes(ranges));
        let covered = match ranges {
            true => common_bytes(&file.ranges, needed),
            false => bytes(needed),
        };
        row.covered_bytes = row.covered_bytes.saturating_add(covered);
    }
    row.vain_bytes = row.listed_bytes - row.covered_bytes;
    row
}

fn mean(runs: u64, rows: &[HeldOut]) -> Learned {
    let sum = |of: fn(&HeldOut) -> u64| total(rows.iter().map(of));
    let mean = |of: fn(&HeldOut) -> u64| sum(of) / rows.len().max(1) as u64;
    Learned {
        runs,
        covered: sum(|row| row.covered_bytes) as f64 / sum(|row| row.needed_bytes).max(1) as f64,
        listed_bytes: mean(|row| row.listed_bytes),
        vain_bytes: mean(|row| row.vain_bytes),
    }
}
