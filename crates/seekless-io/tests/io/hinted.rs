//! A hint changes what leaves, from the next request on.

use crate::support::Sample;
use seekless_io::{Decision, ErrorKind, Hint, Store};
use seekless_pack::Codec;

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
fn the_long_lived_stay_and_the_short_lived_leave_first() {
    let sample = Sample::of_sizes([FILE_BYTES; FILES], Codec::Stored);
    assert_eq!(
        evicted(&sample, &open(&sample)),
        [0, 1, 2, 3, 4, 5, 6, 7],
        "without hints, the oldest"
    );
    let store = open(&sample);
    store.hint(sample.name(0), Hint::LongLived).unwrap();
    store.hint(sample.name(3), Hint::ShortLived).unwrap();
    assert_eq!(evicted(&sample, &store), [3, 1, 2, 4, 5, 6, 7, 8]);
}

#[test]
fn a_hint_holds_until_the_next_and_for_hits_too() {
    let sample = Sample::of_sizes([FILE_BYTES; FILES], Codec::Stored);
    let store = open(&sample);
    store.hint(sample.name(0), Hint::ShortLived).unwrap();
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
