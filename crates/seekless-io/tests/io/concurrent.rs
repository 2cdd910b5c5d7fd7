//! Many threads: all bytes right, one read for all who want it.

use crate::support::{Gate, Sample, random};
use seekless_engine::EngineKind;
use seekless_io::{Decision, Store};
use seekless_pack::Codec;
use std::sync::Arc;
use std::thread;

const THREADS: u64 = 8;
const LOADS: usize = 1_500;

fn load_at_random(store: &Store, sample: &Sample, mut seed: u64) {
    let mut held = Vec::new();
    for _ in 0..LOADS {
        let number = (random(&mut seed) % sample.files.len() as u64) as usize;
        let buffer = store.load(sample.name(number)).unwrap();
        assert_eq!(&buffer[..], sample.bytes(number));
        held.push((number, buffer));
        if held.len() > 16 {
            let (number, buffer) = held.swap_remove((random(&mut seed) % 16) as usize);
            assert_eq!(&buffer[..], sample.bytes(number), "a held buffer does not change");
        }
    }
}

#[test]
fn random_loads_by_many_threads_get_the_right_bytes() {
    let sample = Sample::mixed();
    for policy in ["lru", "landlord"] {
        let builder = Store::builder().engine(EngineKind::Auto).cache(200_000).policy(policy);
        let store = builder.read_ahead_cache(400_000).open(&sample.path).unwrap();
        thread::scope(|scope| {
            for seed in 1..=THREADS {
                let (store, sample) = (&store, &sample);
                scope.spawn(move || load_at_random(store, sample, seed * 7919));
            }
        });
        let counts = store.statistics();
        let sum = counts.hits + counts.joined + counts.revived + counts.misses + counts.bypassed;
        assert_eq!(sum, THREADS * LOADS as u64, "every load is counted once: {counts:?}");
        assert!(counts.hits > 0 && counts.misses > 0 && counts.bypassed > 0, "{counts:?}");
    }
}

#[test]
fn the_policy_is_told_of_every_load_by_any_thread() {
    let sample = Sample::of_sizes(vec![500; 24], Codec::Stored);
    // Room for all but two: most loads are hits, and every few of them meet an eviction.
    let builder = Store::builder().cache(22 * 500).read_ahead_cache(16 << 20);
    let builder = builder.policy("lru").record_decisions(true);
    let store = builder.open(&sample.path).unwrap();
    thread::scope(|scope| {
        for seed in 1..=THREADS {
            let (store, sample) = (&store, &sample);
            scope.spawn(move || {
                let mut seed = seed * 104_729;
                for _ in 0..10_000 {
                    store.load(sample.name((random(&mut seed) % 24) as usize)).unwrap();
                }
            });
        }
    });
    let told = store
        .decisions()
        .iter()
        .filter(|decision| matches!(decision, Decision::Requested { .. }))
        .count();
    assert_eq!(told, THREADS as usize * 10_000);
}

#[test]
fn single_loads_and_load_many_share_a_store() {
    let sample = Sample::mixed();
    let store = Store::builder().cache(150_000).window(100_000).open(&sample.path).unwrap();
    thread::scope(|scope| {
        for seed in 1..=3 {
            let (store, sample) = (&store, &sample);
            scope.spawn(move || load_at_random(store, sample, seed));
            scope.spawn(move || {
                for (position, result) in store.load_many(sample.names()) {
                    assert_eq!(&result.unwrap()[..], sample.bytes(position));
                }
            });
        }
    });
}

#[test]
fn concurrent_loads_of_one_extent_are_one_read() {
    let sample = Sample::of_sizes(vec![1_000; 30], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let store = Store::builder().shared_engine(gate.clone()).open(&sample.path).unwrap();
    gate.close();
    thread::scope(|scope| {
        let load = |number: usize| {
            let (store, sample) = (&store, &sample);
            move || assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number))
        };
        scope.spawn(load(0));
        gate.wait_for(1);
        let others = [0, 0, 0, 5, 5, 29].map(|number| scope.spawn(load(number)));
        // They join the read when they ask, before or after the gate opens. Either way no second
        // read is needed.
        thread::yield_now();
        gate.open();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    assert_eq!(gate.submitted().len(), 1);
}
