//! Archives of other tools that are packed again: what they hold stays, and what cannot is said.

use super::*;
use seekless_pack::prepare_directory;

/// An archive with a link, a folder, an executable, and the files given.
fn other(files: &[(&str, &[u8])]) -> (TempDir, PathBuf) {
    let room = tempfile::tempdir().expect("a temporary folder");
    let path = room.path().join("other.zip");
    let mut pack = PackWriter::new(File::create(&path).expect("room"));
    let mut add = |about: About, content: &[u8], codec| {
        let about = about.modified(1_600_000_000).modified_ns(123_456_700);
        pack.add(prepare(about, content.to_vec(), codec).expect("fine")).expect("room");
    };
    add(About::named("run.sh").mode(0o100_755), b"#!/bin/sh", Codec::Stored);
    add(About::named("link").mode(0o120_777), b"run.sh", Codec::Deflate);
    for (name, content) in files {
        add(About::named(*name), content, Codec::Deflate);
    }
    let folder = About::named("private/").mode(0o40_700).modified(1_500_000_000);
    pack.add(prepare_directory(folder).expect("fine")).expect("room");
    pack.finish().expect("room");
    (room, path)
}

fn repacked(from: &Path, order: &[&str], options: &Options) -> Result<Summary> {
    let order: Vec<String> = order.iter().map(ToString::to_string).collect();
    repack(from, from.with_file_name("new.zip"), &order, options, &mut |_, _| {})
}

#[test]
fn modes_times_links_and_folders_stay_and_the_order_is_new() {
    let words = "the same words again and again ".repeat(50);
    let (_room, from) = other(&[("b", words.as_bytes()), ("a", b"1"), ("private/x", b"2")]);
    let options = Options { verify: true, ..Options::default() };
    let summary = repacked(&from, &["b", "private/x"], &options).expect("packed");
    assert_eq!((summary.entries, summary.folders, summary.left_out.count), (5, 1, 0));
    let new = from.with_file_name("new.zip");
    let files = contents(&new);
    assert_eq!(names(files.clone()), ["b", "private/x", "a", "run.sh", "link"]);
    assert!(files[0].1 == words && files[4].1 == "run.sh");
    let bytes = fs::read(&new).expect("it is there");
    let index = opened(&bytes);
    let entry = |name: &str| index.entry(index.find(name).expect("packed"));
    assert_eq!((entry("link").mode, entry("link").method), (Some(0o120_777), Method::Stored));
    assert_eq!(entry("run.sh").mode, Some(0o100_755));
    assert_eq!((entry("a").modified, entry("a").modified_ns), (Some(1_600_000_000), 123_456_700));
    let folder = entry("private/");
    assert_eq!((folder.mode, folder.modified), (Some(0o40_700), Some(1_500_000_000)));
}

#[test]
fn runs_order_it_and_are_predicted() {
    let (room, from) = other(&[("b", b"1"), ("a", b"2"), ("c", b"3")]);
    let trace = room.path().join("run.csv");
    fs::write(&trace, "time_s,path,size\n0.0,/was/there/c,1\n0.1,/was/there/a,1\n").expect("room");
    let (out, how) = (room.path().join("new.zip"), OrderBy::by("recent"));
    let summary = repack_for_runs(&from, &out, &[trace], &how, &Options::default(), &mut |_, _| {});
    let summary = summary.expect("packed");
    assert_eq!(names(contents(&out))[..2], ["c", "a"]);
    assert!(summary.order.moved.is_some() && summary.prediction_bytes > 0);
}

#[test]
fn a_large_entry_is_streamed() {
    let content = crate::synth::Content::of("large").bytes((64 << 20) + 1);
    let (_room, from) = other(&[("large", &content)]);
    repacked(&from, &[], &Options { verify: true, ..Options::default() }).expect("packed");
    let new = File::open(from.with_file_name("new.zip")).expect("it is there");
    let index = Index::open(&new, new.metadata().expect("ours").len()).expect("our own");
    let entry = index.entry(index.find("large").expect("packed"));
    assert_eq!((entry.bytes, entry.crc), (content.len() as u64, crc32fast::hash(&content)));
}

#[test]
fn what_cannot_be_kept_is_said_by_reason_or_refused() {
    let (_room, from) = other(&[("a", b"1"), ("locked", b"2"), ("z", b"3")]);
    let mut bytes = fs::read(&from).expect("it is there");
    // The flag of encryption in both headers of `locked`.
    for (signature, flags, name) in [(b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)] {
        let is_it = |at: &usize| {
            bytes[*at..].starts_with(signature) && bytes[at + name..].starts_with(b"locked")
        };
        let at = (0..bytes.len() - 60).find(is_it).expect("it has a header");
        bytes[at + flags] |= 1;
    }
    bytes.extend(b"\n\n");
    fs::write(&from, &bytes).expect("room");
    let summary = repacked(&from, &[], &Options::default()).expect("packed");
    assert_eq!(summary.left_out.reasons, [("an encrypted entry", 1)].into());
    assert_eq!(summary.left_out.count, 1);
    let said = &summary.left_out.examples[0];
    assert!(said.contains("the first is \"locked\"") && said.contains("2 bytes behind"), "{said}");
    assert_eq!(names(contents(&from.with_file_name("new.zip"))), ["a", "run.sh", "z", "link"]);
    fs::remove_file(from.with_file_name("new.zip")).expect("ours");
    let strict = Options { strict: true, ..Options::default() };
    repacked(&from, &[], &strict).expect_err("it is odd");
    bytes.truncate(bytes.len() - 2);
    fs::write(&from, &bytes).expect("room");
    let why = repacked(&from, &[], &strict).expect_err("an entry is encrypted").to_string();
    assert!(why.contains("an encrypted entry: 1"), "{why}");
    assert_eq!(fs::read_dir(from.parent().expect("a room")).expect("readable").count(), 1);
}

#[test]
fn a_damaged_entry_is_named_and_nothing_is_left() {
    let words = "the same words again and again ".repeat(50);
    let (_room, from) = other(&[("a", b"1"), ("b", words.as_bytes())]);
    let mut bytes = fs::read(&from).expect("it is there");
    let entry = {
        let index = opened(&bytes);
        index.entry(index.find("b").expect("packed"))
    };
    bytes[(entry.header_offset + entry.extent_bytes - 5) as usize] ^= 0x55;
    fs::write(&from, &bytes).expect("room");
    let error = repacked(&from, &[], &Options::default()).expect_err("it is damaged");
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(source.contains("entry \"b\" at offset"), "{error}: {source}");
    assert_eq!(fs::read_dir(from.parent().expect("a room")).expect("readable").count(), 1);
}

#[test]
fn the_archive_itself_is_not_written_over() {
    let (room, from) = other(&[]);
    let link = room.path().join("link.zip");
    symlink(&from, &link).expect("a link");
    let before = fs::read(&from).expect("it is there");
    for out in [&from, &link] {
        let out = replacing(out);
        let error = repack(&from, out, &[], &Options::default(), &mut |_, _| {});
        let why = error.expect_err("the same file").to_string();
        assert!(why.contains("is the archive to repack"), "{why}");
    }
    assert_eq!(fs::read(&from).expect("still there"), before);
}
