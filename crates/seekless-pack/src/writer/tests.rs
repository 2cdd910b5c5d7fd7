//! Zip64 with lowered limits, so that every field of it stands in archives of a few bytes; and
//! streamed entries.

use super::PackWriter;
use crate::record::Limits;
use crate::{About, Codec, ErrorKind, Index, decode, prepare, verify};
use std::io::{Cursor, Read};

const LOW: Limits = Limits { bytes: 100, entries: 3 };

fn sample(limits: Limits) -> Vec<u8> {
    let mut writer = PackWriter::with_limits(Cursor::new(Vec::new()), limits);
    let add = |writer: &mut PackWriter<_>, name: &str, bytes: Vec<u8>| {
        let about = About::named(name).modified(1_700_000_000);
        writer.add(prepare(about, bytes, Codec::Auto).expect("a good name")).expect("room");
    };
    add(&mut writer, "small", b"few bytes".to_vec());
    add(&mut writer, "large", vec![b'x'; 5000]);
    let streamed = About::named("streamed").mode(0o600);
    writer.add_stream(&streamed, &mut &[b'y'; 3000][..], 3000, Codec::Deflate).expect("room");
    add(&mut writer, "last", b"behind".to_vec());
    writer.finish().expect("room").0.into_inner()
}

fn read(archive: &[u8], name: &str) -> Vec<u8> {
    let index = Index::open(archive, archive.len() as u64).expect("our own");
    let entry = index.entry(index.find(name).expect("it is there"));
    let mut out = Vec::new();
    decode(&entry, name, &archive[entry.header_offset as usize..], &mut out).expect("it is whole");
    out
}

#[test]
fn a_comment_stands_behind_the_end() {
    for limits in [Limits::default(), LOW] {
        let mut writer = PackWriter::with_limits(Vec::new(), limits);
        writer.add(prepare(About::named("a"), vec![b'x'; 500], Codec::Auto).unwrap()).unwrap();
        assert_eq!(writer.comment(&[b'c'; 65_536]).unwrap_err().kind(), ErrorKind::Limit);
        writer.comment(&[b'c'; 65_535]).unwrap();
        let archive = writer.finish().unwrap().0;
        let index = Index::open(archive.as_slice(), archive.len() as u64).unwrap();
        assert_eq!(index.comment(), [b'c'; 65_535]);
        assert_eq!(read(&archive, "a"), vec![b'x'; 500]);
    }
}

#[test]
fn zip64_records_say_the_same() {
    let (plain, wide) = (sample(Limits::default()), sample(LOW));
    assert!(wide.len() > plain.len() + 56 + 20);
    for archive in [&plain, &wide] {
        assert_eq!(read(archive, "large"), vec![b'x'; 5000]);
        assert_eq!(read(archive, "streamed"), vec![b'y'; 3000]);
        assert_eq!(read(archive, "last"), b"behind");
        assert_eq!(
            verify(archive, archive.len() as u64, &mut |_, _| {}).expect("our own").entries,
            4
        );
    }
}

#[test]
fn others_read_zip64_records() {
    let mut archive = zip::ZipArchive::new(Cursor::new(sample(LOW))).expect("it opens");
    for (name, bytes) in [
        ("small", b"few bytes".to_vec()),
        ("large", vec![b'x'; 5000]),
        ("streamed", vec![b'y'; 3000]),
    ] {
        let mut content = Vec::new();
        archive.by_name(name).expect("it is there").read_to_end(&mut content).expect("it is whole");
        assert_eq!(content, bytes);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wide.zip");
    std::fs::write(&path, sample(LOW)).expect("room");
    let script =
        "import sys, zipfile; sys.exit(zipfile.ZipFile(sys.argv[1]).testzip() is not None)";
    for (program, arguments) in [("python3", &["-c", script][..]), ("unzip", &["-tqq"][..])] {
        match std::process::Command::new(program).args(arguments).arg(&path).output() {
            Ok(done) => {
                assert!(
                    done.status.success(),
                    "{program}: {}",
                    String::from_utf8_lossy(&done.stderr)
                )
            }
            Err(error) => eprintln!("skipped: {program}: {error}"),
        }
    }
}

#[test]
fn a_stream_that_is_shorter_or_longer_is_refused() {
    for length in [9, 11] {
        let mut writer = PackWriter::new(Cursor::new(Vec::new()));
        let added =
            writer.add_stream(&About::named("a"), &mut &vec![1; length][..], 10, Codec::Stored);
        assert_eq!(added.expect_err("another length").kind(), ErrorKind::Disagrees);
        assert_eq!(writer.finish().expect_err("half an entry").kind(), ErrorKind::Io);
    }
}

#[test]
fn a_sink_that_fails_ends_it() {
    let mut room = [0u8; 40];
    let mut writer = PackWriter::new(&mut room[..]);
    let entry =
        |name| prepare(About::named(name), vec![1; 50], Codec::Stored).expect("a good name");
    assert_eq!(writer.add(entry("a")).expect_err("too long").kind(), ErrorKind::Io);
    assert_eq!(writer.add(entry("b")).expect_err("no way on").kind(), ErrorKind::Io);
    assert_eq!(writer.finish().expect_err("no way on").kind(), ErrorKind::Io);
}
