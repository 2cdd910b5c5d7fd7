//! `seekless sim --curve` and `--picture`: curves agree with plain runs, and pictures have the
//! format of their ending.

use super::{printed, run, workplace};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// 3,000 loads of 400 files, some more popular than others.
fn trace(directory: &Path) {
    let loads = (0..3000u64).map(|turn| turn * turn % 401 * (turn % 7) % 400);
    let rows: String =
        loads.map(|file| format!("file{file},{}\n", 500 + file * 37 % 1000)).collect();
    fs::write(directory.join("run.csv"), format!("path,size\n{rows}")).unwrap();
}

fn json(directory: &Path, words: &str) -> Value {
    serde_json::from_str(&printed(directory, words)).unwrap()
}

#[test]
fn an_exact_curve_has_the_miss_ratios_of_plain_runs() {
    let directory = workplace();
    trace(directory.path());
    let curves =
        json(directory.path(), "sim run.csv --curve exact --policy lru,arc --points 6 --json");
    for curve in curves.as_array().unwrap() {
        let policy = curve["policy"].as_str().unwrap();
        assert_eq!(curve["points"].as_array().unwrap().len(), 6);
        for point in curve["points"].as_array().unwrap() {
            let words =
                format!("sim run.csv --policy {policy} --capacity {}B --json", point["capacity"]);
            assert_eq!(
                json(directory.path(), &words)[0]["miss_ratio"],
                point["miss_ratio"],
                "{words}"
            );
        }
    }
}

#[test]
fn samples_print_their_bars() {
    let directory = workplace();
    trace(directory.path());
    for method in ["shards=0.5", "shards=100", "sampled=0.5"] {
        let text = printed(directory.path(), &format!("sim run.csv --curve {method} --points 5"));
        assert!(text.contains("hold the full run's value 95 times in 100"), "{text}");
        assert!(text.contains("from") && text.contains("to  missed bytes"), "{text}");
    }
}

/// `--shards` is for any policy, by a share of the ids or by their number.
#[test]
fn shards_of_any_policy_are_the_curves_of_samples() {
    let directory = workplace();
    trace(directory.path());
    for (shards, curve) in [("0.5", "sampled=0.5"), ("100", "sampled=100")] {
        let of = |method: &str| {
            let words = format!("sim run.csv {method} --policy lru,arc --points 4 --seed 3 --json");
            json(directory.path(), &words)
        };
        let found = of(&format!("--shards {shards}"));
        assert_eq!(found, of(&format!("--curve {curve}")));
        assert_eq!(found[1]["policy"], "arc");
        assert!(found[1]["points"][1]["low"].as_f64() <= found[1]["points"][1]["high"].as_f64());
    }
}

#[test]
fn pictures_are_what_their_endings_say() {
    let directory = workplace();
    trace(directory.path());
    for words in
        ["--curve exact --policy lru", "--capacity 50KB,100KB", "--every 500 --capacity 50KB"]
    {
        printed(directory.path(), &format!("sim run.csv {words} --force --picture a.svg"));
        printed(directory.path(), &format!("sim run.csv {words} --force --picture a.png"));
        let svg = fs::read_to_string(directory.path().join("a.svg")).unwrap();
        assert!(svg.starts_with("<svg ") && svg.contains(">lru"), "{svg}");
        assert!(fs::read(directory.path().join("a.png")).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_to_type() {
    let directory = workplace();
    trace(directory.path());
    for (words, hint) in [
        ("--picture a.gif", ".svg or .png"),
        ("--curve magic", "sampled=RATE"),
        ("--curve shards=0.1 --policy arc", "sampled=0.1"),
        ("--curve exact --capacity 1MB", "cannot be used with"),
        ("--shards 0", "neither a share of the ids (such as 0.01) nor a number"),
        ("--shards 0.1 --curve exact", "cannot be used with"),
    ] {
        let output = run(directory.path(), &format!("sim run.csv {words}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(hint), "{words}: {said}");
    }
}
