//! Decision 4 of the design: a victim that is held or in flight is an orphan. A load finds it and
//! revives it without I/O.

use crate::support::{Gate, Sample};
use seekless_io::{Decision, Store, StoreBuilder};
use seekless_pack::Codec;
use std::sync::Arc;

/// Room for two of the sample's files; nothing read ahead, so that requests are exact.
fn two_files(gate: &Arc<Gate>) -> StoreBuilder {
    let builder = Store::builder().shared_engine(gate.clone()).cache(20_000).read_ahead_cache(0);
    builder.policy("lru").record_decisions(true)
}

fn victims(store: &Store) -> Vec<u32> {
    let evicted = |decision| match decision {
        Decision::Requested { evicted, .. } => evicted,
        _ => Vec::new(),
    };
    store.decisions().into_iter().flat_map(evicted).collect()
}

#[test]
fn a_held_victim_is_revived_without_a_request() {
    let sample = Sample::of_sizes(vec![10_000; 5], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = two_files(&gate).open(&sample.path).unwrap();
    let held = store.load(sample.name(0)).unwrap();
    for number in 1..4 {
        store.load(sample.name(number)).unwrap();
    }
    assert_eq!(victims(&store), [0, 1]);
    gate.close();
    let again = store.load(sample.name(0)).unwrap();
    assert!(again.ptr_eq(&held));
    assert_eq!(gate.submitted(), [], "no request for what a user holds");
    assert_eq!(store.statistics().revived, 1);
    assert!(store.load(sample.name(0)).unwrap().ptr_eq(&held), "and it is cached again");
    assert_eq!(store.statistics().hits, 1);
}

#[test]
fn a_released_victim_is_read_again() {
    let sample = Sample::of_sizes(vec![10_000; 5], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = two_files(&gate).open(&sample.path).unwrap();
    for number in 0..4 {
        drop(store.load(sample.name(number)).unwrap());
    }
    gate.close();
    gate.open();
    assert_eq!(&store.load(sample.name(0)).unwrap()[..], sample.bytes(0));
    assert_eq!((gate.submitted().len(), store.statistics().revived), (1, 0));
}

#[test]
fn a_file_over_half_the_cache_is_not_kept_but_found_while_held() {
    let sample = Sample::of_sizes(vec![10_001; 2], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = two_files(&gate).open(&sample.path).unwrap();
    let held = store.load(sample.name(0)).unwrap();
    gate.close();
    assert!(store.load(sample.name(0)).unwrap().ptr_eq(&held));
    assert_eq!((gate.submitted(), store.statistics().bypassed), (vec![], 1));
    drop(held);
    gate.open();
    store.load(sample.name(0)).unwrap();
    assert_eq!((gate.submitted().len(), store.statistics().bypassed), (1, 2));
}

#[test]
fn what_is_evicted_in_flight_still_reaches_its_waiters() {
    let sample = Sample::of_sizes(vec![10_000; 8], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = two_files(&gate).open(&sample.path).unwrap();
    gate.close();
    let consumer = {
        let (store, names) = (store.clone(), sample.names());
        std::thread::spawn(move || store.load_many(names).collect::<Vec<_>>())
    };
    gate.wait_for(1);
    assert_eq!(victims(&store), [0, 1, 2, 3, 4, 5], "decided before any read has ended");
    gate.open();
    let results = consumer.join().unwrap();
    assert_eq!(results.len(), 8);
    for (position, result) in results {
        assert_eq!(&result.unwrap()[..], sample.bytes(position));
    }
    gate.close();
    store.load(sample.name(6)).unwrap();
    store.load(sample.name(7)).unwrap();
    assert_eq!(gate.submitted(), [], "the last two were kept");
}
