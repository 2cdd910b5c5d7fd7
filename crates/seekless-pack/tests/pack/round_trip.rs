//! What goes in comes out: by our reader, by the `zip` crate, and the same bytes each time.

use crate::support::{pack, read_all};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use seekless_pack::{
    About, Codec, Index, Level, Method, PackWriter, prepare, prepare_directory, verify,
};
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

type Files = BTreeMap<String, Vec<u8>>;

fn files() -> impl Strategy<Value = Files> {
    let noise = vec(any::<u8>(), 0..600);
    let runs = (any::<u8>(), 0usize..20_000).prop_map(|(byte, bytes)| vec![byte; bytes]);
    let text = "[a-e ]{0,300}".prop_map(String::into_bytes);
    btree_map("[a-zä日]{1,6}(/[a-z. ]{1,6}[a-z]){0,3}", prop_oneof![noise, runs, text], 0..12)
}

/// Those that every tool can read.
fn usual_codec() -> impl Strategy<Value = Codec> {
    prop_oneof![Just(Codec::Auto), Just(Codec::Stored), Just(Codec::Deflate)]
}

fn codec() -> impl Strategy<Value = Codec> {
    prop_oneof![3 => usual_codec(), 1 => Just(Codec::Zstd(Level::default()))]
}

fn pack_all(files: &Files, codec: Codec) -> Vec<u8> {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    pack(&files, codec)
}

proptest! {
    #[test]
    fn our_reader_gives_it_back(files in files(), codec in codec()) {
        let archive = pack_all(&files, codec);
        let read: Files = read_all(&archive).expect("our own").into_iter().collect();
        prop_assert_eq!(&read, &files);
        let verified = verify(archive.as_slice(), archive.len() as u64, &mut |_, _| {}).expect("our own");
        prop_assert_eq!(verified.entries, files.len() as u64);
        prop_assert_eq!(verified.bytes, files.values().map(|bytes| bytes.len() as u64).sum::<u64>());
        prop_assert_eq!(pack_all(&files, codec), archive, "the same input gives the same bytes");
    }

    #[test]
    fn the_zip_crate_gives_it_back(files in files(), codec in usual_codec()) {
        let mut other = zip::ZipArchive::new(Cursor::new(pack_all(&files, codec))).expect("it opens");
        prop_assert_eq!(other.len(), files.len());
        for (name, bytes) in &files {
            let mut entry = other.by_name(name).expect("it is there");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("it is whole");
            prop_assert_eq!(&content, bytes);
            prop_assert_eq!(entry.unix_mode(), Some(0o100_644));
        }
    }

    #[test]
    fn our_reader_reads_the_zip_crate(files in files()) {
        let mut other = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in &files {
            other.start_file(name, zip::write::SimpleFileOptions::default()).expect("a good name");
            std::io::Write::write_all(&mut other, bytes).expect("a vector takes all");
        }
        let archive = other.finish().expect("a vector takes all").into_inner();
        prop_assert_eq!(read_all(&archive).expect("it opens").into_iter().collect::<Files>(), files);
    }
}

#[test]
fn extents_follow_each_other_in_the_given_order() {
    let archive = pack(&[("z", b"first"), ("a", &[7; 9000]), ("m/n", b"")], Codec::Auto);
    let index = Index::open(archive.as_slice(), archive.len() as u64).expect("our own");
    let names: Vec<&str> = (0..3).map(|number| index.name(number)).collect();
    assert_eq!(names, ["z", "a", "m/n"]);
    let mut at = 0;
    for entry in index.entries() {
        assert_eq!(entry.header_offset, at, "no gap between entries");
        at += entry.extent_bytes;
    }
    assert_eq!(at, index.data_bytes());
    assert_eq!(index.entry(1).method, Method::Deflate);
    assert_eq!((index.find("m/n"), index.find("n"), index.find("")), (Some(2), None, None));
}

#[test]
fn modes_times_and_empty_folders_are_kept() {
    let mut writer = PackWriter::new(Vec::new());
    let script = About::named("run.sh").mode(0o755).modified(1_234_567_891);
    writer
        .add(prepare(script, b"#!/bin/sh".to_vec(), Codec::Auto).expect("a good name"))
        .expect("room");
    let early = About::named("early").modified(-5);
    writer.add(prepare(early, Vec::new(), Codec::Auto).expect("a good name")).expect("room");
    let late = About::named("late").modified(4_000_000_001);
    writer.add(prepare(late, Vec::new(), Codec::Auto).expect("a good name")).expect("room");
    writer
        .add(prepare_directory(About::named("empty").mode(0o700)).expect("a good name"))
        .expect("room");
    let (archive, written) = writer.finish().expect("room");
    assert_eq!((written.entries, written.directories, written.stored), (4, 1, 3));
    assert_eq!(written.archive_bytes, archive.len() as u64);

    let index = Index::open(archive.as_slice(), archive.len() as u64).expect("our own");
    let at = |name| index.entry(index.find(name).expect("it is there"));
    assert_eq!((at("run.sh").mode, at("run.sh").modified), (Some(0o100_755), Some(1_234_567_891)));
    assert_eq!(at("early").modified, Some(-5));
    assert_eq!(at("late").modified, Some(4_000_000_001), "past 2038 by the NTFS field");
    assert!(at("empty/").is_dir() && !at("early").is_dir());
    assert_eq!(at("empty/").mode, Some(0o040_700));
}

#[test]
fn a_name_is_taken_once() {
    let mut writer = PackWriter::new(Vec::new());
    let entry = || prepare(About::named("a"), b"x".to_vec(), Codec::Auto).expect("a good name");
    writer.add(entry()).expect("room");
    let error = writer.add(entry()).expect_err("it is there already");
    assert_eq!(error.kind(), seekless_pack::ErrorKind::Duplicate);
    let (archive, written) = writer.finish().expect("the archive goes on without it");
    assert_eq!(written.entries, 1);
    assert_eq!(read_all(&archive).expect("our own"), [("a".to_owned(), b"x".to_vec())]);
}

#[test]
fn an_empty_archive_opens() {
    let archive = pack(&[], Codec::Auto);
    assert_eq!(archive.len(), 22);
    assert_eq!(read_all(&archive).expect("our own"), []);
}

#[test]
fn a_large_entry_is_verified_in_pieces() {
    // Six bits of noise a byte: deflate leaves three quarters.
    let noise = |n: u32| {
        (n.wrapping_mul(2_654_435_761) ^ n.wrapping_mul(n)).wrapping_mul(0x9e37_79b9) >> 26
    };
    let large: Vec<u8> = (0..9_000_000).map(|n| noise(n) as u8).collect();
    for codec in [Codec::Stored, Codec::Deflate, Codec::Zstd(Level::default())] {
        let mut archive = pack(&[("small", b"s"), ("large", &large), ("after", b"a")], codec);
        let (mut last, mut total) = (0, 0);
        let check = |archive: &[u8], hear: &mut dyn FnMut(u64, u64)| {
            verify(archive, archive.len() as u64, hear)
        };
        let found =
            check(&archive, &mut |done, all| (last, total) = (done, all)).expect("it is whole");
        assert_eq!((found.entries, found.bytes), (3, 9_000_002));
        assert_eq!((last, total), (archive.len() as u64, archive.len() as u64));
        archive[2_000_000] ^= 1;
        let error = check(&archive, &mut |_, _| {}).expect_err("a flipped bit");
        assert!(error.to_string().contains("large"), "{error}");
    }
}
