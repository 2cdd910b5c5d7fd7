//! SHARDS: LRU's curve from the stack distances of a sample of the ids (Waldspurger, Park,
//! Garthwaite and Ahmad, "Efficient MRC construction with SHARDS", 2015). The error bars are ours.
//!
//! An id is in the sample if its hash is below a threshold, so distances shrink by the sampling
//! rate R. A sample may have fewer requests than its rate promises: the missing ones count as hits
//! of the smallest cache. If it has more, they are subtracted there. This is the paper's
//! SHARDS-adj.
//!
//! **Error bars.** There are two sources of error.
//!
//! - *Which ids:* the misses of the sampled ids vary between samples. Their variance follows from
//!   the sum of squares of each id's misses, and is estimated from 512 groups of ids.
//! - *Which size:* a cache of C holds C R sampled ids only on average. So the curve is read at both
//!   ends of the interval of sizes that fit.
//!
//! The bar adds the two, since a sample with too many ids errs the same way in both. It never goes
//! below the compulsory misses, which are known. It covers everything where a cache would hold
//! fewer than two sampled ids.

use super::hash::{Hash, rate, threshold};
use super::stack::{Mass, Stack, Units, Weighed};
use super::{CONFIDENCE, Curve, HELD_MIN, Method, Point, Totals, Z, mean_weight, share, sorted};
use crate::requests::Requests;
use seekless_policy::eviction::Id;
use std::collections::BinaryHeap;

/// Groups of ids by hash, for the spread between ids.
const GROUPS: usize = 512;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shards {
    /// Share of the ids at the start, above 0 and at most 1.
    pub rate: f64,
    /// The largest number of ids in the sample. The rate falls to keep within it (the paper's
    /// fixed-size SHARDS).
    pub ids_max: Option<u32>,
    /// Chooses the ids.
    pub seed: u64,
}

impl Shards {
    /// A fixed share of the ids.
    #[must_use]
    pub fn fixed_rate(rate: f64) -> Self {
        Self { rate, ids_max: None, seed: 0 }
    }

    /// A fixed number of ids: all at first, then as large a share as the number allows.
    #[must_use]
    pub fn fixed_size(ids_max: u32) -> Self {
        Self { rate: 1.0, ids_max: Some(ids_max), seed: 0 }
    }
}

/// LRU's miss ratios at these capacities (bytes; for bare ids a number of ids), estimated with
/// error bars of [`CONFIDENCE`]. Files over half a cache are not left out, unlike in
/// [`exact_lru`](super::exact_lru).
///
/// Memory: 4 bytes an id of the trace and about 24 an id of the sample.
#[must_use]
pub fn shards(requests: &Requests, capacities: &[u64], sample: Shards) -> Curve {
    curve_of(requests, capacities, sample, Totals::of(requests))
}

/// As [`shards`], where `requests` may be those of the sample alone, of a trace with these sums.
pub(super) fn curve_of(
    requests: &Requests,
    capacities: &[u64],
    sample: Shards,
    totals: Totals,
) -> Curve {
    let units: Vec<u64> =
        sorted(capacities).iter().map(|&capacity| capacity / requests.unit_bytes()).collect();
    if requests.unit_weights() {
        Sampler::<Units>::new(requests, &units, sample, totals).curve()
    } else {
        Sampler::<Weighed>::new(requests, &units, sample, totals).curve()
    }
}

/// The requests of the sample, scaled up to the trace, in one interval of distances.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    requests: f64,
    weight: f64,
}

struct Sampler<'a, M> {
    requests: &'a Requests,
    /// The sums of the trace.
    totals: Totals,
    sizes: Sizes,
    hash: Hash,
    threshold: u64,
    /// The number of each id in the stack.
    numbers: Vec<u32>,
    /// Free numbers.
    free: Vec<u32>,
    stack: Stack<M>,
    /// For a fixed-size sample: the largest number of ids, and the ids in it, the largest hash
    /// first.
    held: Option<(usize, BinaryHeap<(u64, Id)>)>,
    /// By group, then by interval. The last interval is for distances beyond every size.
    found: Vec<Found>,
    looked_at: u64,
}

const UNNUMBERED: u32 = u32::MAX;

impl<'a, M: Mass> Sampler<'a, M> {
    fn new(requests: &'a Requests, capacities: &[u64], sample: Shards, totals: Totals) -> Self {
        let hash = Hash::new(sample.seed);
        let threshold = threshold(sample.rate);
        let limit = requests.id_limit();
        let drawn = (0..limit).filter(|&id| hash.of(id) < threshold).count();
        let most = sample.ids_max.map_or(drawn, |most| drawn.min(most.max(1) as usize));
        let rate_at_end = rate(threshold) * share(most as f64, drawn as f64);
        let sizes = Sizes::new(requests, capacities, rate_at_end);
        Self {
            found: vec![Found::default(); GROUPS * sizes.intervals()],
            numbers: vec![UNNUMBERED; limit as usize],
            // One more, which is in the stack until the id with the largest hash has left.
            free: (0..=most as u32).rev().collect(),
            stack: Stack::new(most + 1),
            held: sample.ids_max.map(|_| (most, BinaryHeap::new())),
            looked_at: 0,
            requests,
            totals,
            sizes,
            hash,
            threshold,
        }
    }

    fn curve(mut self) -> Curve {
        for (position, &id) in self.requests.ids().iter().enumerate() {
            let hash = self.hash.of(id);
            if hash < self.threshold {
                self.look_at(id, hash, self.requests.weight_at(position));
            }
        }
        let rate = rate(self.threshold);
        Curve {
            policy: "lru".to_owned(),
            method: Method::Shards,
            unit: self.requests.unit(),
            requests: self.totals.requests as u64,
            distinct: u64::from(self.requests.distinct()),
            requests_sampled: self.looked_at,
            rate,
            confidence: CONFIDENCE,
            points: self.points(rate),
        }
    }

    /// A request for an id of the sample. It stands for 1/R requests, as does each id above it in
    /// the stack.
    fn look_at(&mut self, id: Id, hash: u64, weight: u64) {
        self.looked_at += 1;
        let scale = 1.0 / rate(self.threshold);
        let distance = self.stack_number(id).and_then(|number| {
            let own = self.stack.weight(number);
            Some((own, self.stack.touch(number, weight)?))
        });
        let interval = match distance {
            Some((own, distance)) => {
                self.sizes.interval(own as f64 + (distance - own) as f64 * scale)
            }
            None => self.sizes.intervals() - 1,
        };
        let group = hash as usize % GROUPS;
        let found = &mut self.found[group * self.sizes.intervals() + interval];
        found.requests += scale;
        found.weight += scale * weight as f64;
        if distance.is_none() {
            self.hold(id, hash);
        }
    }

    fn stack_number(&mut self, id: Id) -> Option<Id> {
        let number = &mut self.numbers[id as usize];
        if *number == UNNUMBERED {
            *number = self.free.pop()?;
        }
        Some(*number)
    }

    /// If a fixed-size sample is too large, the id with the largest hash leaves it. From then on
    /// ids above that hash are not sampled.
    fn hold(&mut self, id: Id, hash: u64) {
        let Some((most, held)) = &mut self.held else { return };
        held.push((hash, id));
        if held.len() > *most
            && let Some((hash, id)) = held.pop()
        {
            self.threshold = hash;
            let number = std::mem::replace(&mut self.numbers[id as usize], UNNUMBERED);
            self.stack.remove(number);
            self.free.push(number);
        }
    }

    fn points(&self, rate: f64) -> Vec<Point> {
        let totals = &self.totals;
        let misses: Vec<Misses> =
            (0..self.sizes.bounds.len()).map(|bound| self.misses_above(bound, rate)).collect();
        let held = |capacity: u64| capacity as f64 * rate >= HELD_MIN * mean_weight(self.requests);
        let point = |(&capacity, at): (&u64, &Ends)| {
            let middle = misses[at.middle];
            let (smaller, larger) = (misses[at.smaller], misses[at.larger]);
            let ratio =
                |misses: f64| share(misses, totals.requests).clamp(totals.compulsory_ratio, 1.0);
            Point {
                capacity: capacity * self.requests.unit_bytes(),
                miss_ratio: ratio(middle.requests),
                byte_miss_ratio: share(middle.weight, totals.bytes)
                    .clamp(totals.compulsory_byte_ratio, 1.0),
                low: if held(capacity) {
                    ratio(interval(larger.requests, larger.grain).0)
                } else {
                    ratio(0.0)
                },
                high: if held(capacity) {
                    ratio(interval(smaller.requests, smaller.grain).1)
                } else {
                    1.0
                },
            }
        };
        self.sizes.capacities.iter().zip(&self.sizes.ends).map(point).collect()
    }

    /// The misses of a cache of the size of this bound. The variance of a total over ids drawn at
    /// rate R is (1 - R) times the sum of squares of their contributions (Horvitz and Thompson
    /// 1952). Groups of ids stand for ids here.
    fn misses_above(&self, bound: usize, rate: f64) -> Misses {
        let groups =
            self.found.chunks_exact(self.sizes.intervals()).map(|found| &found[bound + 1..]);
        let (mut sum, mut squares, mut weight) = (0.0, 0.0, 0.0);
        for found in groups {
            let requests: f64 = found.iter().map(|found| found.requests).sum();
            sum += requests;
            squares += requests * requests;
            weight += found.iter().map(|found| found.weight).sum::<f64>();
        }
        let count = GROUPS as f64;
        let variance = (squares - sum * sum / count) * count / (count - 1.0) * (1.0 - rate);
        Misses { requests: sum, weight, grain: share(variance.max(0.0), sum) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Misses {
    requests: f64,
    weight: f64,
    /// The variance of the requests, divided by the requests.
    grain: f64,
}

/// The sizes at which misses are needed, in units of weight: each capacity, and both ends of the
/// interval around it.
struct Sizes {
    capacities: Vec<u64>,
    ends: Vec<Ends>,
    /// In rising order.
    bounds: Vec<f64>,
}

/// Indices into the bounds.
struct Ends {
    smaller: usize,
    middle: usize,
    larger: usize,
}

impl Sizes {
    fn new(requests: &Requests, capacities: &[u64], rate: f64) -> Self {
        // The contribution of an id to the variance of a sum of weights, for each unit of the sum.
        let grain = heaviness(requests) * share(1.0 - rate, rate);
        let ends = |&capacity: &u64| {
            let (smaller, larger) = interval(capacity as f64, grain);
            [smaller, capacity as f64, larger]
        };
        let intervals: Vec<[f64; 3]> = capacities.iter().map(ends).collect();
        let mut bounds = intervals.concat();
        bounds.sort_unstable_by(f64::total_cmp);
        let at = |size: f64| bounds.partition_point(|&bound| bound < size);
        let ends = intervals
            .iter()
            .map(|&[smaller, middle, larger]| Ends {
                smaller: at(smaller),
                middle: at(middle),
                larger: at(larger),
            })
            .collect();
        Self { capacities: capacities.to_vec(), ends, bounds }
    }

    /// One interval up to each bound, and one above the last.
    fn intervals(&self) -> usize {
        self.bounds.len() + 1
    }

    #[inline]
    fn interval(&self, distance: f64) -> usize {
        self.bounds.partition_point(|&bound| bound < distance)
    }
}

/// The true sums that are compatible with a sum found by sampling, if its variance is `grain` times
/// the true sum. This is the score interval, which unlike the symmetric one holds for small samples
/// (Wilson 1927).
fn interval(found: f64, grain: f64) -> (f64, f64) {
    let noise = Z * Z * grain;
    let half = (noise * found + noise * noise / 4.0).sqrt();
    ((found + noise / 2.0 - half).max(0.0), found + noise / 2.0 + half)
}

/// The mean weight of an id, each counted by its weight; 1 for pages.
fn heaviness(requests: &Requests) -> f64 {
    if requests.unit_weights() {
        return 1.0;
    }
    let weights = (0..requests.id_limit()).map(|id| requests.weight(id) as f64);
    let (sum, squares) = weights
        .fold((0.0, 0.0), |(sum, squares), weight| (sum + weight, squares + weight * weight));
    share(squares, sum)
}
