//! Parts of files: the right bytes, and no more reads than they need.

use crate::faulty::{Fault, Faulty};
use crate::support::Sample;
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store};
use seekless_pack::Codec;
use std::sync::Arc;

fn buffered(sample: &Sample) -> Store {
    Store::builder().engine(EngineKind::Threads).direct(false).open(&sample.path).unwrap()
}

/// Requests and bytes that `act` reads.
fn read_by(store: &Store, act: impl FnOnce()) -> (u64, u64) {
    let before = store.counters();
    act();
    let after = store.counters();
    (after.requests - before.requests, after.bytes - before.bytes)
}

#[test]
fn a_range_of_a_stored_file_reads_only_its_blocks() {
    let sample = Sample::of_sizes([10, 3_000_000, 10], Codec::Stored);
    let (store, name) = (buffered(&sample), sample.name(1));
    let part = |store: &Store, range: std::ops::Range<u64>| {
        let buffer = store.read_range(name, range.clone()).unwrap();
        assert_eq!(&buffer[..], &sample.bytes(1)[range.start as usize..range.end as usize]);
    };
    assert_eq!(read_by(&store, || part(&store, 1_000_000..1_000_100)).0, 2, "with the header");
    assert_eq!(read_by(&store, || part(&store, 2_999_999..3_000_000)), (1, 1));
    assert_eq!(read_by(&store, || part(&store, 0..70_000)), (1, 70_000));
    let statistics = store.statistics();
    assert_eq!((statistics.ranges, statistics.misses), (3, 0));
    assert_eq!(statistics.delivered_bytes, 100 + 1 + 70_000);
    let direct = Store::builder().engine(EngineKind::Threads).open(&sample.path).unwrap();
    part(&direct, 5_000..5_001);
    let (requests, bytes) = read_by(&direct, || part(&direct, 5_000..5_001));
    assert_eq!((requests, bytes), (1, direct.alignment()));
}

#[test]
fn a_range_is_cut_at_the_end_of_the_file() {
    for codec in [Codec::Stored, Codec::Deflate] {
        let sample = Sample::of_sizes([5_000, 0], codec);
        let store = buffered(&sample);
        let bytes = |range| store.read_range(sample.name(0), range).unwrap().to_vec();
        for _ in 0..2 {
            assert_eq!(bytes(4_990..6_000), sample.bytes(0)[4_990..]);
            assert_eq!(bytes(0..u64::MAX), sample.bytes(0));
            assert!(bytes(5_000..5_001).is_empty() && bytes(u64::MAX - 1..u64::MAX).is_empty());
            let reversed = std::ops::Range { start: 9, end: 3 };
            assert!(bytes(7..7).is_empty() && bytes(reversed).is_empty());
            assert!(store.read_range(sample.name(1), 0..10).unwrap().is_empty());
            // The second time from the cache.
            store.load(sample.name(0)).unwrap();
        }
    }
    let sample = Sample::of_sizes([10], Codec::Stored);
    let error = buffered(&sample).read_range("nowhere", 0..1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn ranges_of_a_cached_file_share_its_memory() {
    let sample = Sample::of_sizes([9_000, 9_000], Codec::Auto);
    let store = buffered(&sample);
    for number in 0..2 {
        let whole = store.load(sample.name(number)).unwrap();
        let read = read_by(&store, || {
            let part = store.read_range(sample.name(number), 100..200).unwrap();
            assert_eq!(part.as_ptr(), whole[100..].as_ptr());
        });
        assert_eq!(read, (0, 0));
    }
    // A compressed file is decoded once.
    let store = buffered(&sample);
    assert_eq!(read_by(&store, || drop(store.read_range(sample.name(1), 5..6).unwrap())).0, 1);
    assert_eq!(read_by(&store, || drop(store.read_range(sample.name(1), 7..9).unwrap())).0, 0);
}

#[test]
fn a_range_that_cannot_be_read_says_where_and_others_can() {
    let sample = Sample::of_sizes([1_000, 2_000_000], Codec::Stored);
    let engine = Arc::new(Faulty::new(Fault::None));
    let builder = Store::builder().shared_engine(engine.clone()).direct(false);
    let store = builder.max_entry_bytes(1_500_000).open(&sample.path).unwrap();
    let (name, start) = (sample.name(1), store.index().entry(1).header_offset);
    engine.set(Fault::Bad(start + 1_000_000..start + 1_000_001));
    let error = store.read_range(name, 900_000..1_100_000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Read);
    let data = start + 30 + name.len() as u64;
    let message = error.to_string();
    for part in ["sample.zip", name, &format!("offset {}", data + 900_000)] {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
    assert_eq!(&store.read_range(name, 0..10).unwrap()[..], &sample.bytes(1)[..10]);
    engine.set(Fault::Cut(start + 500_000));
    let error = store.read_range(name, 400_000..600_000).unwrap_err();
    assert!(error.to_string().contains("truncated"), "{error}");
    assert_eq!(store.read_range(name, 0..1_600_000).unwrap_err().kind(), ErrorKind::TooLarge);
}
