//! Rounds over one trace. Each round numbers the objects and then runs every policy once. The first
//! is discarded.

use super::{Args, Measured};
use crate::clock::timed;
use crate::rounds::median;
use crate::workload::Workload;
use anyhow::{Context, ensure};
use seekless::policy::eviction::needs_of;
use seekless::sim::curve::{LruMisses, exact_lru, spread};
use seekless::sim::{Case, Options, Requests, check_cases, simulate};
use serde::Serialize;

/// The row of the exact LRU curve.
const CURVE: &str = "(LRU curve, all sizes)";
/// The same for files, where each byte would be a separate size.
const CURVE_OF_FILES: &str = "(LRU curve, 50 sizes)";
const CURVE_SIZES: usize = 50;

/// The figures of one policy. Times are processor times of the thread.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) policy: String,
    pub(super) hits: u64,
    pub(super) miss_ratio: f64,
    /// Without the numbering of the objects; median.
    pub(super) requests_per_second: f64,
    /// With the numbering of the objects; median.
    pub(super) requests_per_second_numbered: f64,
    /// The seconds of each timed round, without the numbering.
    pub(super) seconds: Vec<f64>,
}

/// The measurements of one policy.
#[derive(Default)]
struct Track {
    hits: Option<u64>,
    seconds: Vec<f64>,
    numbered: Vec<f64>,
}

impl Track {
    fn add(&mut self, policy: &str, hits: u64, seconds: f64, numbering: f64) -> anyhow::Result<()> {
        let first = *self.hits.get_or_insert(hits);
        ensure!(first == hits, "{policy}: {hits} hits in one round and {first} in another");
        self.seconds.push(seconds);
        self.numbered.push(seconds + numbering);
        Ok(())
    }

    /// Leaves out the first round.
    fn row(&self, policy: &str, requests: f64, total: u64) -> Row {
        let hits = self.hits.unwrap_or(0);
        Row {
            policy: policy.to_owned(),
            hits,
            miss_ratio: (total - hits) as f64 / total as f64,
            requests_per_second: requests / median(&mut self.seconds[1..].to_vec()),
            requests_per_second_numbered: requests / median(&mut self.numbered[1..].to_vec()),
            seconds: self.seconds[1..].to_vec(),
        }
    }
}

pub(super) fn measure(
    workload: &Workload,
    policies: &[String],
    args: &Args,
) -> anyhow::Result<Measured> {
    let requests = workload.number();
    let objects = u64::from(requests.distinct());
    let pages = share_of(objects, args);
    let capacity = if workload.files {
        share_of(requests.distinct_weight(), args)
    } else {
        pages * requests.unit_bytes()
    };
    let (policies, refused) = accepted(&requests, policies, capacity);
    let mut tracks: Vec<Track> = policies.iter().map(|_| Track::default()).collect();
    let curve_name = if workload.files { CURVE_OF_FILES } else { CURVE };
    let (mut curve, mut numberings) = (Track::default(), Vec::new());
    for _ in 0..=args.rounds {
        let numbering = repeated(workload, || Ok(timed(|| workload.number()).1))?;
        numberings.push(numbering);
        for (policy, track) in policies.iter().zip(&mut tracks) {
            let case = Case { policy: policy.clone(), capacity };
            let mut hits = 0;
            let seconds = repeated(workload, || simulated(&requests, &case, &mut hits))?;
            track.add(policy, hits, seconds, numbering)?;
        }
        let mut hits = 0;
        let seconds = repeated(workload, || curved(&requests, capacity, &mut hits))?;
        curve.add(curve_name, hits, seconds, numbering)?;
    }
    if let Some(lru) = policies.iter().position(|policy| policy == "lru") {
        ensure!(tracks[lru].hits == curve.hits, "the LRU curve and LRU's simulation disagree");
    }
    let total = requests.len() as u64;
    let counted = total as f64 * f64::from(workload.repeats);
    let mut rows: Vec<Row> = policies
        .iter()
        .zip(&tracks)
        .map(|(policy, track)| track.row(policy, counted, total))
        .collect();
    rows.push(curve.row(curve_name, counted, total));
    Ok(Measured {
        trace: workload.name.clone(),
        requests: total,
        objects,
        capacity: if workload.files { capacity } else { pages },
        capacity_is_bytes: workload.files,
        refused,
        numbering_per_second: counted / median(&mut numberings[1..]),
        rows,
    })
}

/// The sum of `once` over the workload's repeats.
fn repeated(
    workload: &Workload,
    mut once: impl FnMut() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    (0..workload.repeats).map(|_| once()).sum()
}

fn simulated(requests: &Requests, case: &Case, hits: &mut u64) -> anyhow::Result<f64> {
    // The next uses are computed once and kept. A fresh copy computes them each time.
    let copy = needs_of(&case.policy)?.next_use.then(|| requests.clone());
    let (figures, seconds) = timed(|| simulate(copy.as_ref().unwrap_or(requests), case));
    *hits = figures?.hits;
    Ok(seconds)
}

fn share_of(all: u64, args: &Args) -> u64 {
    ((all as f64 * args.cache / 100.0) as u64).max(1)
}

/// The policies that can be simulated with these requests, and the others.
fn accepted(requests: &Requests, policies: &[String], capacity: u64) -> (Vec<String>, Vec<String>) {
    let fits = |policy: &String| {
        check_cases(requests, &[Case { policy: policy.clone(), capacity }], &Options::default())
            .is_ok()
    };
    policies.iter().cloned().partition(fits)
}

fn curved(requests: &Requests, capacity: u64, hits: &mut u64) -> anyhow::Result<f64> {
    let total = requests.len() as u64;
    if !requests.unit_weights() {
        let mut capacities = spread(requests, CURVE_SIZES);
        capacities.push(capacity);
        let (curve, seconds) = timed(|| exact_lru(requests, &capacities));
        let curve = curve?;
        let point =
            curve.points.iter().find(|point| point.capacity == capacity).context("no such size")?;
        *hits = total - (point.miss_ratio * total as f64).round() as u64;
        return Ok(seconds);
    }
    let pages = capacity / requests.unit_bytes();
    let (misses, seconds) = timed(|| LruMisses::of(requests));
    *hits = total - misses?.at(pages);
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_is_discarded_and_answers_must_agree() {
        let mut track = Track::default();
        for (seconds, numbering) in [(100.0, 1.0), (2.0, 2.0), (1.0, 1.0), (4.0, 1.0)] {
            track.add("lru", 3, seconds, numbering).unwrap();
        }
        let row = track.row("lru", 8.0, 4);
        assert_eq!((row.requests_per_second, row.requests_per_second_numbered), (4.0, 2.0));
        assert_eq!((row.miss_ratio, row.seconds.len()), (0.25, 3));
        assert!(
            track.add("lru", 4, 1.0, 1.0).unwrap_err().to_string().contains("4 hits in one round")
        );
    }
}
