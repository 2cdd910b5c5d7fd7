//! Golden figures over published traces of single requests: LRU and ARC on libCacheSim's
//! CloudPhysics sample (`reference/simulators-and-trace-formats.md`, 1.1, object mode), LRU on
//! McCarthy's web server.

use crate::shared_data::data;
use seekless_policy::eviction::Id;
use seekless_sim::{Case, Options, Requests, simulate, simulate_with};
use std::collections::HashMap;
use std::num::NonZeroU64;

/// Requests for objects of weight 1, numbered by first appearance.
fn objects(names: impl Iterator<Item = u64>) -> Requests {
    let mut numbers = HashMap::new();
    let ids: Vec<Id> = names
        .map(|name| {
            let next = numbers.len() as Id;
            *numbers.entry(name).or_insert(next)
        })
        .collect();
    Requests::from_files(&ids, &vec![1; numbers.len()])
}

fn miss_ratio(requests: &Requests, policy: &str, capacity: u64) -> f64 {
    simulate(requests, &Case { policy: policy.into(), capacity }).unwrap().miss_ratio
}

/// libCacheSim's records of 24 bytes; the object is the u64 at byte 4.
fn oracle_general(bytes: &[u8]) -> Requests {
    let object = |record: &[u8]| u64::from_le_bytes(record[4..12].try_into().unwrap());
    objects(bytes.chunks_exact(24).map(object))
}

/// 200 requests for 41 objects, low numbers more often: the form of the sample in 4,800 bytes.
fn made_sample() -> Vec<u8> {
    let mut state = 2015_u64;
    let mut below_48 = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 48
    };
    let names: Vec<u64> = (0..200).map(|_| below_48() * below_48() / 48).collect();
    let record = |(time, name): (usize, &u64)| {
        let next = names[time + 1..].iter().position(|later| later == name);
        // Counted from 1; -1 where there is none.
        let next = next.map_or(-1, |after| (time + after + 2) as i64);
        let (time, bytes) = (time as u32, 512_u32);
        [&time.to_le_bytes()[..], &name.to_le_bytes(), &bytes.to_le_bytes(), &next.to_le_bytes()]
            .concat()
    };
    names.iter().enumerate().flat_map(record).collect()
}

/// Needs no data. The misses are those that libCacheSim 0.3.5 itself (from PyPI) counts on these
/// bytes in caches of 8 and 16 objects: `LRU(8).process_trace(reader)` and so on, with a
/// `TraceReader` of ORACLE_GENERAL_TRACE and `ignore_obj_size=True`.
#[test]
fn policies_miss_what_libcachesim_counts_on_a_made_sample() {
    let bytes = made_sample();
    assert_eq!(crate::md5::prefix(&bytes), "4cd82e14dbdcecaf", "the bytes that it counted");
    let requests = oracle_general(&bytes);
    assert_eq!((requests.len(), requests.distinct()), (200, 41));
    let counted = [
        ("lru", [131, 90]),
        ("fifo", [135, 97]),
        ("clock", [131, 90]),
        ("sieve", [120, 84]),
        ("arc", [128, 85]),
        ("lfu", [123, 83]),
        ("2q", [130, 85]),
        ("opt", [86, 56]), // Belady
        // With draws: in a new thread, so that libCacheSim's begin anew too.
        ("size@heap", [139, 101]), // Size
        ("lecar", [129, 87]),
        ("lhd", [124, 84]),
        ("cacheus@libcachesim", [130, 87]),
    ];
    for (policy, misses) in counted {
        let found = [8, 16].map(|capacity| {
            let case = Case { policy: policy.into(), capacity };
            simulate(&requests, &case).unwrap().misses
        });
        assert_eq!(found, misses, "{policy}");
    }
}

/// The sample of CloudPhysics, if it is there.
fn cloud_physics() -> Option<Requests> {
    let path = data("cloudphysics/cloudPhysicsIO.oracleGeneral.bin")?;
    let requests = oracle_general(&std::fs::read(path).unwrap());
    assert_eq!((requests.len(), requests.distinct()), (113_872, 48_974));
    Some(requests)
}

/// Miss ratios at the five published sizes.
fn ratios(requests: &Requests, policy: &str) -> [String; 5] {
    [489, 2448, 4897, 9794, 19589]
        .map(|objects| format!("{:.4}", miss_ratio(requests, policy, objects)))
}

#[test]
fn lru_and_arc_miss_what_is_published_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    let ratios = |policy| ratios(&requests, policy);
    assert_eq!(ratios("lru"), ["0.8380", "0.8246", "0.8049", "0.7249", "0.6328"]);
    assert_eq!(ratios("landlord@full"), ratios("lru"), "with equal sizes full restore is LRU");
    assert_eq!(ratios("arc"), ["0.8275", "0.8114", "0.7728", "0.7026", "0.5679"]);
}

#[test]
fn policies_of_fifo_queues_miss_what_is_published_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    let ratios = |policy| ratios(&requests, policy);
    assert_eq!(ratios("sieve"), ["0.8292", "0.8172", "0.7907", "0.7162", "0.5720"]);
    assert_eq!(ratios("qdlp"), ["0.8285", "0.8026", "0.7470", "0.6719", "0.5679"]);
    // As libCacheSim's version before October 2024; a plain version of the paper gives 0.8027 at
    // the second size.
    assert_eq!(ratios("s3-fifo"), ["0.8304", "0.8026", "0.7525", "0.6780", "0.6177"]);
    assert_eq!(ratios("s3-fifo@2024"), ["0.8305", "0.8130", "0.7553", "0.6663", "0.5255"]);
    assert_eq!(ratios("clock2q+"), ["0.8286", "0.8149", "0.7517", "0.6615", "0.5171"]);
}

#[test]
fn policies_that_differ_from_the_published_figures_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    let ratios = |policy| ratios(&requests, policy);
    // libCacheSim 0.3.5: 0.8315, 0.8138, 0.7518, 0.6559, 0.5190, so two of five differ by .0001;
    // why is not known. Without the bound on ghosts, which the paper lacks, a trial gave 0.8349,
    // 0.8177, 0.7684, 0.6437, 0.5190.
    assert_eq!(ratios("lirs"), ["0.8315", "0.8139", "0.7519", "0.6559", "0.5190"]);
}

#[test]
fn block_policies_miss_what_is_published_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    let ratios = |policy| ratios(&requests, policy);
    assert_eq!(ratios("clock"), ["0.8372", "0.8240", "0.8044", "0.7483", "0.6359"]);
    assert_eq!(ratios("2q"), ["0.8305", "0.8151", "0.7742", "0.6954", "0.6334"]);
}

#[test]
fn block_policies_that_differ_from_the_published_figures_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    let ratios = |policy| ratios(&requests, policy);
    // libCacheSim 0.3.5: 0.8275, 0.8117, 0.7735, 0.7107, 0.5679. It rounds the steps of the target
    // down, adapts before it evicts, trims B1 at ghost hits too and B2 never; with those four
    // changes this gives its figures.
    assert_eq!(ratios("car"), ["0.8278", "0.8117", "0.7735", "0.6982", "0.5679"]);
    // libCacheSim 0.3.5: 0.8818, 0.8673, 0.8363, 0.7662, 0.5670. There a ghost that is promoted is
    // not entered in the table of resident objects, so the next request for it misses again. And
    // newcomers are refused while cold pages have their share. A model of that gives its figures.
    // LIRS, of which this is the clock, is within .0145 of ours.
    assert_eq!(ratios("clock-pro"), ["0.8320", "0.8161", "0.7576", "0.6663", "0.5335"]);
}

/// Needs no data. A web server's worst case in McCarthy's form, an id a line: the same 300 files in
/// turn. By his definition, misses of all requests so far, an LRU cache that holds all of them
/// misses 1, 1/2, 1/3, … after each turn. One entry fewer, and each file leaves just before it is
/// asked for again.
#[test]
fn lru_misses_all_of_a_cycle_that_is_one_entry_too_long() {
    let text: String = (0..4 * 300).map(|at| format!("{}\n", 51 + 7 * (at % 300))).collect();
    let requests = objects(text.lines().map(|line| line.parse().unwrap()));
    let options = Options { every: NonZeroU64::new(300), ..Options::default() };
    let points = |entries| {
        let case = Case { policy: "lru".into(), capacity: entries };
        let points = simulate_with(&requests, &case, &options).unwrap().over_time;
        points.iter().map(|point| format!("{:.6}", point.miss_ratio)).collect::<Vec<_>>()
    };
    assert_eq!(points(300), ["1.000000", "0.500000", "0.333333", "0.250000"]);
    assert_eq!(points(299), ["1.000000"; 4]);
}

#[test]
fn lru_misses_what_mccarthy_published() {
    let Some(path) = data("mccarthy-2015/trace3.txt") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let names: Vec<u64> = text.lines().map(|line| line.trim().parse().unwrap()).collect();
    let requests = objects(names.into_iter());
    let options = Options { every: NonZeroU64::new(5000), ..Options::default() };
    for entries in [15_000, 20_000, 25_000] {
        let Some(published) = data(&format!("mccarthy-2015/cache_out_{entries}.txt")) else {
            return;
        };
        let case = Case { policy: "lru".into(), capacity: entries };
        let points = simulate_with(&requests, &case, &options).unwrap().over_time;
        let published = std::fs::read_to_string(published).unwrap();
        let published = published.lines().map(|line| {
            let mut fields = line.split_whitespace();
            let count: u64 = fields.next().unwrap().parse().unwrap();
            (count, fields.next().unwrap().parse::<f64>().unwrap())
        });
        let mut compared = 0;
        for (count, ratio) in published.filter(|point| (5000..=310_000).contains(&point.0)) {
            let point = points.iter().find(|point| point.requests == count);
            let found = point.unwrap_or_else(|| panic!("no point at {count}")).miss_ratio;
            compared += 1;
            // Six significant digits are printed.
            assert!(
                (found - ratio).abs() < 6e-7,
                "{entries} entries, {count}: {found}, published {ratio}"
            );
        }
        assert_eq!(compared, 62);
    }
}

#[test]
fn classic_policies_miss_what_is_published_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    for (policy, published) in [
        ("fifo", ["0.8476", "0.8266", "0.8054", "0.7128", "0.6343"]),
        ("lfu", ["0.8498", "0.8172", "0.7907", "0.7162", "0.5720"]),
        ("lru-2", ["0.8479", "0.8172", "0.7907", "0.7162", "0.5720"]),
        ("slru@4", ["0.8307", "0.8214", "0.7905", "0.7250", "0.5391"]),
        ("mq@fixed", ["0.8312", "0.8107", "0.7757", "0.7311", "0.6092"]),
        ("opt", ["0.7927", "0.7032", "0.6290", "0.5449", "0.4589"]),
    ] {
        assert_eq!(ratios(&requests, policy), published, "{policy}");
    }
}

#[test]
fn learned_policies_miss_what_libcachesim_counts_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    for (policy, counted) in [
        ("size@heap", ["0.8585", "0.8479", "0.8171", "0.7478", "0.5510"]),
        ("lecar", ["0.8360", "0.8244", "0.8049", "0.7247", "0.5771"]),
        ("lhd", ["0.8367", "0.8237", "0.8042", "0.7271", "0.6235"]),
        ("cacheus@libcachesim", ["0.8353", "0.8189", "0.7864", "0.6790", "0.5896"]),
    ] {
        assert_eq!(ratios(&requests, policy), counted, "{policy}");
    }
}

#[test]
fn policies_with_ties_and_samples_miss_about_what_is_published_on_cloudphysics() {
    let Some(requests) = cloud_physics() else { return };
    for (policy, tolerance, published) in [
        ("opt@bypass", 0.0001, [0.7927, 0.7032, 0.6290, 0.5449, 0.4589]),
        ("gdsf", 0.0001, [0.8315, 0.8202, 0.8026, 0.7469, 0.6233]),
        ("belady-size", 0.0003, [0.7934, 0.7041, 0.6299, 0.5449, 0.4589]),
        ("hyperbolic", 0.0025, [0.8345, 0.8205, 0.8030, 0.7466, 0.6245]),
        ("random", 0.0025, [0.8508, 0.8224, 0.7927, 0.7341, 0.6285]),
    ] {
        for (found, published) in ratios(&requests, policy).iter().zip(published) {
            let found: f64 = found.parse().unwrap();
            assert!(
                (found - published).abs() < tolerance + 5e-5,
                "{policy}: {found}, published {published}"
            );
        }
    }
    assert_eq!(ratios(&requests, "gds"), ratios(&requests, "lru"), "with equal sizes it is LRU");
    assert_eq!(
        ratios(&requests, "lfu-da"),
        ratios(&requests, "gdsf"),
        "with equal sizes they are one"
    );
}
