//! Curves from samples are near the exact ones: the mean absolute error over a curve is at most
//! 0.02 with samples of 8,192 ids, for LRU (as Waldspurger, Park, Garthwaite and Ahmad 2015 sample)
//! and for other policies (as Waldspurger, Saemundsson, Ahmad and Park 2017 do). The bound is ours.

use crate::curve_coverage::cloudphysics;
use seekless_sim::Requests;
use seekless_sim::curve::{Curve, Sampling, Shards, exact, exact_lru, sampled, shards, spread};

const ERROR_MAX: f64 = 0.02;
const IDS: u32 = 8192;
const POINTS: usize = 12;

/// Zipf(1.0) over 100,000 ids, with a scan over 60,000 others three times.
fn zipf_and_scan() -> Requests {
    let mut sum = 0.0;
    let mut below = |rank: u32| {
        sum += 1.0 / f64::from(rank);
        sum
    };
    let cumulative: Vec<f64> = (1..=100_000).map(&mut below).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let draw = |at: u32| {
        if at % 200_000 >= 140_000 {
            return 100_000 + at % 60_000;
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let point = (state >> 11) as f64 / (1_u64 << 53) as f64 * cumulative[99_999];
        cumulative.partition_point(|&below| below < point).min(99_999) as u32
    };
    Requests::from_pages((0..600_000).map(draw).collect())
}

fn traces() -> Vec<(&'static str, Requests)> {
    let mut traces = vec![("Zipf and scan", zipf_and_scan())];
    traces.extend(cloudphysics().map(|requests| ("CloudPhysics", requests)));
    traces
}

/// As for [`IDS`], and for fewer more, since an error falls with the root of the sample.
fn error_max(ids: f64) -> f64 {
    ERROR_MAX * (f64::from(IDS) / ids).sqrt().max(1.0)
}

fn assert_near(what: &str, ids: f64, exact: &Curve, found: &Curve) {
    assert_eq!(exact.points.len(), found.points.len());
    let pairs = exact.points.iter().zip(&found.points);
    let error =
        pairs.map(|(exact, found)| (exact.miss_ratio - found.miss_ratio).abs()).sum::<f64>()
            / exact.points.len() as f64;
    println!("{what}: {error:.4}");
    assert!(error <= error_max(ids), "{what}: a mean absolute error of {error:.4}");
}

#[test]
fn shards_of_lru_err_little() {
    for (name, requests) in traces() {
        let sizes = spread(&requests, POINTS);
        let exact = exact_lru(&requests, &sizes).unwrap();
        for seed in 0..5 {
            let fixed_size = shards(&requests, &sizes, Shards { seed, ..Shards::fixed_size(IDS) });
            assert_near(
                &format!("{name}, {IDS} ids, seed {seed}"),
                IDS.into(),
                &exact,
                &fixed_size,
            );
            let fixed_rate = shards(&requests, &sizes, Shards { seed, ..Shards::fixed_rate(0.1) });
            let ids = 0.1 * f64::from(requests.distinct());
            assert_near(&format!("{name}, a tenth, seed {seed}"), ids, &exact, &fixed_rate);
        }
    }
}

#[test]
fn small_simulations_of_any_policy_err_little() {
    for (name, requests) in traces() {
        let sizes = spread(&requests, POINTS);
        for policy in ["lru", "arc", "s3-fifo", "lirs"] {
            let exact = exact(&requests, policy, &sizes, &mut |_, _| {}).unwrap();
            let sampling = Sampling::ids(&requests, IDS);
            let found = sampled(&requests, policy, &sizes, sampling, &mut |_, _| {}).unwrap();
            let share = f64::from(IDS) / f64::from(requests.distinct());
            assert!((found.rate - share).abs() < 1e-9, "a sample of {IDS} ids");
            assert_near(&format!("{name}, {policy}"), IDS.into(), &exact, &found);
        }
    }
}

#[test]
fn more_ids_than_there_are_is_all_of_them() {
    let requests = Requests::from_pages(vec![0, 1, 2, 0]);
    assert!((Sampling::ids(&requests, 500).rate - 1.0).abs() < f64::EPSILON);
}
