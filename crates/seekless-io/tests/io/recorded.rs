//! A recording has each load that was handed out, and each release, once and under its name.

use crate::support::Sample;
use seekless_io::{ErrorKind, Store};
use seekless_pack::Codec;
use std::collections::HashMap;
use std::path::Path;

/// The rows of a log: path, bytes and op, in the order of their times.
fn rows(path: &Path) -> Vec<(String, u64, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    let mut rows: Vec<Vec<String>> =
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect();
    rows.sort_by_key(|row| row[0].parse::<u64>().unwrap());
    let row = |row: Vec<String>| (row[4].clone(), row[6].parse().unwrap(), row[7].clone());
    rows.into_iter().map(row).collect()
}

#[test]
fn loads_and_releases_are_recorded_hits_too_and_nothing_before_or_after() {
    let sample = Sample::of_sizes([1000, 2000, 3000], Codec::Auto);
    let store = Store::builder().open(&sample.path).unwrap();
    let log = sample.path.with_extension("csv");
    let before = store.load(sample.name(0)).unwrap();
    let recording = store.record(&log).unwrap();
    let first = store.load(sample.name(1)).unwrap();
    let again = first.clone();
    drop(first);
    drop(store.load(sample.name(0)).unwrap());
    drop(again);
    assert!(store.load("nowhere").is_err());
    let held = store.load(sample.name(2)).unwrap();
    drop(before);
    let recorded = recording.finish().unwrap();
    drop(held);
    drop(store.load(sample.name(1)).unwrap());
    let row = |number: usize, op: &str| {
        (sample.name(number).to_owned(), sample.bytes(number).len() as u64, op.to_owned())
    };
    let expected =
        [row(1, "load"), row(0, "load"), row(0, "release"), row(1, "release"), row(2, "load")];
    assert_eq!(rows(&log), expected);
    assert_eq!((recorded.loads, recorded.releases, recorded.lost), (3, 2, 0));
}

#[test]
fn loads_of_many_are_recorded_in_the_order_of_the_list() {
    let sample = Sample::mixed();
    let store = Store::builder().open(&sample.path).unwrap();
    let log = sample.path.with_extension("csv");
    let recording = store.record(&log).unwrap();
    let names: Vec<String> = sample.names().into_iter().rev().collect();
    store.load_many(names.clone()).for_each(drop);
    recording.finish().unwrap();
    let loads = rows(&log).into_iter().filter(|row| row.2 == "load").map(|row| row.0);
    assert_eq!(loads.collect::<Vec<_>>(), names);
}

#[test]
fn all_threads_are_recorded() {
    let sample = Sample::of_sizes([100; 40], Codec::Stored);
    let store = Store::builder().open(&sample.path).unwrap();
    let log = sample.path.with_extension("csv");
    let recording = store.record(&log).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for name in sample.names().iter().cycle().take(2000) {
                    drop(store.load(name).unwrap());
                }
            });
        }
    });
    let recorded = recording.finish().unwrap();
    let mut count: HashMap<(String, String), u64> = HashMap::new();
    rows(&log).into_iter().for_each(|(name, _, op)| *count.entry((name, op)).or_default() += 1);
    assert_eq!((recorded.loads, recorded.releases, recorded.lost), (8000, 8000, 0));
    assert_eq!(count.len(), 80);
    assert!(count.values().all(|&count| count == 200), "{count:?}");
}

#[test]
fn a_file_is_not_replaced_and_a_store_is_recorded_once_at_a_time() {
    let sample = Sample::of_sizes([100], Codec::Stored);
    let store = Store::builder().open(&sample.path).unwrap();
    let error = store.record(&sample.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Record);
    assert!(error.to_string().contains("sample.zip"), "{error}");
    let (one, other) = (sample.path.with_extension("1"), sample.path.with_extension("2"));
    let recording = store.record(&one).unwrap();
    assert!(store.record(&other).unwrap_err().to_string().contains("already"));
    assert!(!other.exists());
    drop(store.load(sample.name(0)).unwrap());
    assert_eq!(recording.finish().unwrap().loads, 1);
    assert!(store.record(&other).is_ok(), "the first has ended");
}
