//! What a store counts: depth, waits and how long they took, by the engine's clock.

use crate::support::{Gate, Sample};
use seekless_device::{DeviceSpec, Nanos};
use seekless_engine::{Clock, Engine};
use seekless_io::{LONG_HELD_AFTER, Store};
use seekless_pack::Codec;
use std::sync::Arc;

const MS: Nanos = 1_000_000;

/// Every read takes this long.
const READ_NS: Nanos = 10 * MS;

/// A store on a device of 100 requests a second, whose clock skips all waits.
fn slow(sample: &Sample) -> (Arc<dyn Engine>, Store) {
    let spec = DeviceSpec::Volume { iops: 100, bytes_per_second: 1 << 40 };
    let clock = Clock::skipping();
    let engine = seekless_engine::build_throttled(spec, clock).unwrap();
    let builder = Store::builder().shared_engine(engine.clone()).direct(false);
    (engine, builder.read_ahead_cache(0).open(&sample.path).unwrap())
}

#[test]
fn waits_are_those_of_demands_that_were_no_hits() {
    let sample = Sample::of_sizes([40_000; 60], Codec::Stored);
    let (_engine, store) = slow(&sample);
    // What a bucket of the volume lets pass at its start is over before the last of these.
    (0..50).for_each(|number| drop(store.load(sample.name(number)).unwrap()));
    (0..50).for_each(|number| drop(store.load(sample.name(number)).unwrap()));
    let statistics = store.statistics();
    assert_eq!((statistics.waits, statistics.hits, statistics.reads), (50, 50, 50));
    assert_eq!((statistics.depth_max, statistics.mean_depth()), (1, 1.0));
    assert!(statistics.wait_p50_ns <= statistics.wait_p99_ns);
    assert!(statistics.wait_p99_ns <= statistics.wait_max_ns);
    assert!(statistics.wait_max_ns * 50 >= statistics.wait_ns);
    assert!(statistics.wait_ns >= 30 * READ_NS, "{statistics:?}");
    // A list is read ahead of its consumer: nothing waits for its files by itself.
    assert_eq!(store.load_many(sample.names()).count(), 60);
    assert_eq!(store.statistics().waits, 50);
}

#[test]
fn the_depth_is_of_reads_at_one_time() {
    let sample = Sample::of_sizes([700_000; 6], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = Store::builder().shared_engine(gate.clone()).open(&sample.path).unwrap();
    gate.close();
    let loads: Vec<_> = (0..4).map(|number| store.load_async(sample.name(number))).collect();
    gate.wait_for(4);
    gate.open();
    loads.into_iter().for_each(|load| drop(pollster::block_on(load).unwrap()));
    let statistics = store.statistics();
    assert_eq!((statistics.reads, statistics.depths, statistics.depth_max), (4, 1 + 2 + 3 + 4, 4));
    assert_eq!((statistics.waits, statistics.mean_depth()), (4, 2.5));
    assert!(statistics.waste() < 0.01, "{statistics:?}");
}

#[test]
fn stored_content_is_copied_at_most_once_and_decoded_content_never() {
    let large = 300_000;
    let stored = Sample::of_sizes([1000, 1000, large, large], Codec::Stored);
    let store = Store::open(&stored.path).unwrap();
    let mut held = Vec::new();
    for _ in 0..3 {
        held.extend((0..4).map(|number| store.load(stored.name(number)).unwrap()));
        held.extend(held.clone());
        held.extend(store.load_many(stored.names()).map(|(_, content)| content.unwrap()));
    }
    assert_eq!(
        store.statistics().copied_bytes,
        2000,
        "the large ones lie where the device put them"
    );
    assert!(held.iter().all(|content| store.contains(content.as_ptr())));
    let coded = Sample::of_files(vec![("text".to_owned(), vec![b'a'; large])], Codec::Deflate);
    let store = Store::open(&coded.path).unwrap();
    let (first, again) = (store.load("text").unwrap(), store.load("text").unwrap());
    assert!(first.ptr_eq(&again));
    let told = store.statistics();
    assert_eq!((told.copied_bytes, told.delivered_bytes), (0, 2 * large as u64));
    assert!(told.coded_bytes > 0 && told.coded_bytes < large as u64, "decoded once: {told:?}");
}

#[test]
fn a_buffer_that_is_held_while_thousands_come_is_counted() {
    let sample = Sample::of_sizes([60_000; 200], Codec::Stored);
    let store = Store::builder().cache(1 << 20).open(&sample.path).unwrap();
    let _forgotten = store.load(sample.name(0)).unwrap();
    let mut come = 0;
    while come < 2 * LONG_HELD_AFTER {
        (1..200).for_each(|number| drop(store.load(sample.name(number)).unwrap()));
        let told = store.statistics();
        come = told.misses + told.bypassed;
    }
    assert_eq!(store.statistics().long_held, 1);
}
