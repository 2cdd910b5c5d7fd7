//! A large deflated entry is decoded chunk by chunk, by all workers, and ranges of it by the chunks
//! that hold them.

use crate::support::{Sample, random};
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store, StoreBuilder};
use seekless_pack::Codec;
use std::ops::Range;

const MIB: u64 = 1 << 20;

/// A small file, one of some 6 MiB that deflate halves, and a small one.
fn sample() -> Sample {
    let mut seed = 3;
    let mut letters = |bytes: usize| {
        (0..bytes).map(|_| b'a' + (random(&mut seed) >> 60) as u8).collect::<Vec<u8>>()
    };
    let files = [("first", 700), ("large", 6_500_001), ("last", 300)];
    let files = files.map(|(name, bytes)| (name.to_owned(), letters(bytes)));
    Sample::of_files(files.into(), Codec::Deflate)
}

fn builder() -> StoreBuilder {
    Store::builder().engine(EngineKind::Threads).direct(false)
}

/// The bytes that `act` reads.
fn read_by(store: &Store, act: impl FnOnce()) -> u64 {
    let before = store.counters().bytes;
    act();
    store.counters().bytes - before
}

fn check_range(store: &Store, sample: &Sample, range: Range<u64>) {
    let part = store.read_range("large", range.clone()).unwrap();
    let end = range.end.min(sample.bytes(1).len() as u64);
    assert!(part[..] == sample.bytes(1)[range.start as usize..end as usize], "{range:?}");
}

/// Changes the table of chunks, which stands in the directory behind version 1 and 2^20 bytes.
fn change_table(sample: &Sample, change: impl FnOnce(&mut [u8])) {
    let mut archive = std::fs::read(&sample.path).unwrap();
    let head =
        |at: &usize| archive[*at..].starts_with(b"SK") && archive[at + 4..].starts_with(&[1, 20]);
    let at = (0..archive.len() - 6).rev().find(head).unwrap();
    let end = at + 4 + usize::from(u16::from_le_bytes([archive[at + 2], archive[at + 3]]));
    change(&mut archive[at + 6..end]);
    std::fs::write(&sample.path, archive).unwrap();
}

#[test]
fn any_number_of_workers_and_callers_gets_every_byte() {
    let sample = sample();
    for workers in [1, 2, 5] {
        let store = builder().workers(workers).cache(0).open(&sample.path).unwrap();
        std::thread::scope(|scope| {
            for number in [1, 0, 1, 2, 1] {
                let (store, sample) = (store.clone(), &sample);
                scope.spawn(move || {
                    let content = store.load(sample.name(number)).unwrap();
                    assert!(content[..] == *sample.bytes(number));
                });
            }
        });
        assert_eq!(store.statistics().held_bytes, 0);
    }
}

#[test]
fn a_range_reads_the_chunks_that_hold_it() {
    let sample = sample();
    let store = builder().open(&sample.path).unwrap();
    let coded = store.index().entry(1).coded_bytes;
    let chunk = coded * MIB / 6_500_001;
    // The local header is read once.
    check_range(&store, &sample, 0..1);
    let read = read_by(&store, || check_range(&store, &sample, 3 * MIB + 5..3 * MIB + 500));
    assert!(read < chunk + chunk / 10, "{read} bytes for a chunk of {chunk}");
    let read = read_by(&store, || {
        check_range(&store, &sample, 3 * MIB..3 * MIB + 1);
        check_range(&store, &sample, 4 * MIB - 1..4 * MIB);
    });
    assert_eq!(read, 0, "the last chunk is kept");
    let read = read_by(&store, || check_range(&store, &sample, 2 * MIB - 1..4 * MIB + 1));
    assert!((3 * chunk..5 * chunk).contains(&read), "{read} bytes for four chunks of {chunk}");
    check_range(&store, &sample, 6_500_000..u64::MAX);
    check_range(&store, &sample, 0..u64::MAX);
    assert_eq!(store.statistics().misses + store.statistics().bypassed, 0);
    // A store without a cache keeps none.
    let store = builder().cache(0).open(&sample.path).unwrap();
    check_range(&store, &sample, 0..1);
    assert_eq!(store.statistics().held_bytes, 0);
    assert!(read_by(&store, || check_range(&store, &sample, 5..6)) > 0);
    let limited = builder().max_entry_bytes(MIB).open(&sample.path).unwrap();
    check_range(&limited, &sample, 100..MIB);
    assert_eq!(limited.load("large").unwrap_err().kind(), ErrorKind::TooLarge);
}

#[test]
fn a_damaged_table_is_not_used() {
    let sample = sample();
    change_table(&sample, |rows| rows[20] ^= 1);
    let store = builder().cache(16 * MIB).open(&sample.path).unwrap();
    assert!(store.index().chunks(1).is_none());
    assert!(store.load("large").unwrap()[..] == *sample.bytes(1));
    check_range(&store, &sample, 2 * MIB - 1..4 * MIB + 1);
}

#[test]
fn a_table_that_lies_fails_its_entry_alone() {
    let sample = sample();
    // The second chunk begins three bytes later than it does.
    change_table(&sample, |rows| {
        for (row, by) in [(0, 3), (1, -3i32)] {
            let field = &mut rows[8 * row..][..4];
            let length = u32::from_le_bytes((&*field).try_into().unwrap());
            field.copy_from_slice(&length.wrapping_add_signed(by).to_le_bytes());
        }
    });
    for workers in [1, 3] {
        let store = builder().workers(workers).cache(0).open(&sample.path).unwrap();
        assert!(store.index().chunks(1).is_some(), "nothing shows it before");
        let error = store.load("large").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let text = error.to_string();
        assert!(text.contains("large") && text.contains("in the chunk at byte"), "{text}");
        assert_eq!(store.statistics().held_bytes, 0);
        assert_eq!(store.read_range("large", MIB..MIB + 1).unwrap_err().kind(), ErrorKind::Corrupt);
        check_range(&store, &sample, 3 * MIB..5 * MIB);
        assert!(store.load("last").unwrap()[..] == *sample.bytes(2));
    }
}
