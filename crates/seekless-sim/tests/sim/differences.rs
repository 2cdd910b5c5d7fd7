//! docs/reference/differences.md says what we miss on libCacheSim's CloudPhysics sample and why it
//! misses otherwise: our rows must be true.

use crate::shared_data::data;
use seekless_policy::eviction::NAMES;
use seekless_sim::{Case, Requests, simulate};
use std::collections::HashMap;
use std::path::PathBuf;

const SIZES: [u64; 5] = [489, 2448, 4897, 9794, 19589];

fn beside(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Policy and miss ratios of each row that says "ours".
fn rows() -> Vec<(String, [String; 5])> {
    let page = std::fs::read_to_string(beside("docs/reference/differences.md")).unwrap();
    let ours = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        (cells.len() > 8 && cells[2] == "ours").then(|| {
            let name = cells[1].trim_matches('`').to_owned();
            (name, std::array::from_fn(|size| cells[3 + size].to_owned()))
        })
    });
    ours.collect()
}

#[test]
fn the_page_lists_known_policies_once() {
    let mut names: Vec<String> = rows().into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| NAMES.contains(&name.as_str())), "{names:?}");
    let listed = names.len();
    names.sort();
    names.dedup();
    assert!(listed >= 16 && names.len() == listed, "{listed} rows");
}

#[test]
fn our_rows_are_what_the_simulator_gives() {
    let Some(path) = data("cloudphysics/cloudPhysicsIO.oracleGeneral.bin") else { return };
    let bytes = std::fs::read(path).unwrap();
    let mut numbers = HashMap::new();
    let number = |record: &[u8]| {
        let next = numbers.len() as u32;
        *numbers.entry(u64::from_le_bytes(record[4..12].try_into().unwrap())).or_insert(next)
    };
    let ids: Vec<u32> = bytes.chunks_exact(24).map(number).collect();
    let requests = Requests::from_files(&ids, &vec![1; numbers.len()]);
    for (policy, said) in rows() {
        let found = SIZES.map(|capacity| {
            let case = Case { policy: policy.clone(), capacity };
            format!("{:.4}", simulate(&requests, &case).unwrap().miss_ratio)
        });
        assert_eq!(found, said, "{policy}");
    }
}

/// Policy, capacity, requests and our misses of each row of objects of different sizes.
fn sized_rows() -> Vec<(String, u64, Requests, u64)> {
    let page = std::fs::read_to_string(beside("docs/reference/differences.md")).unwrap();
    let (_, below) = page.split_once("## Objects of different sizes").unwrap();
    let rows = below.lines().filter(|line| line.starts_with("| `")).map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let requests = cells[4].split(' ').map(|request| {
            let (object, size) = request.split_once(':').unwrap();
            (object.parse::<u32>().unwrap(), size.parse::<u64>().unwrap())
        });
        let (objects, sizes): (Vec<u32>, Vec<u64>) = requests.unzip();
        let misses = cells[5].parse().unwrap();
        assert_ne!(cells[5], cells[6], "{line}");
        let name = cells[1].trim_matches('`').to_owned();
        (name, cells[3].parse().unwrap(), Requests::from_sized(&objects, &sizes), misses)
    });
    rows.collect()
}

#[test]
fn our_misses_of_objects_of_different_sizes_are_what_the_simulator_gives() {
    let rows = sized_rows();
    assert!(rows.len() >= 12, "{} rows", rows.len());
    for (policy, capacity, requests, misses) in rows {
        let case = Case { policy: policy.clone(), capacity };
        assert_eq!(simulate(&requests, &case).unwrap().misses, misses, "{policy}");
    }
}
