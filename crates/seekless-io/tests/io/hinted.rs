//! A hint changes what leaves, from the next request on.

use crate::support::{Gate, Sample};
use seekless_io::{Decision, ErrorKind, Hint, Store};
use seekless_pack::Codec;
use std::sync::Arc;

const FILE_BYTES: usize = 1_000;
const FILES: usize = 12;

fn open(sample: &Sample) -> Store {
    let builder = Store::builder().cache(4 * FILE_BYTES as u64).read_ahead_cache(16 << 20);
    builder.policy("landlord").record_decisions(true).open(&sample.path).unwrap()
}

/// Loads each file once, in order, and says which left.
fn evicted(sample: &Sample, store: &Store) -> Vec<u32> {
    sample.names().iter().for_each(|name| drop(store.load(name).unwrap()));
    let left = store.decisions().into_iter().flat_map(|decision| match decision {
        Decision::Requested { evicted, .. } => evicted,
        other => panic!("nothing failed here: {other:?}"),
    });
    left.collect()
}

#[test]
fn the_long_lived_stay_and_what_is_used_once_leaves_first() {
    let sample = Sample::of_sizes([FILE_BYTES; FILES], Codec::Stored);
    assert_eq!(
        evicted(&sample, &open(&sample)),
        [0, 1, 2, 3, 4, 5, 6, 7],
        "without hints, the oldest"
    );
    let store = open(&sample);
    store.hint(sample.name(0), Hint::LongLived).unwrap();
    store.hint(sample.name(3), Hint::Once).unwrap();
    assert_eq!(evicted(&sample, &store), [3, 1, 2, 4, 5, 6, 7, 8]);
}

#[test]
fn a_hint_holds_until_the_next_and_for_hits_too() {
    let sample = Sample::of_sizes([FILE_BYTES; FILES], Codec::Stored);
    let store = open(&sample);
    store.hint(sample.name(0), Hint::Once).unwrap();
    drop(store.load(sample.name(0)).unwrap());
    store.hint(sample.name(0), Hint::LongLived).unwrap();
    drop(store.load(sample.name(0)).unwrap());
    assert!(!evicted(&sample, &store).contains(&0), "the hit made it dear");
    let costs = store.decisions().into_iter().filter_map(|decision| match decision {
        Decision::Requested { request, .. } if request.id == 0 => Some(request.cost),
        _ => None,
    });
    assert_eq!(costs.collect::<Vec<_>>(), [0, 8, 8]);
}

#[test]
fn a_hint_for_no_file_is_an_error() {
    let sample = Sample::of_sizes([FILE_BYTES; 2], Codec::Stored);
    let error = open(&sample).hint("nowhere", Hint::LongLived).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_cost_that_is_told_is_the_credit() {
    let sample = Sample::of_sizes([FILE_BYTES; FILES], Codec::Stored);
    let store = open(&sample);
    // File 0 can pay rent for three rounds, file 1 for one and a bit, the others for one.
    store.hint(sample.name(0), Hint::Cost(3)).unwrap();
    store.hint(sample.name(1), Hint::Cost(0)).unwrap();
    let left = evicted(&sample, &store);
    assert_eq!(left[..3], [1, 2, 3], "what costs nothing leaves first");
    assert!(!left.contains(&0), "it outlives the others: {left:?}");
    let costs = store.decisions().into_iter().filter_map(|decision| match decision {
        Decision::Requested { request, .. } => Some(request.cost),
        _ => None,
    });
    assert_eq!(costs.take(3).collect::<Vec<_>>(), [3, 0, 1]);
    store.hint(sample.name(0), Hint::Usual).unwrap();
    drop(store.load(sample.name(0)).unwrap());
    let Some(Decision::Requested { request, .. }) = store.decisions().pop() else {
        panic!("a request is the last decision");
    };
    assert_eq!(request.cost, 1, "the last hint holds");
}

/// Where the reads of a list begin, in the order in which they are asked of the device.
fn reads(sample: &Sample, hinted: &[usize]) -> Vec<u64> {
    let gate = Arc::new(Gate::new());
    let builder = Store::builder().shared_engine(gate.clone()).direct(false).workers(1);
    let store = builder.open(&sample.path).unwrap();
    hinted.iter().for_each(|&at| store.hint(sample.name(at), Hint::Urgent).unwrap());
    gate.close();
    let mut list = store.load_many(sample.names());
    let taker = std::thread::spawn(move || list.by_ref().for_each(|(_, file)| drop(file.unwrap())));
    // As many as are in flight at once; each of the others follows one that ends.
    gate.wait_for(8);
    (8..sample.files.len()).for_each(|reads| {
        gate.release_one();
        gate.wait_for(reads + 1);
    });
    gate.open();
    taker.join().unwrap();
    gate.submitted().into_iter().map(|(offset, _)| offset).collect()
}

#[test]
fn what_is_urgent_is_read_before_the_others_of_its_list() {
    // Each is over half of what one read covers, so that each has a read of its own.
    let sample = Sample::of_sizes([700_000; FILES], Codec::Stored);
    let usual = reads(&sample, &[]);
    assert!(usual.is_sorted(), "{usual:?}");
    let urgent = reads(&sample, &[11, 9]);
    assert_eq!(urgent[..2], [usual[9], usual[11]]);
    assert_eq!(
        urgent[2..],
        usual.iter().copied().filter(|at| !urgent[..2].contains(at)).collect::<Vec<_>>()
    );
}
