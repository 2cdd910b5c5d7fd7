//! The exact curve of LRU. One pass over the requests gives the misses of every size, since a cache
//! holds the ids nearest to the top of the stack (Mattson, Gecsei, Slutz and Traiger 1970).

use super::stack::{Stack, Units, Weighed};
use super::{Curve, Method, Point, Totals, share, sorted};
use crate::case::Case;
use crate::requests::Requests;
use crate::run::{config, simulate_all};
use crate::{Error, ErrorKind, Result};
use std::hint::black_box;

/// How many requests the pass looks ahead.
const LOOK_AHEAD: usize = 32;

/// The misses of LRU at every capacity, for requests that all weigh 1. 8 bytes an id; 13 while it
/// is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LruMisses {
    /// By capacity, from 0.
    misses: Vec<u64>,
}

impl LruMisses {
    /// Computes it in one pass over the requests.
    ///
    /// # Errors
    /// The requests have different weights ([`exact_lru`] is for those), or ids are removed.
    pub fn of(requests: &Requests) -> Result<Self> {
        if requests.removals() > 0 {
            let message = "a curve in one pass has no removals: name the capacities";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        if !requests.unit_weights() {
            let message = "ids of different weights have no list of all sizes: name the capacities";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let mut stack: Stack<Units> = Stack::new(requests.id_limit() as usize);
        // By distance from 1. Element 0 counts first requests, which no cache holds.
        let mut found = vec![0_u64; requests.distinct() as usize + 1];
        for block in requests.ids().chunks(LOOK_AHEAD) {
            black_box(stack.look_ahead(block));
            block.iter().for_each(|&id| found[stack.touch(id, 1).unwrap_or(0) as usize] += 1);
        }
        let mut missed = requests.len() as u64;
        found[0] = 0;
        found.iter_mut().for_each(|hits| {
            missed -= *hits;
            *hits = missed;
        });
        Ok(Self { misses: found })
    }

    /// The misses of a cache of `capacity` ids or pages.
    #[must_use]
    pub fn at(&self, capacity: u64) -> u64 {
        let last = self.misses.len() - 1;
        self.misses[usize::try_from(capacity).map_or(last, |capacity| capacity.min(last))]
    }
}

/// LRU's miss ratios at these capacities (bytes; for bare ids a number of ids). They equal those of
/// simulating each.
///
/// One pass serves every capacity of pages, ids and objects. A file over half a cache bypasses it,
/// so the stack depends on the size. Capacities under twice the largest file are therefore
/// simulated, on all cores; and so are all where an object changes its size.
///
/// # Errors
/// A simulation fails.
pub fn exact_lru(requests: &Requests, capacities: &[u64]) -> Result<Curve> {
    let capacities = sorted(capacities);
    let points = if requests.unit_weights() {
        let misses = LruMisses::of(requests)?;
        let total = requests.len() as f64;
        let ratio =
            |&capacity: &u64| share(misses.at(capacity / requests.unit_bytes()) as f64, total);
        capacities
            .iter()
            .map(|capacity| point(*capacity, ratio(capacity), ratio(capacity)))
            .collect()
    } else {
        weighed(requests, &capacities)?
    };
    Ok(curve(requests, "lru", points))
}

/// The miss ratios of any policy at these capacities: LRU's by [`exact_lru`], another's by
/// simulating each on all cores. Calls `progress` with the number of finished simulations and of
/// all.
///
/// # Errors
/// As [`simulate_all`].
pub fn exact(
    requests: &Requests,
    policy: &str,
    capacities: &[u64],
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Curve> {
    if policy == "lru" {
        return exact_lru(requests, capacities);
    }
    let points = simulated(requests, policy, &sorted(capacities), progress)?;
    Ok(curve(requests, policy, points))
}

fn curve(requests: &Requests, policy: &str, points: Vec<Point>) -> Curve {
    Curve {
        policy: policy.to_owned(),
        method: Method::Exact,
        unit: requests.unit(),
        requests: requests.len() as u64,
        distinct: u64::from(requests.distinct()),
        requests_sampled: requests.len() as u64,
        rate: 1.0,
        confidence: 1.0,
        points,
    }
}

fn simulated(
    requests: &Requests,
    policy: &str,
    capacities: &[u64],
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Vec<Point>> {
    let case = |&capacity: &u64| Case { policy: policy.to_owned(), capacity };
    let cases: Vec<Case> = capacities.iter().map(case).collect();
    let figures = simulate_all(requests, &cases, progress)?;
    Ok(figures.iter().map(|row| point(row.capacity, row.miss_ratio, row.byte_miss_ratio)).collect())
}

fn point(capacity: u64, miss_ratio: f64, byte_miss_ratio: f64) -> Point {
    Point { capacity, miss_ratio, byte_miss_ratio, low: miss_ratio, high: miss_ratio }
}

fn weighed(requests: &Requests, capacities: &[u64]) -> Result<Vec<Point>> {
    if requests.sizes_change() {
        return simulated(requests, "lru", capacities, &mut |_, _| {});
    }
    let heaviest = (0..requests.id_limit()).map(|id| requests.weight(id)).max().unwrap_or(0);
    let keeps_all = |&capacity: &u64| {
        let config = config(&requests.totals(), capacity);
        config.bypass_above.unwrap_or(config.capacity).min(config.capacity) >= heaviest
    };
    let first = capacities.partition_point(|capacity| !keeps_all(capacity));
    let (small, large) = capacities.split_at(first);
    let mut points = simulated(requests, "lru", small, &mut |_, _| {})?;
    points.extend(one_pass(requests, large));
    Ok(points)
}

/// For ids of different weights, if no id bypasses any of the capacities.
fn one_pass(requests: &Requests, capacities: &[u64]) -> Vec<Point> {
    let mut stack: Stack<Weighed> = Stack::new(requests.id_limit() as usize);
    // The requests, and their weight, whose distance is above the previous capacity and at most
    // this one.
    let mut found = vec![(0_u64, 0_u64); capacities.len() + 1];
    if !capacities.is_empty() {
        for block in requests.ids().chunks(LOOK_AHEAD) {
            black_box(stack.look_ahead(block));
            for &id in block {
                let weight = requests.weight(id);
                if let Some(distance) = stack.touch(id, weight) {
                    let bin =
                        &mut found[capacities.partition_point(|&capacity| capacity < distance)];
                    *bin = (bin.0 + 1, bin.1 + weight);
                }
            }
        }
    }
    let totals = Totals::of(requests);
    let mut hits = (0, 0);
    let mut row = |(&capacity, &(requests, weight)): (&u64, &(u64, u64))| {
        hits = (hits.0 + requests, hits.1 + weight);
        let missed = (totals.requests - hits.0 as f64, totals.bytes - hits.1 as f64);
        point(capacity, share(missed.0, totals.requests), share(missed.1, totals.bytes))
    };
    capacities.iter().zip(&found).map(&mut row).collect()
}

#[cfg(test)]
#[path = "exact/tests.rs"]
mod tests;
