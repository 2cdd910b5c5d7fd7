//! The readers that users have: `unzip`, Python's zipfile, and Java's, which reads front to back
//! without the directory.

use crate::support::{installed, on_disk, pack};
use seekless_pack::{About, Codec, Index, Level, PackWriter, prepare, prepare_directory};
use std::path::Path;
use std::process::Command;

/// Of every kind: stored and deflated, empty, not ASCII, a folder.
fn sample() -> Vec<u8> {
    let noise: Vec<u8> =
        (0..5000u32).map(|n| (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 21) as u8).collect();
    let text = "words and words and more words\n".repeat(2000).into_bytes();
    let mut writer = PackWriter::new(Vec::new());
    for (name, bytes, codec) in [
        ("readme.txt", text.clone(), Codec::Auto),
        ("art/noise.dds", noise.clone(), Codec::Auto),
        ("art/stored.txt", text, Codec::Stored),
        ("art/deflated.dds", noise, Codec::Deflate),
        ("leer/ä 日本.txt", b"umlaut".to_vec(), Codec::Auto),
        ("empty", Vec::new(), Codec::Deflate),
    ] {
        let about = About::named(name).mode(0o640).modified(1_600_000_001).modified_ns(123_456_789);
        writer.add(prepare(about, bytes, codec).expect("a good name")).expect("room");
    }
    writer
        .add(prepare_directory(About::named("hollow").mode(0o750)).expect("a good name"))
        .expect("room");
    writer.finish().expect("room").0
}

/// What the command prints, after it has succeeded.
pub(crate) fn output(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{command:?}: {text}{}", String::from_utf8_lossy(&done.stderr));
    text
}

pub(crate) fn unzip_tests(archive: &Path) {
    if let Some(mut unzip) = installed("unzip") {
        let said = output(unzip.arg("-tqq").arg(archive));
        assert_eq!(said.trim(), "", "a warning is a fault too");
    }
}

const PYTHON: &str = r#"
import sys, time, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    entries = archive.infolist()
    assert all(entry.flag_bits & 8 == 0 for entry in entries), "no data descriptors"
    print(len(entries))
    if len(sys.argv) > 2:
        entry = archive.getinfo("leer/ä 日本.txt")
        print(archive.read(entry).decode(), oct(entry.external_attr >> 16), entry.date_time, archive.getinfo("hollow/").is_dir())
"#;

pub(crate) fn python_count(archive: &Path) -> Option<u64> {
    let said = output(installed("python3")?.args(["-c", PYTHON]).arg(archive));
    Some(said.trim().parse().expect("a number"))
}

/// Reads as a socket would give it: no seeking, sizes and CRC from local headers only.
const JAVA: &str = r#"
import java.io.*;
import java.util.zip.*;
class Count {
    public static void main(String[] arguments) throws Exception {
        long entries = 0, bytes = 0;
        try (var zip = new ZipInputStream(new BufferedInputStream(new FileInputStream(arguments[0]), 1 << 20))) {
            for (ZipEntry entry; (entry = zip.getNextEntry()) != null; entries++) {
                long size = zip.transferTo(OutputStream.nullOutputStream());
                if (size != entry.getSize()) throw new IOException(entry + " has " + size);
                bytes += size;
            }
        }
        System.out.println(entries + " " + bytes);
    }
}
"#;

/// `entries bytes` as Java's streaming reader finds them.
pub(crate) fn java_counts(archive: &Path) -> Option<String> {
    let mut java = installed("java")?;
    let source = archive.with_file_name("Count.java");
    std::fs::write(&source, JAVA).expect("room");
    java.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto"]).arg(&source).arg(archive);
    Some(output(&mut java).trim().to_owned())
}

#[test]
fn unzip_finds_no_fault() {
    let (_folder, archive) = on_disk(&sample());
    unzip_tests(&archive);
    let Some(mut unzip) = installed("unzip") else { return };
    let out = archive.with_file_name("out");
    output(unzip.arg("-qq").arg(&archive).arg("-d").arg(&out));
    let file = std::fs::metadata(out.join("leer/ä 日本.txt")).expect("it was unpacked");
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&file) & 0o777, 0o640);
    let modified =
        file.modified().expect("a time").duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    assert_eq!(modified.as_secs(), 1_600_000_001, "UTC to the second");
    assert!(out.join("hollow").is_dir());
}

/// The folder lies behind what it holds, and the directory has it before.
#[test]
fn unzip_gives_a_folder_that_holds_something_its_mode() {
    let mut writer = PackWriter::new(Vec::new());
    for name in ["private/a", "b"] {
        let ready = prepare(About::named(name).modified(1), b"x".to_vec(), Codec::Auto);
        writer.add(ready.expect("a good name")).expect("room");
    }
    let folder = About::named("private/").mode(0o700).modified(1_600_000_001);
    writer.add(prepare_directory(folder).expect("a good name")).expect("room");
    let ready = prepare(About::named("last"), b"y".to_vec(), Codec::Auto).expect("a good name");
    writer.add(ready).expect("room");
    let bytes = writer.finish().expect("room").0;
    let index = Index::open(bytes.as_slice(), bytes.len() as u64).expect("our own");
    let names: Vec<&str> = (0..4).map(|number| index.name(number)).collect();
    assert_eq!(names, ["private/a", "b", "private/", "last"]);
    assert!(index.entries().is_sorted_by_key(|entry| entry.header_offset));
    assert!((0..4).all(|number| index.find(index.name(number)) == Some(number)));
    let (place, archive) = on_disk(&bytes);
    let Some(mut unzip) = installed("unzip") else { return };
    output(unzip.args(["-q", "-d"]).arg(place.path()).arg(&archive));
    let folder = place.path().join("private").metadata().expect("it was made");
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&folder) & 0o777, 0o700);
    assert_eq!(std::os::unix::fs::MetadataExt::mtime(&folder), 1_600_000_001);
}

#[test]
fn python_reads_names_modes_and_times() {
    let (_folder, archive) = on_disk(&sample());
    let Some(mut python) = installed("python3") else { return };
    let said = output(python.args(["-X", "utf8", "-c", PYTHON]).arg(&archive).arg("more"));
    assert_eq!(said, "7\numlaut 0o100640 (2020, 9, 13, 12, 26, 40) True\n");
}

/// Reads the directory, as most programs in Java do.
const JAVA_TIME: &str = r#"
class Time {
    public static void main(String[] arguments) throws Exception {
        try (var zip = new java.util.zip.ZipFile(arguments[0])) {
            System.out.println(zip.getEntry("readme.txt").getLastModifiedTime());
        }
    }
}
"#;

#[test]
fn java_reads_times_to_the_microseconds_that_it_keeps() {
    let (_folder, archive) = on_disk(&sample());
    let Some(mut java) = installed("java") else { return };
    let source = archive.with_file_name("Time.java");
    std::fs::write(&source, JAVA_TIME).expect("room");
    java.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto"]).arg(&source).arg(&archive);
    assert_eq!(output(&mut java).trim(), "2020-09-13T12:26:41.123456Z");
}

/// An archive whose DOS time is even and whose NTFS field has the odd second and its parts.
#[test]
fn the_ntfs_field_of_other_tools_is_read() {
    let (_folder, archive) = on_disk(&[]);
    let Some(mut python) = installed("python3") else { return };
    let made = r#"
import struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    entry = zipfile.ZipInfo("f", (2024, 6, 3, 11, 54, 12))
    steps = (1717433653 + 11644473600) * 10**7 + 1234567
    body = struct.pack("<IHHQQQ", 0, 1, 24, steps, steps, steps)
    entry.extra = struct.pack("<HH", 10, len(body)) + body
    archive.writestr(entry, b"x")
"#;
    output(python.args(["-c", made]).arg(&archive));
    let bytes = std::fs::read(&archive).expect("it was made");
    let index = Index::open(bytes.as_slice(), bytes.len() as u64).expect("whole");
    let entry = index.entry(0);
    assert_eq!((entry.modified, entry.modified_ns), (Some(1_717_433_653), 123_456_700));
}

/// The tools that the help of `pack` names as able to open zstd entries, if they are here.
#[test]
fn tools_that_know_zstd_open_it() {
    let text = "words and words and more words\n".repeat(2000);
    let codec = Codec::Zstd(Level::default());
    let (_folder, archive) = on_disk(&pack(&[("a/text", text.as_bytes()), ("b", b"2")], codec));
    // The first number that the tool says of itself is its version.
    let is_from = |least: [u32; 2], said: &str| {
        let number = said.split([' ', '\n']).find(|word| word.starts_with(char::is_numeric));
        let parts = number.into_iter().flat_map(|number| number.split('.'));
        let new = parts.map_while(|part| part.parse().ok()).collect::<Vec<u32>>() >= least.to_vec();
        if !new {
            eprintln!("skipped: too old: {said}");
        }
        new
    };
    if let Some(mut tool) = installed("bsdtar")
        && is_from([3, 6], &output(tool.arg("--version")))
    {
        let mut tool = Command::new("bsdtar");
        assert_eq!(output(tool.arg("-xOf").arg(&archive).arg("a/text")), text);
    }
    if let Some(mut tool) = installed("7zz")
        && is_from([21, 0], &output(&mut tool))
    {
        let said = output(Command::new("7zz").arg("t").arg(&archive));
        assert!(said.contains("Everything is Ok"), "{said}");
    }
}

#[test]
fn java_streams_it() {
    let (_folder, archive) = on_disk(&sample());
    let Some(said) = java_counts(&archive) else { return };
    assert_eq!(said, format!("7 {}", 2 * 62_000 + 2 * 5000 + 6));
}

#[test]
fn an_empty_archive_opens_elsewhere() {
    let (_folder, archive) = on_disk(&pack(&[], Codec::Auto));
    assert!(python_count(&archive).is_none_or(|count| count == 0));
}
