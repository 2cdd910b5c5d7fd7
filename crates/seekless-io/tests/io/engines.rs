//! Every loaded entry equals the file's bytes, with every engine, past the page cache and through
//! it.

use crate::support::{Gate, Sample, random};
use seekless_device::DeviceSpec;
use seekless_engine::{EngineKind, build};
use seekless_io::{ErrorKind, Store, StoreBuilder};
use seekless_pack::Codec;
use std::sync::Arc;

fn check_all(sample: &Sample, store: &Store) {
    assert_eq!(store.len(), sample.files.len());
    let mut order: Vec<usize> = (0..sample.files.len()).collect();
    let mut seed = 99;
    order.sort_by_cached_key(|_| random(&mut seed));
    for &number in &order {
        assert_eq!(
            &store.load(sample.name(number)).unwrap()[..],
            sample.bytes(number),
            "load {number}"
        );
    }
    let names: Vec<&str> = order.iter().map(|&number| sample.name(number)).collect();
    let mut seen = vec![false; names.len()];
    for (position, result) in store.load_many(names) {
        assert_eq!(&result.unwrap()[..], sample.bytes(order[position]), "load_many {position}");
        assert!(!std::mem::replace(&mut seen[position], true), "position {position} came twice");
    }
    assert!(seen.iter().all(|&seen| seen));
}

fn check_engine(builder: impl Fn() -> StoreBuilder) {
    let sample = Sample::mixed();
    for direct in [true, false] {
        let store = builder().cache(300_000).direct(direct).open(&sample.path).unwrap();
        if direct && !store.is_direct() {
            eprintln!("skipped: the file system refuses O_DIRECT");
        }
        assert!(direct || !store.is_direct());
        check_all(&sample, &store);
    }
}

#[test]
fn the_thread_pool_delivers_every_byte() {
    check_engine(|| Store::builder().engine(EngineKind::Threads));
}

#[test]
fn the_ring_delivers_every_byte() {
    match build(EngineKind::Ring) {
        Ok(ring) => check_engine(|| Store::builder().shared_engine(ring.clone())),
        Err(error) => eprintln!("skipped: {error}"),
    }
}

#[test]
fn the_throttled_engine_delivers_every_byte() {
    let spec = DeviceSpec::Volume { iops: 20_000, bytes_per_second: 2_000_000_000 };
    check_engine(|| Store::builder().engine(EngineKind::Throttled(spec.clone())));
}

#[test]
fn one_worker_and_no_read_ahead_deliver_every_byte() {
    check_engine(|| Store::builder().workers(0).read_ahead_cache(0).window(1));
}

#[test]
fn a_stored_file_over_a_reads_size_is_not_copied_and_equal() {
    let sample = Sample::of_sizes([100, 3_000_000, 100], Codec::Stored);
    let store = Store::open(&sample.path).unwrap();
    assert_eq!(&store.load(sample.name(1)).unwrap()[..], sample.bytes(1));
}

#[test]
fn an_entry_is_one_read_with_its_header_and_the_next_ones_come_with_it() {
    let sample = Sample::of_sizes(vec![2_000; 20], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store =
        Store::builder().shared_engine(gate.clone()).cache(1 << 20).open(&sample.path).unwrap();
    gate.close();
    gate.open();
    let opened = store.counters().requests;
    for number in 0..20 {
        assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number));
    }
    // 40 KB: all within the least forward window of the first.
    assert_eq!(store.counters().requests - opened, 1);
    let statistics = store.statistics();
    assert_eq!((statistics.misses, statistics.read_ahead_hits, statistics.hits), (20, 19, 0));
    assert_eq!(statistics.coded_bytes, 40_000);
    assert!(
        statistics.unused_bytes < 2 * 4096,
        "only what alignment adds: {}",
        statistics.unused_bytes
    );
}

#[test]
fn what_lies_before_an_entry_comes_with_it_and_what_is_at_hand_is_not_read_again() {
    let sample = Sample::of_sizes(vec![2_000; 100], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store =
        Store::builder().shared_engine(gate.clone()).cache(1 << 20).open(&sample.path).unwrap();
    gate.close();
    gate.open();
    for number in [50, 45, 60, 75] {
        assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number));
    }
    let reads = gate.submitted();
    assert_eq!(reads.len(), 2, "one for 50 and its neighbours, one for 75: {reads:?}");
    let (first_end, second) = (reads[0].0 + reads[0].1, reads[1].0);
    assert!(reads[0].0 < store.index().entry(45).header_offset);
    // The window of 75 would reach back into the first read. Only the page that both touch is read
    // twice.
    assert!(first_end.abs_diff(second) <= 4096, "{reads:?}");
}

#[test]
fn opening_reads_the_directory_only_and_counts_it() {
    let sample = Sample::of_sizes(vec![1_000_000; 3], Codec::Stored);
    let store = Store::open(&sample.path).unwrap();
    let counters = store.counters();
    assert!(counters.requests >= 1 && counters.bytes < 300_000, "{counters:?}");
    let index = store.index();
    assert_eq!((index.find("dir/0001.bin"), index.name(2)), (Some(1), "dir/0002.bin"));
    assert_eq!(store.load("DIR/0001.BIN").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn an_unknown_policy_is_refused_with_the_nearest_names() {
    let sample = Sample::of_sizes([1], Codec::Stored);
    let error = Store::builder().policy("landlor").open(&sample.path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setting);
    assert!(error.to_string().contains("landlord"), "{error}");
}

#[test]
fn a_dropped_store_has_joined_its_threads_and_released_the_engine() {
    let sample = Sample::mixed();
    let engine = build(EngineKind::Threads).unwrap();
    let store = Store::builder().shared_engine(engine.clone()).open(&sample.path).unwrap();
    let buffer = store.load(sample.name(50)).unwrap();
    let clone = store.clone();
    drop(store);
    drop(clone);
    assert_eq!(Arc::strong_count(&engine), 1);
    assert_eq!(&buffer[..], sample.bytes(50), "a buffer outlives its store");
}
