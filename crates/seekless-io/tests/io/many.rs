//! `load_many`: large reads, bounded memory, a clean end whenever its consumer likes.

use crate::support::{Gate, Sample};
use seekless_device::Costs;
use seekless_io::{Decision, ErrorKind, Store};
use seekless_pack::Codec;
use std::sync::Arc;

#[test]
fn neighbours_are_read_together_and_each_byte_once() {
    let sample = Sample::of_sizes(vec![40_000; 200], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = Store::builder().shared_engine(gate.clone()).open(&sample.path).unwrap();
    gate.close();
    gate.open();
    assert_eq!(store.load_many(sample.names()).filter(|(_, result)| result.is_ok()).count(), 200);
    let reads = gate.submitted();
    // 8 MB in reads of up to 1 MiB.
    assert!(reads.len() <= 9, "{reads:?}");
    assert!(reads.iter().all(|&(_, bytes)| bytes <= 1 << 20), "{reads:?}");
    let read: u64 = reads.iter().map(|&(_, bytes)| bytes).sum();
    assert!(read < 8_000_000 + 200 * 200 + 9 * 8192, "{read}");
}

#[test]
fn a_list_runs_no_farther_ahead_than_there_is_memory() {
    for codec in [Codec::Stored, Codec::Auto] {
        let sample = Sample::of_sizes(vec![500_000; 100], codec);
        for cache in [0, 2 << 20] {
            let builder = Store::builder().cache(cache).beyond_cache(4 << 20);
            let store = builder.open(&sample.path).unwrap();
            for (number, content) in store.load_many(sample.names()) {
                assert!(content.unwrap()[..] == *sample.bytes(number));
            }
            let following = store.follow(sample.names()).unwrap();
            for number in 0..100 {
                let taken = following.take(&[sample.name(number)]).remove(0);
                assert!(taken.unwrap()[..] == *sample.bytes(number));
            }
        }
    }
}

#[test]
fn no_read_is_more_than_a_disk_takes_at_once_however_dear_a_request_is() {
    let sample = Sample::of_sizes(vec![40_000; 200], Codec::Stored);
    let costs = Costs { request_ns: 8_000_000, bytes_per_second: 150_000_000, depth: 1 };
    let mut gate = Gate::new();
    gate.costs = costs;
    let gate = Arc::new(gate);
    let store = Store::builder().shared_engine(gate.clone()).open(&sample.path).unwrap();
    gate.close();
    gate.open();
    assert_eq!(store.load_many(sample.names()).filter(|(_, result)| result.is_ok()).count(), 200);
    store.load(sample.name(0)).unwrap();
    let reads = gate.submitted();
    assert!(reads.iter().all(|&(_, bytes)| bytes <= 254 * 4096), "{reads:?}");
}

#[test]
fn duplicates_cached_and_unknown_names_need_no_read() {
    let sample = Sample::of_sizes(vec![1_000; 10], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = Store::builder().shared_engine(gate.clone()).open(&sample.path).unwrap();
    store.load(sample.name(9)).unwrap();
    gate.close();
    gate.open();
    let (a, b) = (sample.name(9), sample.name(0));
    let results: Vec<_> = store.load_many([a, b, "nowhere", b, a, b]).collect();
    assert_eq!(results.len(), 6);
    for (position, result) in results {
        match position {
            2 => assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound),
            0 | 4 => assert_eq!(&result.unwrap()[..], sample.bytes(9)),
            _ => assert_eq!(&result.unwrap()[..], sample.bytes(0)),
        }
    }
    assert!(gate.submitted().len() <= 1, "{:?}", gate.submitted());
}

#[test]
fn the_list_may_be_empty_and_says_how_much_is_left() {
    let sample = Sample::of_sizes([5, 6], Codec::Stored);
    let store = Store::open(&sample.path).unwrap();
    assert_eq!(store.load_many(Vec::<String>::new()).count(), 0);
    let mut many = store.load_many(sample.names());
    assert_eq!(many.len(), 2);
    many.next();
    assert_eq!(many.len(), 1);
}

#[test]
fn a_consumer_that_stops_stops_the_reading() {
    let sample = Sample::of_sizes(vec![100_000; 100], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let builder = Store::builder().shared_engine(gate.clone()).cache(0).window(2_000_000);
    let store = builder.open(&sample.path).unwrap();
    gate.close();
    gate.open();
    let mut many = store.load_many(sample.names());
    let first = many.next().unwrap().1.unwrap();
    // Whatever is on its way arrives; nothing more is asked for.
    let read: u64 = gate.submitted().iter().map(|&(_, bytes)| bytes).sum();
    assert!(read <= 1_200_000, "half the window is coded bytes, and a little rounding: {read}");
    assert_eq!(first.len(), 100_000);
    assert_eq!(many.count(), 99);
}

#[test]
fn dropped_early_it_reads_no_more_and_harms_nobody() {
    let sample = Sample::of_sizes(vec![600_000; 40], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let builder =
        Store::builder().shared_engine(gate.clone()).cache(100_000_000).record_decisions(true);
    let store = builder.open(&sample.path).unwrap();
    gate.close();
    let started = {
        let (store, names, gate) = (store.clone(), sample.names(), gate.clone());
        std::thread::spawn(move || {
            let mut many = store.load_many(names);
            many.next().unwrap().1.unwrap();
            drop(many);
            gate.submitted().len()
        })
    };
    gate.wait_for(8);
    gate.release_one();
    // The read that ended made room for one more; the others in line were cancelled.
    assert_eq!(started.join().unwrap(), 9);
    gate.open();
    let removed = |decision: &Decision| matches!(decision, Decision::Removed { .. });
    let cancelled = store.decisions().iter().filter(|decision| removed(decision)).count();
    assert_eq!(cancelled, 31, "what was cancelled has left the cache");
    for number in 0..40 {
        assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number));
    }
    assert_eq!(gate.submitted().len(), 40, "each file was read once, before the drop or after");
}
