//! Error bars of sampled curves hold the full run's value as often as they claim: 100 seeds a
//! setting, three traces.

use crate::shared_data::data;
use seekless_policy::eviction::Id;
use seekless_sim::curve::{
    CONFIDENCE, Curve, Sampling, Shards, exact_lru, sampled, shards, spread,
};
use seekless_sim::{Case, Requests, simulate};
use std::collections::HashMap;

const SEEDS: u64 = 100;

/// Fewer of 100 have a chance of one in a thousand, if 95 in a hundred are true.
const COVERED_MIN: u64 = 88;

/// Zipf(1.0) over 20,000 pages.
fn zipf() -> Requests {
    let mut sum = 0.0;
    let mut below = |rank: u32| {
        sum += 1.0 / f64::from(rank);
        sum
    };
    let cumulative: Vec<f64> = (1..=20_000).map(&mut below).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let point = (state >> 11) as f64 / (1u64 << 53) as f64 * cumulative[19_999];
        cumulative.partition_point(|&below| below < point).min(19_999) as Id
    };
    Requests::from_pages((0..60_000).map(&mut draw).collect())
}

/// A loop over 3,000 pages, a scan that never comes back and a small working set, in turn.
fn scan_and_loop() -> Requests {
    let turn = |turn: u32| {
        let scan = (0..1500).map(move |page| 10_000 + turn * 1500 + page);
        let often = (0..1000u32).map(move |use_| 5000 + (use_ * use_ * 7 + turn) % 1500);
        (0..3000).chain(scan).chain(often)
    };
    Requests::from_pages((0..12).flat_map(turn).collect())
}

/// libCacheSim's sample, if it is there.
pub(crate) fn cloudphysics() -> Option<Requests> {
    let path = data("cloudphysics/cloudPhysicsIO.oracleGeneral.bin")?;
    let bytes = std::fs::read(path).unwrap();
    let mut numbers = HashMap::new();
    let mut number = |record: &[u8]| {
        let next = numbers.len() as Id;
        *numbers.entry(u64::from_le_bytes(record[4..12].try_into().unwrap())).or_insert(next)
    };
    Some(Requests::from_pages(bytes.chunks_exact(24).map(&mut number).collect()))
}

fn traces() -> Vec<(&'static str, Requests)> {
    let mut traces = vec![("Zipf", zipf()), ("scan and loop", scan_and_loop())];
    traces.extend(cloudphysics().map(|requests| ("CloudPhysics", requests)));
    traces
}

/// Holds the bars of all seeds against the truth, point by point and all together.
fn assert_covered(what: &str, truth: &[f64], curve: impl Fn(u64) -> Curve) {
    let mut covered = vec![0; truth.len()];
    for curve in (0..SEEDS).map(curve) {
        assert_eq!((curve.confidence, curve.points.len()), (CONFIDENCE, truth.len()), "{what}");
        for ((point, truth), covered) in curve.points.iter().zip(truth).zip(&mut covered) {
            assert!(
                point.low <= point.miss_ratio && point.miss_ratio <= point.high,
                "{what}: {point:?}"
            );
            *covered += u64::from(point.low <= *truth && *truth <= point.high);
        }
    }
    assert!(
        covered.iter().all(|&covered| covered >= COVERED_MIN),
        "{what}: {covered:?} of {SEEDS}"
    );
    let all = SEEDS * truth.len() as u64;
    let share = covered.iter().sum::<u64>() as f64 / all as f64;
    assert!(share >= CONFIDENCE, "{what}: {covered:?} of {SEEDS}");
}

#[test]
fn shards_bars_hold_the_exact_curve() {
    for (name, requests) in traces() {
        let sizes = spread(&requests, 9);
        let exact = exact_lru(&requests, &sizes).unwrap();
        let truth: Vec<f64> = exact.points.iter().map(|point| point.miss_ratio).collect();
        for sample in [Shards::fixed_rate(0.1), Shards::fixed_rate(0.02), Shards::fixed_size(1000)]
        {
            let what = format!("{name}, {sample:?}");
            assert_covered(&what, &truth, |seed| {
                shards(&requests, &sizes, Shards { seed, ..sample })
            });
        }
    }
}

#[test]
fn sampled_bars_hold_the_full_simulation() {
    for (name, requests) in traces() {
        let sizes = spread(&requests, 5);
        for policy in ["lru", "arc"] {
            let simulate = |&capacity: &u64| {
                simulate(&requests, &Case { policy: policy.into(), capacity }).unwrap().miss_ratio
            };
            let truth: Vec<f64> = sizes.iter().map(simulate).collect();
            assert_covered(&format!("{name}, {policy}"), &truth, |seed| {
                let sampling = Sampling { seed, ..Sampling::rate(0.05) };
                sampled(&requests, policy, &sizes, sampling, &mut |_, _| {}).unwrap()
            });
        }
    }
}

#[test]
fn bars_are_narrow_enough_to_be_of_use() {
    let requests = zipf();
    let sizes = [2000 * 4096];
    let width = |curve: Curve| curve.points[0].high - curve.points[0].low;
    let shards = width(shards(&requests, &sizes, Shards::fixed_rate(0.1)));
    assert!((0.001..0.15).contains(&shards), "{shards}");
    let sampled =
        width(sampled(&requests, "arc", &sizes, Sampling::rate(0.1), &mut |_, _| {}).unwrap());
    assert!((0.0001..0.05).contains(&sampled), "{sampled}");
}

#[test]
fn a_sample_of_everything_is_exact() {
    let requests = scan_and_loop();
    let sizes = spread(&requests, 9);
    let exact = exact_lru(&requests, &sizes).unwrap();
    assert_eq!(shards(&requests, &sizes, Shards::fixed_rate(1.0)).points, exact.points);
    assert_eq!(shards(&requests, &sizes, Shards::fixed_size(u32::MAX)).points, exact.points);
}

#[test]
fn the_same_seed_gives_the_same_curve() {
    let requests = zipf();
    let sizes = spread(&requests, 9);
    let sample = Shards { seed: 7, ..Shards::fixed_size(500) };
    assert_eq!(shards(&requests, &sizes, sample), shards(&requests, &sizes, sample));
    let sampling = Sampling { seed: 7, ..Sampling::rate(0.05) };
    let curve = || sampled(&requests, "arc", &sizes, sampling, &mut |_, _| {}).unwrap();
    assert_eq!(curve(), curve());
}

#[test]
fn files_are_sampled_by_weight_too() {
    let ids: Vec<Id> = zipf().ids().to_vec();
    let bytes: Vec<u64> = (0..20_000).map(|id| 500 + id * 2_654_435_761 % 8000).collect();
    let requests = Requests::from_files(&ids, &bytes);
    let sizes = [2_000_000, 20_000_000];
    let exact = exact_lru(&requests, &sizes).unwrap();
    let curves = [
        shards(&requests, &sizes, Shards::fixed_rate(0.2)),
        sampled(&requests, "lru", &sizes, Sampling::rate(0.2), &mut |_, _| {}).unwrap(),
    ];
    for (curve, at) in curves.iter().flat_map(|curve| [(curve, 0), (curve, 1)]) {
        let (found, exact) = (&curve.points[at], &exact.points[at]);
        assert!(
            found.low <= exact.miss_ratio && exact.miss_ratio <= found.high,
            "{found:?} {exact:?}"
        );
        assert!(
            (found.byte_miss_ratio - exact.byte_miss_ratio).abs() < 0.05,
            "{found:?} {exact:?}"
        );
    }
}
