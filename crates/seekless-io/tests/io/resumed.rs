//! Parts of a coded entry that the cache does not keep: decoded as a stream, in little memory, and
//! from a place near them.

use crate::support::{Sample, random};
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store};
use seekless_pack::{Codec, Level};
use std::fs;

const MIB: u64 = 1 << 20;

/// Too small for chunks, and over half of what the store keeps of files.
const BYTES: u64 = 4_000_000;

/// Room for points 1 MiB apart.
const CACHE_BYTES: u64 = 8 * MIB;

/// A small file, a large one that shrinks to about half, and a small one.
fn sample(codec: Codec) -> Sample {
    let mut seed = 5;
    let mut letters = |bytes: u64| {
        (0..bytes).map(|_| b'a' + (random(&mut seed) >> 60) as u8).collect::<Vec<u8>>()
    };
    let files = [("first", 700), ("large", BYTES), ("last", 300)];
    let files = files.map(|(name, bytes)| (name.to_owned(), letters(bytes)));
    Sample::of_files(files.into(), codec)
}

fn open(sample: &Sample) -> Store {
    let builder = Store::builder().engine(EngineKind::Threads).direct(false).workers(2);
    // Beyond the cache there is no room for the entry.
    builder.cache(CACHE_BYTES).beyond_cache(2 * MIB).open(&sample.path).unwrap()
}

/// Reads a part and checks it. Returns the bytes that were read for it.
fn read(store: &Store, sample: &Sample, from: u64, bytes: u64) -> u64 {
    let before = store.counters().bytes;
    let part = store.read_range("large", from..from + bytes).unwrap();
    let end = (from + bytes).min(BYTES);
    assert!(part[..] == sample.bytes(1)[from as usize..end as usize], "{from}");
    let held = store.statistics().held_bytes;
    assert!(held <= part.len() as u64 + (64 << 10), "{held} bytes are held for {}", part.len());
    store.counters().bytes - before
}

#[test]
fn parts_of_an_entry_that_is_not_kept_are_right_in_any_order() {
    for codec in [Codec::Deflate, Codec::Zstd(Level::default())] {
        let (sample, mut seed) = (sample(codec), 9);
        let store = open(&sample);
        assert!(store.kept_file_bytes() < BYTES);
        for _ in 0..40 {
            let from = random(&mut seed) % BYTES;
            read(&store, &sample, from, random(&mut seed) % 100_000);
        }
        assert!(store.read_range("large", BYTES..BYTES + 10).unwrap().is_empty());
        assert_eq!(store.statistics().ranges, 40);
        // Small files are loaded as ever.
        assert_eq!(&store.read_range("last", 10..20).unwrap()[..], &sample.bytes(2)[10..20]);
    }
}

#[test]
fn parts_that_follow_one_another_read_the_data_once() {
    for codec in [Codec::Deflate, Codec::Zstd(Level::default())] {
        let sample = sample(codec);
        let store = open(&sample);
        let coded = store.index().entry(1).coded_bytes;
        let bytes: u64 =
            (0..BYTES).step_by(500_000).map(|at| read(&store, &sample, at, 500_000)).sum();
        assert!(bytes < coded * 5 / 4, "{codec:?}: {bytes} bytes for {coded}");
    }
}

#[test]
fn a_part_elsewhere_is_decoded_from_a_point_near_it() {
    let sample = sample(Codec::Deflate);
    let store = open(&sample);
    let coded = store.index().entry(1).coded_bytes;
    assert!(read(&store, &sample, BYTES - 10, 10) >= coded, "all that lies before it");
    for mib in [3, 0, 2, 1] {
        let bytes = read(&store, &sample, mib * MIB + 1000, 10);
        assert!(bytes < coded / 8, "{bytes} bytes for a part behind {mib} MiB");
    }
}

#[test]
fn several_threads_read_parts_of_one_entry() {
    for codec in [Codec::Deflate, Codec::Zstd(Level::default())] {
        let sample = sample(codec);
        let store = open(&sample);
        std::thread::scope(|scope| {
            for thread in 1..5 {
                let (store, sample) = (&store, &sample);
                scope.spawn(move || {
                    let mut seed = thread;
                    for _ in 0..10 {
                        let from = random(&mut seed) % (BYTES - 5000);
                        let part = store.read_range("large", from..from + 5000).unwrap();
                        let right = &sample.bytes(1)[from as usize..][..5000];
                        assert!(part[..] == *right, "{codec:?} {from}");
                    }
                });
            }
        });
    }
}

#[test]
fn damage_is_found_where_it_is_or_at_the_end() {
    let sample = sample(Codec::Deflate);
    let entry = open(&sample).index().entry(1);
    let mut archive = fs::read(&sample.path).unwrap();
    archive[(entry.header_offset + entry.extent_bytes / 2) as usize] ^= 0x40;
    fs::write(&sample.path, &archive).unwrap();
    let store = open(&sample);
    read(&store, &sample, 1000, 100_000);
    let error = store.read_range("large", BYTES - 10..BYTES).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("large"), "{error}");
    read(&store, &sample, 1000, 100_000);
}
