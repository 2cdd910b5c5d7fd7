//! LRU's curve: exact where that is quick, else from a sample of the ids.

use seekless_sim::curve::{Curve, STEPS_PER_DOUBLING, Shards, doublings, exact_lru, shards};
use seekless_sim::{Requests, Result, Unit};

/// With more requests a sample of so many is enough.
const EXACT_REQUESTS_MAX: usize = 40_000_000;
/// Simulated requests, where each size takes a simulation.
const SIMULATED_MAX: usize = 300_000_000;
/// Fewer steps to a doubling would miss a knee.
const STEPS_MIN: usize = 4;
/// Halvings of the working set that a curve has, at most.
const DOUBLINGS: usize = 12;

/// LRU's misses at sizes from the working set downwards.
pub(super) fn curve(requests: &Requests) -> Result<Curve> {
    let steps = match takes_simulations(requests) {
        true => SIMULATED_MAX / DOUBLINGS / requests.len().max(1),
        false if requests.len() > EXACT_REQUESTS_MAX => 0,
        false => STEPS_PER_DOUBLING,
    };
    if steps < STEPS_MIN {
        let rate = (EXACT_REQUESTS_MAX as f64 / 4.0 / requests.len() as f64).min(1.0);
        let sizes = doublings(requests, STEPS_PER_DOUBLING);
        return Ok(shards(requests, &sizes, Shards::fixed_rate(rate)));
    }
    exact_lru(requests, &doublings(requests, steps.min(STEPS_PER_DOUBLING)))
}

/// Whether sizes have to be simulated one by one: files that are too large for a cache bypass it,
/// and objects whose size changes.
fn takes_simulations(requests: &Requests) -> bool {
    requests.sizes_change() || (requests.unit() == Unit::File && !requests.unit_weights())
}
