//! Broken archives and failing devices: the error names archive, entry and offset, and all other
//! loads succeed.

use crate::support::{Gate, Sample};
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, Store};
use seekless_pack::Codec;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

fn flip_byte(sample: &Sample, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(&sample.path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 0x40], offset).unwrap();
    file.sync_all().unwrap();
}

fn offset_of(sample: &Sample, number: usize) -> u64 {
    Store::open(&sample.path).unwrap().index().entry(number as u32).header_offset
}

fn check_only_one_fails(sample: &Sample, store: &Store, broken: usize, kind: ErrorKind) {
    for _ in 0..2 {
        for (position, result) in store.load_many(sample.names()) {
            match result {
                Ok(buffer) => assert!(position != broken && buffer[..] == *sample.bytes(position)),
                Err(error) => assert_eq!((position, error.kind()), (broken, kind), "{error}"),
            }
        }
        let error = store.load(sample.name(broken)).unwrap_err();
        assert_eq!(error.kind(), kind);
        let message = error.to_string();
        let offset = format!("offset {}", store.index().entry(broken as u32).header_offset);
        for part in [&sample.path.display().to_string(), sample.name(broken), &offset] {
            assert!(message.contains(part), "{part:?} is missing in {message:?}");
        }
    }
}

#[test]
fn a_wrong_crc_fails_its_entry_alone() {
    for (codec, sizes) in [(Codec::Stored, vec![3_000; 9]), (Codec::Stored, vec![1_200_000; 3])] {
        let sample = Sample::of_sizes(sizes, codec);
        flip_byte(&sample, offset_of(&sample, 2) + 500);
        let store = Store::open(&sample.path).unwrap();
        check_only_one_fails(&sample, &store, 2, ErrorKind::Corrupt);
    }
}

#[test]
fn broken_compressed_data_fails_its_entry_alone() {
    let sample = Sample::of_sizes(vec![30_000; 9], Codec::Deflate);
    flip_byte(&sample, offset_of(&sample, 3) + 80);
    let store = Store::open(&sample.path).unwrap();
    check_only_one_fails(&sample, &store, 3, ErrorKind::Corrupt);
}

#[test]
fn a_failed_read_is_an_error_of_that_read() {
    let sample = Sample::of_sizes(vec![700_000; 6], Codec::Stored);
    let offset = offset_of(&sample, 4) + 300_000;
    let gate = Arc::new(Gate::broken_at(offset));
    let store = Store::builder().shared_engine(gate).open(&sample.path).unwrap();
    check_only_one_fails(&sample, &store, 4, ErrorKind::Read);
    assert_eq!(store.statistics().failed, 4);
}

#[test]
fn an_archive_truncated_after_opening_fails_what_is_gone() {
    let sample = Sample::of_sizes(vec![100_000; 6], Codec::Stored);
    for direct in [true, false] {
        let builder = Store::builder().engine(EngineKind::Threads).direct(direct).cache(0);
        let store = builder.open(&sample.path).unwrap();
        let end = store.index().entry(4).header_offset + 50_000;
        let bytes = std::fs::read(&sample.path).unwrap();
        OpenOptions::new().write(true).open(&sample.path).unwrap().set_len(end).unwrap();
        for number in 0..6 {
            match store.load(sample.name(number)) {
                Ok(buffer) => assert!(number < 4 && buffer[..] == *sample.bytes(number)),
                Err(error) => {
                    assert!(number >= 4 && error.kind() == ErrorKind::Corrupt, "{number}: {error}");
                    assert!(error.to_string().contains("truncated"), "{error}");
                }
            }
        }
        std::fs::write(&sample.path, bytes).unwrap();
    }
}

#[test]
fn an_error_says_where_and_why_once() {
    let sample = Sample::of_sizes(vec![3_000; 3], Codec::Stored);
    let offset = offset_of(&sample, 1);
    flip_byte(&sample, offset + 500);
    let error = Store::open(&sample.path).unwrap().load(sample.name(1)).unwrap_err();
    let message = error.to_string();
    let start = format!(
        "{}: entry {:?} at offset {offset}: its content has CRC ",
        sample.path.display(),
        sample.name(1)
    );
    assert!(message.starts_with(&start), "{message}");
    assert!(message.ends_with(" as recorded; the archive is damaged, copy it again"), "{message}");
    assert!(std::error::Error::source(&error).is_none(), "all is said");
}

#[test]
fn an_entry_over_the_limit_is_refused_before_it_is_read() {
    let sample = Sample::of_sizes([5_000, 5_001, 10], Codec::Auto);
    let gate = Arc::new(Gate::new());
    let builder = Store::builder().shared_engine(gate.clone()).max_entry_bytes(5_000);
    let store = builder.read_ahead_cache(0).open(&sample.path).unwrap();
    gate.close();
    gate.open();
    let error = store.load(sample.name(1)).unwrap_err();
    assert_eq!((error.kind(), gate.submitted()), (ErrorKind::TooLarge, vec![]));
    let message = error.to_string();
    for part in ["5001 bytes", "5000", "max_entry_bytes", sample.name(1), "sample.zip"] {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
    for (number, result) in store.load_many(sample.names()) {
        match result {
            Ok(buffer) => assert_eq!(&buffer[..], sample.bytes(number)),
            Err(error) => assert_eq!((number, error.kind()), (1, ErrorKind::TooLarge)),
        }
    }
}

#[test]
fn what_is_no_archive_is_refused_at_once() {
    let sample = Sample::of_sizes(vec![10_000; 4], Codec::Stored);
    let bytes = std::fs::read(&sample.path).unwrap();
    for length in [0, 1, 100, 4096, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&sample.path, &bytes[..length]).unwrap();
        let error = Store::open(&sample.path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Open, "{length} bytes: {error}");
        assert!(error.to_string().contains("sample.zip"), "{error}");
    }
    assert_eq!(Store::open("/nonexistent/x.zip").unwrap_err().kind(), ErrorKind::Open);
}

/// Of `sample`, with contents of the same sizes that are all others.
fn other_archive(sample: &Sample) -> Vec<u8> {
    let sizes: Vec<usize> = sample.files.iter().map(|(_, bytes)| bytes.len()).collect();
    let files = sizes
        .iter()
        .enumerate()
        .map(|(number, &bytes)| (sample.name(number).to_owned(), vec![number as u8 ^ 0x5a; bytes]));
    let other = Sample::of_files(files.collect(), Codec::Stored);
    std::fs::read(&other.path).unwrap()
}

#[test]
fn an_archive_that_is_replaced_while_open_is_served_as_it_was() {
    let sample = Sample::of_sizes(vec![100_000; 6], Codec::Stored);
    for direct in [true, false] {
        let store = Store::builder().direct(direct).cache(0).open(&sample.path).unwrap();
        let kept = sample.path.with_extension("kept");
        std::fs::copy(&sample.path, &kept).unwrap();
        let new = sample.path.with_extension("new");
        std::fs::write(&new, other_archive(&sample)).unwrap();
        std::fs::rename(&new, &sample.path).unwrap();
        for number in 0..6 {
            assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number));
            let part = store.read_range(sample.name(number), 50_000..50_010).unwrap();
            assert_eq!(&part[..], &sample.bytes(number)[50_000..50_010]);
        }
        let new = Store::open(&sample.path).unwrap().load(sample.name(0)).unwrap();
        assert!(new.iter().all(|&byte| byte == 0x5a), "who opens it now gets the new one");
        std::fs::remove_file(&sample.path).unwrap();
        assert_eq!(&store.load(sample.name(5)).unwrap()[..], sample.bytes(5), "nor if it is gone");
        std::fs::rename(&kept, &sample.path).unwrap();
    }
}

#[test]
fn an_archive_that_is_written_over_while_open_gives_no_wrong_bytes() {
    let sample = Sample::of_sizes(vec![100_000; 6], Codec::Stored);
    let store = Store::builder().direct(false).cache(0).open(&sample.path).unwrap();
    let other = other_archive(&sample);
    let file = OpenOptions::new().write(true).open(&sample.path).unwrap();
    let half = store.index().entry(3).header_offset;
    file.write_all_at(&other[..half as usize], 0).unwrap();
    for number in 0..6 {
        match store.load(sample.name(number)) {
            Ok(buffer) => assert!(number >= 3 && buffer[..] == *sample.bytes(number), "{number}"),
            Err(error) => {
                assert!(number < 3 && error.kind() == ErrorKind::Corrupt, "{number}: {error}");
                let offset = format!("offset {}", store.index().entry(number as u32).header_offset);
                assert!(error.to_string().contains(&offset), "{error}");
            }
        }
    }
}
