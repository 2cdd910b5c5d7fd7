//! How large a cache should be, and by which policy it should evict.
//!
//! The curve of LRU has its knee where a further doubling brings much less than the last one did
//! ([`knee`]). The advised policy is the one that misses least in all requests: a cache is still
//! filling in the first of them, and a trace may have phases, so half of it knows too little. What
//! such a choice is worth, requests show that had no part in it: the policy that misses least in
//! the first half is judged on the second, with the cache as it then is. Both are shown. All of it
//! is simulated as `seekless sim` does.

mod advice;
mod candidates;
mod reading_ahead;
mod sizes;
mod writes;

pub use advice::{
    Base, BaseSource, CacheAdvice, CacheMeasure, Outcome, ReadingAhead, Size, Writes,
};

use super::{Options, failed, is_worth};
use crate::order;
use candidates::Simulated;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sim::Requests;
use seekless_sim::curve::{Knee, knee, miss_ratio_at};
use std::path::PathBuf;

/// Measures that are offered.
const MEASURES_MAX: usize = 5;
/// Without a knee and a present cache, the advice is for this share of the working set.
const SHARE_ASSUMED: f64 = 0.1;
/// Fewer misses of all requests than this are no gain.
const GAIN_MIN: f64 = 0.001;
/// Sizes nearer to each other than this are one.
const SAME: f64 = 1.05;

/// Reads the traces and simulates.
pub(super) fn advise(
    traces: &[PathBuf],
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<CacheAdvice> {
    let requests = options.reading.read(traces, &mut |_, _| {}).map_err(failed)?;
    if requests.is_empty() {
        let why = "the traces have no load, and no read or write of a byte or more";
        return Err(Error::new(ErrorKind::Missing, why));
    }
    tell("finding the misses of LRU at every size");
    let curve = sizes::curve(&requests).map_err(failed)?;
    let knee = knee(&curve);
    let base = base(&requests, options, knee.as_ref())?;
    tell("simulating policies");
    let sizes = compared(&requests, base.capacity, knee.as_ref());
    let simulated = Simulated::new(&requests, &sizes, &options.policy).map_err(failed)?;
    let present = simulated.of(&options.policy, base.capacity);
    let (measures, useless) = measures(&simulated, &sizes, &present);
    let chosen = simulated.chosen(base.capacity);
    let advised =
        if measures.iter().any(|it| it.outcome == chosen) { chosen } else { present.clone() };
    let totals = requests.totals();
    let reading_ahead = match requests.unit() {
        seekless_sim::Unit::Page => {
            tell("reading ahead");
            let device = options.device.clone().unwrap_or(order::DEVICE);
            Some(reading_ahead::of(traces, options, &requests, (base.capacity, &device))?)
        }
        _ => None,
    };
    Ok(CacheAdvice {
        traces: options.names(traces),
        unit: totals.unit,
        in_bytes: totals.unit == seekless_sim::Unit::Page || !totals.unit_weights,
        requests: totals.requests,
        distinct: u64::from(totals.distinct),
        working_set: totals.distinct_weight * totals.unit_bytes(),
        compulsory_miss_ratio: f64::from(totals.distinct) / totals.requests as f64,
        sizes: listed(&curve.points, base.capacity),
        writes: (totals.writes > 0)
            .then(|| writes::of(&requests, &simulated, &options.policy, base.capacity)),
        sampled_share: simulated.share,
        base,
        knee,
        present,
        advised,
        measures,
        useless,
        reading_ahead,
        curve,
    })
}

/// The size that the advice begins with.
fn base(requests: &Requests, options: &Options, knee: Option<&Knee>) -> Result<Base> {
    if let Some(given) = &options.cache {
        let capacities = given.resolve(&requests.totals()).map_err(failed)?;
        let [capacity] = capacities[..] else {
            let why = "--cache: the present cache has one size, such as 1GiB";
            return Err(Error::new(ErrorKind::Invalid, why));
        };
        return Ok(Base { capacity, source: BaseSource::Given });
    }
    if let Some(knee) = knee {
        return Ok(Base { capacity: knee.capacity, source: BaseSource::Knee });
    }
    let units = (requests.distinct_weight() as f64 * SHARE_ASSUMED).ceil() as u64;
    Ok(Base { capacity: units.max(1) * requests.unit_bytes(), source: BaseSource::Assumed })
}

/// The sizes at which policies are compared: the base, the knee, and twice the base where that is
/// not nearly the knee.
fn compared(requests: &Requests, base: u64, knee: Option<&Knee>) -> Vec<u64> {
    let everything = requests.distinct_weight() * requests.unit_bytes();
    let doubled = base.saturating_mul(2).min(everything);
    let mut sizes = vec![base];
    for size in knee.map(|knee| knee.capacity).into_iter().chain([doubled]) {
        let is_same = |other: &u64| (1.0 / SAME..SAME).contains(&(size as f64 / *other as f64));
        if size > base && !sizes.iter().any(is_same) {
            sizes.push(size);
        }
    }
    sizes.sort_unstable();
    sizes
}

/// What helps, best first, and what does not. In a larger cache another policy has to gain what it
/// costs beside the same policy there.
fn measures(
    simulated: &Simulated,
    sizes: &[u64],
    present: &Outcome,
) -> (Vec<CacheMeasure>, Vec<CacheMeasure>) {
    let mut all: Vec<CacheMeasure> = Vec::new();
    for &capacity in sizes {
        let same = simulated.of(&present.policy, capacity);
        let chosen = simulated.chosen(capacity);
        let beats = is_worth(same.miss_ratio - chosen.miss_ratio, same.miss_ratio, GAIN_MIN);
        let mut outcomes = vec![(same.clone(), same)];
        if chosen.policy != present.policy && (beats || capacity == present.capacity) {
            outcomes.push((chosen, simulated.held_out(capacity)));
        }
        let is_new = |(outcome, _): &(Outcome, Outcome)| outcome != present;
        all.extend(outcomes.into_iter().filter(is_new).map(|both| measure(both, present)));
    }
    let is_gain = |it: &CacheMeasure| is_worth(it.misses_saved, present.miss_ratio, GAIN_MIN);
    let (mut worth, useless): (Vec<CacheMeasure>, Vec<CacheMeasure>) =
        all.into_iter().partition(is_gain);
    let order = |one: &CacheMeasure, other: &CacheMeasure| {
        let misses = |it: &CacheMeasure| it.outcome.miss_ratio;
        misses(one)
            .total_cmp(&misses(other))
            .then(one.outcome.capacity.cmp(&other.outcome.capacity))
    };
    worth.sort_by(order);
    worth.truncate(MEASURES_MAX);
    (worth, useless)
}

fn measure((outcome, held_out): (Outcome, Outcome), present: &Outcome) -> CacheMeasure {
    CacheMeasure {
        misses_saved: present.miss_ratio - outcome.miss_ratio,
        held_out_saved: present.second_miss_ratio - held_out.second_miss_ratio,
        outcome,
        held_out,
    }
}

/// Halvings and doublings of the base, as LRU has them.
fn listed(points: &[seekless_sim::curve::Point], base: u64) -> Vec<Size> {
    let last = points.last().map_or(base, |point| point.capacity);
    let first = points.first().map_or(base, |point| point.capacity);
    let around = [base / 4, base / 2, base, base.saturating_mul(2), base.saturating_mul(4)];
    let mut sizes: Vec<u64> =
        around.into_iter().filter(|size| *size >= first).map(|size| size.min(last)).collect();
    sizes.dedup();
    sizes
        .into_iter()
        .map(|capacity| Size { capacity, miss_ratio: miss_ratio_at(points, capacity) })
        .collect()
}
