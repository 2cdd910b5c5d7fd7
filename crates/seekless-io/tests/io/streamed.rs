//! A large entry is read in blocks, a few at once, and decoded as they come.

use crate::support::{Gate, Sample, random};
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store};
use seekless_pack::{Codec, Level};
use seekless_policy::planner::{BLOCKS_IN_FLIGHT, READ_BYTES_MAX};
use std::sync::Arc;

fn codecs() -> [Codec; 3] {
    [Codec::Stored, Codec::Deflate, Codec::Zstd(Level::default())]
}

/// Letters of 16 kinds: deflate halves them.
fn letters(seed: u64, bytes: usize) -> Vec<u8> {
    let mut seed = seed + 1;
    (0..bytes).map(|_| b'a' + (random(&mut seed) >> 60) as u8).collect()
}

/// Two large files, with small ones between that share their first and last sectors.
fn sample(codec: Codec) -> Sample {
    let sizes = [300, 30_000_000, 200, 3_000_001, 100];
    let file = |(number, &bytes): (usize, &usize)| {
        (format!("file {number}"), letters(number as u64, bytes))
    };
    Sample::of_files(sizes.iter().enumerate().map(file).collect(), codec)
}

fn gated(sample: &Sample) -> (Arc<Gate>, Store) {
    let gate = Arc::new(Gate::new());
    let builder = Store::builder().shared_engine(gate.clone()).cache(0);
    (gate.clone(), builder.open(&sample.path).unwrap())
}

#[test]
fn every_byte_arrives_past_the_page_cache_and_through_it() {
    for codec in codecs() {
        let sample = sample(codec);
        for direct in [true, false] {
            let builder = Store::builder().engine(EngineKind::Threads).direct(direct);
            let store = builder.open(&sample.path).unwrap();
            for number in [1, 0, 2, 3, 4] {
                let content = store.load(sample.name(number)).unwrap();
                assert!(content[..] == *sample.bytes(number), "file {number} of {codec:?}");
                assert!(store.contains(content.as_ptr()));
            }
            let listed = store.load_many(sample.names());
            listed.for_each(|(at, result)| assert!(result.unwrap()[..] == *sample.bytes(at)));
        }
    }
}

#[test]
fn a_few_blocks_are_in_flight_and_each_is_one_request() {
    for codec in codecs() {
        let sample = sample(codec);
        let (gate, store) = gated(&sample);
        let before = store.counters();
        gate.close();
        let loader = {
            let (store, name) = (store.clone(), sample.name(1).to_owned());
            std::thread::spawn(move || store.load(&name))
        };
        gate.wait_for(BLOCKS_IN_FLIGHT);
        // The last of them come first: they wait for the first.
        (1..BLOCKS_IN_FLIGHT).rev().for_each(|at| gate.release_at(at));
        std::thread::yield_now();
        assert_eq!(gate.submitted().len(), BLOCKS_IN_FLIGHT, "nothing was used yet");
        gate.release_at(0);
        gate.wait_for(2 * BLOCKS_IN_FLIGHT - 3);
        gate.open();
        assert!(loader.join().unwrap().unwrap()[..] == *sample.bytes(1));
        // Behind an open gate threads may pass each other.
        let mut reads = gate.submitted();
        reads.sort_unstable();
        let (last, others) = reads.split_last().unwrap();
        assert!(
            others.iter().all(|&(_, bytes)| bytes == READ_BYTES_MAX) && last.1 <= READ_BYTES_MAX
        );
        assert!(reads.windows(2).all(|two| two[0].0 + two[0].1 == two[1].0), "{reads:?}");
        assert_eq!(store.counters().requests - before.requests, reads.len() as u64);
    }
}

#[test]
fn a_block_that_fails_costs_its_own_file_alone() {
    for codec in codecs() {
        let sample = sample(codec);
        let middle = Store::open(&sample.path).unwrap().index().entry(1).header_offset + 2_500_000;
        let gate = Arc::new(Gate::broken_at(middle));
        let builder = Store::builder().shared_engine(gate.clone()).cache(0);
        let store = builder.open(&sample.path).unwrap();
        let error = store.load(sample.name(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Read, "{error}");
        assert!(error.to_string().contains("file 1"), "{error}");
        assert!(store.load(sample.name(3)).unwrap()[..] == *sample.bytes(3));
        // The blocks of the read that failed have ended and were given back.
        assert_eq!(store.statistics().held_bytes, 0);
    }
}

#[test]
fn a_wrong_byte_is_found_in_any_block() {
    for codec in codecs() {
        let sample = sample(codec);
        let entry = Store::open(&sample.path).unwrap().index().entry(1);
        let mut archive = std::fs::read(&sample.path).unwrap();
        for at in [1_000, entry.coded_bytes / 2, entry.coded_bytes] {
            let at = (entry.header_offset + at) as usize;
            archive[at] ^= 0x10;
            std::fs::write(&sample.path, &archive).unwrap();
            archive[at] ^= 0x10;
            let store = Store::open(&sample.path).unwrap();
            let error = store.load(sample.name(1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(store.load(sample.name(3)).is_ok());
        }
    }
}

#[test]
fn an_archive_that_was_cut_says_so() {
    for codec in codecs() {
        let sample = sample(codec);
        let store = Store::open(&sample.path).unwrap();
        let entry = store.index().entry(1);
        let file = std::fs::OpenOptions::new().write(true).open(&sample.path).unwrap();
        file.set_len(entry.header_offset + 2_000_000).unwrap();
        let error = store.load(sample.name(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("ends 2000000 bytes into it"), "{error}");
    }
}

#[test]
fn what_is_beyond_the_bound_is_refused_in_words() {
    for codec in codecs() {
        let sample = sample(codec);
        let builder = Store::builder().cache(1 << 20).beyond_cache(20 << 20);
        let store = builder.open(&sample.path).unwrap();
        let error = store.load(sample.name(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        let text = error.to_string();
        assert!(text.contains("file 1") && text.contains("raise beyond_cache"), "{text}");
        assert!(store.load(sample.name(3)).unwrap()[..] == *sample.bytes(3));
        assert!(store.statistics().held_bytes <= 1 << 20);
    }
}
