//! Many cases over the same requests. Those of LRU take one pass for all capacities where the
//! requests allow that: a cache holds the ids nearest to the top of the stack, whatever its size.

use crate::Result;
use crate::case::{Case, Options};
use crate::check::check_cases;
use crate::curve::LruMisses;
use crate::figures::{Counts, Figures};
use crate::requests::Requests;
use crate::run::{config, each_case, simulate_with};
use crate::stream::Timed;
use std::time::{Duration, Instant};

/// From this many capacities on, one pass is quicker than simulating each: it took as long as 4 to
/// 9 simulations of traces of 1 to 20 million requests.
const CAPACITIES_MIN: usize = 10;

/// Runs every case on all cores under these rules, and returns the figures and times in the order
/// of the cases. Cases that shared a pass share its time evenly. Calls `progress` with the number
/// of finished cases and of all.
///
/// # Errors
/// As [`simulate_with`], of the first case that cannot be simulated.
pub fn simulate_cases(
    requests: &Requests,
    cases: &[Case],
    options: &Options,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Vec<Timed>> {
    check_cases(requests, cases, options)?;
    let together = |case: &&Case| case.policy == "lru" && is_one_pass(requests, options);
    let (shared, alone): (Vec<&Case>, Vec<&Case>) = match cases.iter().filter(together).count() {
        CAPACITIES_MIN.. => cases.iter().partition(together),
        _ => (Vec::new(), cases.iter().collect()),
    };
    let (total, done) = (cases.len() as u64, shared.len() as u64);
    let alone: Vec<Case> = alone.into_iter().cloned().collect();
    let timed = |case: &Case| {
        let began = Instant::now();
        Ok((simulate_with(requests, case, options)?, began.elapsed()))
    };
    let mut progress = |finished: u64, _: u64| progress(done + finished, total);
    let (shared_rows, alone_rows) =
        rayon::join(|| lru_rows(requests, &shared), || each_case(&alone, &mut progress, timed));
    let (mut shared_rows, mut alone_rows) = (shared_rows?.into_iter(), alone_rows?.into_iter());
    let is_shared = |case: &Case| done > 0 && together(&case);
    let row = |case| if is_shared(case) { shared_rows.next() } else { alone_rows.next() };
    Ok(cases.iter().filter_map(row).collect())
}

/// Whether LRU's misses at every capacity follow from one pass: all weigh 1, and nothing is written
/// or counted over time.
fn is_one_pass(requests: &Requests, options: &Options) -> bool {
    let ruled = options.admission.is_some() || options.expiry.is_some();
    if requests.removals() > 0 || ruled {
        return false;
    }
    let counts_all = options.every.is_none() && options.warm_up.is_none();
    requests.unit_weights() && requests.totals().writes == 0 && counts_all
}

fn lru_rows(requests: &Requests, cases: &[&Case]) -> Result<Vec<Timed>> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let (began, totals) = (Instant::now(), requests.totals());
    let misses = LruMisses::of(requests)?;
    let time: Duration = began.elapsed() / cases.len() as u32;
    let row = |case: &&Case| {
        let capacity = config(&totals, case.capacity).capacity;
        let missed = misses.at(capacity);
        let hits = totals.requests - missed;
        let counts = Counts {
            hits,
            bypassed: if capacity == 0 { missed } else { 0 },
            read_misses: missed,
            hit_weight: hits,
            miss_weight: missed,
            ..Counts::default()
        };
        (Figures::new(&case.policy, case.capacity, &totals, counts), time)
    };
    Ok(cases.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_simulating_each() {
        let mut id = 7_u64;
        let ids: Vec<u32> = (0..20_000)
            .map(|_| {
                id = id.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((id >> 33) % 50 * ((id >> 40) % 40)) as u32
            })
            .collect();
        for requests in [
            Requests::from_files(&ids, &vec![1; 2000]),
            Requests::from_files(&ids, &vec![3; 2000]),
            Requests::from_pages(ids.clone()),
        ] {
            let sizes = [0_u64, 1, 2, 50, 400, 100, 800, 1500, 1999, 2000, 9000, 100];
            let cases: Vec<Case> = sizes
                .iter()
                .flat_map(|&capacity| ["lru", "fifo"].map(|policy| (policy, capacity)))
                .map(|(policy, capacity)| Case { policy: policy.to_owned(), capacity })
                .collect();
            let options = Options::default();
            let mut reported = Vec::new();
            let rows = simulate_cases(&requests, &cases, &options, &mut |done, of| {
                reported.push((done, of))
            })
            .unwrap();
            for (case, (figures, _)) in cases.iter().zip(&rows) {
                assert_eq!(figures, &simulate_with(&requests, case, &options).unwrap(), "{case:?}");
            }
            assert_eq!(rows.len(), cases.len());
            assert_eq!(reported.last(), Some(&(24, 24)));
        }
    }
}
