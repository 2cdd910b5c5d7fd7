//! `--price`: what a run costs in object storage.

use super::{printed, run, workplace};
use std::fs;
use std::path::Path;

fn pack(folder: &Path) {
    fs::create_dir_all(folder.join("data")).unwrap();
    fs::write(folder.join("data/a"), vec![1; 3000]).unwrap();
    fs::write(folder.join("data/b"), vec![2; 40_000]).unwrap();
    fs::write(folder.join("run.csv"), "time_s,path,size\n0,b,40000\n1,a,3000\n").unwrap();
    printed(folder, "pack data -o data.zip --codec stored");
}

fn json(folder: &Path, words: &str) -> serde_json::Value {
    serde_json::from_str(&printed(folder, words)).unwrap()
}

/// Checks a case's prices against what it counted.
fn check(case: &serde_json::Value, requests: &str, bytes: &str, usd: (f64, f64)) {
    let count = |name: &str| case[name].as_f64().unwrap();
    let paid = &case["thousand_runs"];
    let within = 1000.0 * count(requests) / 1000.0 * usd.0;
    let whole = within + 1000.0 * count(bytes) / 1e9 * usd.1;
    assert!(count(requests) > 0.0 && count(bytes) > 0.0, "{case}");
    assert!((paid["requests_usd"].as_f64().unwrap() - within).abs() < 1e-9, "{case}");
    assert!((paid["with_egress_usd"].as_f64().unwrap() - whole).abs() < 1e-9, "{case}");
}

#[test]
fn a_run_from_a_pack_costs_its_requests_and_its_bytes() {
    let folder = workplace();
    pack(folder.path());
    let words = "sim run.csv --pack data.zip --device s3 --capacity 1MB --policy lru";
    let case = &json(folder.path(), &format!("{words} --price --json"))["rows"][0];
    check(case, "requests", "bytes", (0.0004, 0.09));
    let given = format!("{words} --price=requests=0.5,egress=2 --json");
    check(&json(folder.path(), &given)["rows"][0], "requests", "bytes", (0.5, 2.0));
    let text = printed(folder.path(), &format!("{words} --price"));
    assert!(text.contains("a thousand such runs by the prices of s3: Amazon"), "{text}");
    let plain = printed(folder.path(), &format!("{words} --json"));
    assert!(!plain.contains("thousand_runs"), "{plain}");
}

#[test]
fn a_simulation_in_time_and_a_comparison_say_it_too() {
    let folder = workplace();
    pack(folder.path());
    let reads = "time_s,path,offset,bytes,op\n0,b,0,40000,read\n1,a,0,3000,read\n";
    fs::write(folder.path().join("reads.csv"), reads).unwrap();
    let words = "sim reads.csv --device r2 --capacity 1MB --policy lru --readahead none";
    let rows = json(folder.path(), &format!("{words} --price --json"));
    check(&rows[0], "device_reads", "device_bytes", (0.000_36, 0.0));
    let words = "compare data data.zip --trace run.csv --device s3 --rounds 1 --price --json";
    let compared = json(folder.path(), words);
    let rivals = compared["rivals"].as_array().unwrap();
    assert!(rivals.len() >= 3, "{compared}");
    rivals.iter().for_each(|rival| check(rival, "requests", "bytes", (0.0004, 0.09)));
}

#[test]
fn prices_that_are_not_known_must_be_given() {
    let folder = workplace();
    pack(folder.path());
    for (words, part) in [
        ("sim run.csv --capacity 1MB --price", "--price"),
        ("sim run.csv --capacity 1MB --price=s3", "give --device too"),
        ("sim run.csv --device nvme --capacity 1MB --price", "--price=s3"),
        ("compare data data.zip --trace run.csv --price", "--price=s3"),
        ("sim run.csv --device s3 --capacity 1MB --price=cheap", "requests=USD"),
    ] {
        let output = run(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(part), "{words}: {said}");
    }
}
