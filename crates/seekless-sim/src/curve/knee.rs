//! The knee of a curve: the size at which one more doubling brings much less than the last one did.
//!
//! That is where the second derivative of the miss ratio is largest, on an axis of doublings. On
//! such an axis the answer does not depend on a unit or on the largest size, and a cache that holds
//! more is compared with what it costs: twice the memory. The step of the derivative is one
//! doubling, so noise between neighbouring sizes does not count.

use super::{Curve, Point};
use crate::requests::Requests;
use serde::{Deserialize, Serialize};

/// Sizes between a size and its double: neighbours are 2 % apart.
pub const STEPS_PER_DOUBLING: usize = 36;

/// How many times the working set is halved.
const DOUBLINGS: usize = 12;

/// Smaller caches say little: sizes of neighbours would round to the same ids.
const UNITS_MIN: u64 = 16;

/// A knee bends at least by so much of all requests. Less is no corner that one could see.
const BEND_MIN: f64 = 0.1;

/// Of sizes that bend nearly as much, the smallest is the knee.
const NEARLY: f64 = 0.95;

/// A cache that holds so much of the working set holds nearly everything.
const EVERYTHING: f64 = 0.9;

/// The knee of a curve. Ratios are of all requests, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// Its size in bytes; for bare ids a number of ids.
    pub capacity: u64,
    /// The misses there.
    pub miss_ratio: f64,
    /// How much the doubling up to here takes off the miss ratio.
    pub last_doubling: f64,
    /// How much the next doubling takes off.
    pub next_doubling: f64,
    /// The second derivative: the last doubling less the next one.
    pub bend: f64,
    /// Whether the cache then holds nearly everything, so that the curve falls all the way.
    pub is_everything: bool,
}

/// Sizes for [`knee`]: from the working set downwards, [`STEPS_PER_DOUBLING`] for each halving, in
/// rising order. `steps` is that number or fewer, where each size takes a simulation.
#[must_use]
pub fn doublings(requests: &Requests, steps: usize) -> Vec<u64> {
    let all = requests.distinct_weight();
    let size = |step: usize| (all as f64 * (-(step as f64) / steps.max(1) as f64).exp2()).round();
    let sizes = (0..=DOUBLINGS * steps.max(1)).map(|step| size(step) as u64);
    let least = if requests.equal_weights() {
        UNITS_MIN * requests.distinct_weight() / u64::from(requests.distinct()).max(1)
    } else {
        1
    };
    let mut sizes: Vec<u64> = sizes
        .take_while(|&units| units >= least.max(1))
        .map(|it| it * requests.unit_bytes())
        .collect();
    sizes.reverse();
    sizes.dedup();
    sizes
}

/// The knee of a curve whose last point holds everything; `None` if the curve has no corner.
#[must_use]
pub fn knee(curve: &Curve) -> Option<Knee> {
    let (first, last) = (curve.points.first()?, curve.points.last()?);
    let known = curve.points.iter().filter(|point| point.capacity / 2 >= first.capacity);
    let bends: Vec<Knee> = known.map(|point| bend(&curve.points, point, last.capacity)).collect();
    let most = bends.iter().map(|knee| knee.bend).fold(0.0, f64::max);
    bends.into_iter().find(|knee| knee.bend >= BEND_MIN && knee.bend >= NEARLY * most)
}

/// The miss ratio at a size, between the points on an axis of doublings.
#[must_use]
pub fn miss_ratio_at(points: &[Point], capacity: u64) -> f64 {
    let next = points.partition_point(|point| point.capacity < capacity);
    match (next.checked_sub(1).map(|last| points[last]), points.get(next)) {
        (_, Some(point)) if point.capacity == capacity => point.miss_ratio,
        (Some(low), Some(high)) => {
            let log = |capacity: u64| (capacity as f64).log2();
            let share =
                (log(capacity) - log(low.capacity)) / (log(high.capacity) - log(low.capacity));
            low.miss_ratio + share * (high.miss_ratio - low.miss_ratio)
        }
        (Some(last), None) => last.miss_ratio,
        // Below the smallest size, nothing is known to hit.
        (None, first) => first.map_or(1.0, |first| {
            1.0 - (1.0 - first.miss_ratio) * capacity as f64 / first.capacity as f64
        }),
    }
}

fn bend(points: &[Point], point: &Point, all: u64) -> Knee {
    let at = |capacity| miss_ratio_at(points, capacity);
    let last_doubling = at(point.capacity / 2) - point.miss_ratio;
    let next_doubling = point.miss_ratio - at(point.capacity.saturating_mul(2));
    Knee {
        capacity: point.capacity,
        miss_ratio: point.miss_ratio,
        last_doubling,
        next_doubling,
        bend: last_doubling - next_doubling,
        is_everything: point.capacity as f64 >= EVERYTHING * all as f64,
    }
}

#[cfg(test)]
#[path = "knee/tests.rs"]
mod tests;
