//! Any policy's curve from small simulations (Waldspurger, Saemundsson, Ahmad and Park, "Cache
//! modeling and optimization using miniature simulations", 2017). A sample of the ids at rate R in
//! a cache of R times the size behaves much as the whole trace does.
//!
//! The cache shrinks by the share of the ids, or of their weight, that the sample really has.
//! Misses grow by the same known share. So a sample with too many ids does not give the curve of a
//! smaller cache. The sample's own requests are not counted: if it has more or fewer than its share
//! of them, the difference is that of a few popular ids, and counts as hits. This is the correction
//! of SHARDS-adj (Waldspurger, Park, Garthwaite and Ahmad 2015), for any policy.
//!
//! **Error bars.** Several independent samples show the spread of their mean (Student's t). But all
//! of them simulate too small a cache, which may err in one direction. So each is also simulated at
//! half its rate, and the bar is extended by [`DRIFT`] times the change by the halving. A bar never
//! goes below the compulsory misses, which are known.

use super::hash::{Hash, threshold};
use super::{CONFIDENCE, Curve, HELD_MIN, Method, Point, Totals, mean_weight, share, sorted};
use crate::requests::Requests;
use crate::run::{config, count};
use crate::{Error, ErrorKind, Result};
use rayon::prelude::*;
use seekless_policy::cache::Config;
use seekless_policy::eviction::{Id, needs_of};

/// Student's t for a two-sided interval of [`CONFIDENCE`], by degrees of freedom from 1.
const STUDENT_T: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131,
];

/// The ratio of the error that all samples share to the change when the rate is halved. At a corner
/// of the curve the error grows as the square root of 1/R, so by 41 %.
const DRIFT: f64 = 2.414;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Share of the ids in each sample, above 0 and at most 1.
    pub rate: f64,
    /// How many samples, 2 to 16.
    pub samples: u32,
    /// Chooses the ids.
    pub seed: u64,
}

impl Sampling {
    /// Eight samples of this share of the ids.
    #[must_use]
    pub fn rate(rate: f64) -> Self {
        Self { rate, samples: 8, seed: 0 }
    }

    /// Eight samples of about this many ids each.
    #[must_use]
    pub fn ids(requests: &Requests, ids: u32) -> Self {
        Self::rate(share(f64::from(ids), f64::from(requests.distinct().max(ids))))
    }
}

/// The miss ratios of `policy` at these capacities (bytes; for bare ids a number of ids), estimated
/// with error bars of [`CONFIDENCE`]. Samples are simulated on all cores. Calls `progress` with the
/// number of finished samples and of all.
///
/// # Errors
/// - There is no such policy, or it needs what the requests cannot supply.
/// - The policy needs neighbouring pages, which a sample does not have.
/// - The rate gives a sample without ids.
pub fn sampled(
    requests: &Requests,
    policy: &str,
    capacities: &[u64],
    sampling: Sampling,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Curve> {
    check(policy, sampling)?;
    let capacities = sorted(capacities);
    let samples = u64::from(sampling.samples);
    let mut found = Vec::new();
    let mut looked_at = 0;
    for index in 0..samples {
        let hash = Hash::new(sampling.seed.wrapping_mul(samples).wrapping_add(index));
        let whole = Sample::draw(requests, hash, sampling.rate)?;
        let half = Sample::draw(requests, hash, sampling.rate / 2.0)?;
        looked_at += (whole.requests.len() + half.requests.len()) as u64;
        let at = |&capacity: &u64| {
            Ok([whole.simulate(policy, capacity)?, half.simulate(policy, capacity)?])
        };
        found.push(capacities.par_iter().map(at).collect::<Result<Vec<_>>>()?);
        progress(index + 1, samples);
    }
    let totals = Totals::of(requests);
    let point = |(index, &capacity): (usize, &u64)| {
        let samples: Vec<[Missed; 2]> = found.iter().map(|sample| sample[index]).collect();
        let held =
            capacity as f64 / requests.unit_bytes() as f64 / mean_weight(requests) * sampling.rate;
        point(capacity, &samples, &totals, held)
    };
    Ok(Curve {
        policy: policy.to_owned(),
        method: Method::Sampled,
        unit: requests.unit(),
        requests: requests.len() as u64,
        distinct: u64::from(requests.distinct()),
        requests_sampled: looked_at,
        rate: sampling.rate,
        confidence: CONFIDENCE,
        points: capacities.iter().enumerate().map(point).collect(),
    })
}

fn check(policy: &str, sampling: Sampling) -> Result<()> {
    let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
    if needs_of(policy).map_err(Error::from)?.neighbours {
        return usage(format!(
            "{policy} looks at neighbouring pages, which a sample does not have"
        ));
    }
    if !(2..=16).contains(&sampling.samples) {
        return usage(format!("{} samples: 2 to 16 give an error bar", sampling.samples));
    }
    if !(sampling.rate > 0.0 && sampling.rate <= 1.0) {
        return usage(format!(
            "a sampling rate of {}: it is a share above 0 and at most 1",
            sampling.rate
        ));
    }
    Ok(())
}

/// The misses of one simulation, as ratios of the whole trace.
#[derive(Clone, Copy, Debug)]
struct Missed {
    requests: f64,
    bytes: f64,
}

/// The requests for a sample of the ids.
struct Sample<'a> {
    all: &'a Requests,
    requests: Requests,
    /// The ids of the sample divided by all ids.
    ids_share: f64,
    /// The weight of the sample divided by the weight of all ids.
    weight_share: f64,
    totals: Totals,
}

impl<'a> Sample<'a> {
    fn draw(all: &'a Requests, hash: Hash, rate: f64) -> Result<Self> {
        let below = threshold(rate);
        let requests = all.of_ids(|id: Id| rate >= 1.0 || hash.of(id) < below);
        if requests.is_empty() && !all.is_empty() {
            let message =
                format!("a sample of {rate} of {} ids is empty; raise the rate", all.distinct());
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(Self {
            ids_share: share(f64::from(requests.distinct()), f64::from(all.distinct())),
            weight_share: share(requests.distinct_weight() as f64, all.distinct_weight() as f64),
            totals: Totals::of(all),
            requests,
            all,
        })
    }

    /// Simulates a cache that is smaller by the sample's share. Files bypass it as they would
    /// bypass the large cache.
    fn simulate(&self, policy: &str, capacity: u64) -> Result<Missed> {
        let large = config(&self.all.totals(), capacity);
        let scaled = (large.capacity as f64 * self.weight_share).round() as u64;
        let small = Config { capacity: scaled.max(large.capacity.min(1)), ..large };
        let counts = count(&self.requests, policy, small)?;
        let misses = (self.requests.len() as u64 - counts.hits) as f64;
        let weight = counts.miss_weight as f64;
        Ok(Missed {
            requests: share(misses / self.ids_share, self.totals.requests),
            bytes: share(share(weight, self.weight_share), self.totals.bytes),
        })
    }
}

/// The mean of the samples. `held` is the number of ids that the smallest of their caches hold.
fn point(capacity: u64, samples: &[[Missed; 2]], totals: &Totals, held: f64) -> Point {
    let count = samples.len() as f64;
    let mean = |of: &dyn Fn(&[Missed; 2]) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let middle = mean(&|sample| sample[0].requests);
    let squares = mean(&|sample| (sample[0].requests - middle).powi(2));
    let spread = STUDENT_T[samples.len() - 2] * (squares / (count - 1.0)).sqrt();
    let drift = DRIFT * (mean(&|sample| sample[1].requests) - middle);
    let ratio = |ratio: f64| ratio.clamp(totals.compulsory_ratio, 1.0);
    let (low, high) = if held < HELD_MIN {
        (0.0, 1.0)
    } else {
        (middle - spread - drift.max(0.0), middle + spread - drift.min(0.0))
    };
    Point {
        capacity,
        miss_ratio: ratio(middle),
        byte_miss_ratio: mean(&|sample| sample[0].bytes).clamp(totals.compulsory_byte_ratio, 1.0),
        low: ratio(low),
        high: ratio(high),
    }
}
