//! Archives beyond the first format's 16- and 32-bit fields, read by everyone.

use crate::foreign::{java_counts, python_count, unzip_tests};
use crate::holes::Holes;
use crate::support::{installed, on_disk, read_all};
use seekless_pack::{About, Codec, Index, PackWriter, decode, prepare};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

fn of_entries(count: u32) -> Vec<u8> {
    let mut writer = PackWriter::new(Vec::new());
    for number in 0..count {
        let entry = prepare(About::named(format!("{number}")), Vec::new(), Codec::Auto)
            .expect("a good name");
        writer.add(entry).expect("room");
    }
    writer.finish().expect("room").0
}

#[test]
fn counts_around_65_535() {
    for (count, zip64_bytes) in [(65_534, 0), (65_535, 76), (65_536, 76)] {
        let archive = of_entries(count);
        let index = Index::open(archive.as_slice(), archive.len() as u64).expect("our own");
        assert_eq!(index.len() as u32, count);
        assert_eq!(index.find("65533"), Some(65_533));
        let end = archive.len() as u64 - 22 - zip64_bytes;
        assert_eq!(
            archive[end as usize..][..4],
            if zip64_bytes > 0 { *b"PK\x06\x06" } else { *b"PK\x05\x06" }
        );
    }
}

#[test]
fn everyone_reads_70_000_entries() {
    let (_folder, archive) = on_disk(&of_entries(70_000));
    unzip_tests(&archive);
    assert!(python_count(&archive).is_none_or(|count| count == 70_000));
    assert!(java_counts(&archive).is_none_or(|said| said == "70000 0"));
}

const LARGE_BYTES: u64 = (4 << 30) + 5;

#[test]
fn a_file_and_an_offset_beyond_4_gib() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("data.zip");
    let file =
        File::options().read(true).write(true).create_new(true).open(&path).expect("a new file");
    let mut writer = PackWriter::new(Holes(file));
    let mut zeros = io::repeat(0).take(LARGE_BYTES);
    writer
        .add_stream(&About::named("large"), &mut zeros, LARGE_BYTES, Codec::Stored)
        .expect("room");
    writer
        .add(prepare(About::named("after"), b"beyond".to_vec(), Codec::Auto).expect("a good name"))
        .expect("room");
    let (Holes(file), written) = writer.finish().expect("room");
    assert!(written.archive_bytes > LARGE_BYTES);

    let index = Index::open(&file, written.archive_bytes).expect("our own");
    let (large, after) = (index.entry(0), index.entry(1));
    assert_eq!((large.bytes, large.coded_bytes), (LARGE_BYTES, LARGE_BYTES));
    assert_eq!(after.header_offset, large.extent_bytes);
    let mut extent = vec![0; after.extent_bytes as usize];
    file.read_exact_at(&mut extent, after.header_offset).expect("it is there");
    let mut content = Vec::new();
    decode(&after, "after", &extent, &mut content).expect("it is whole");
    assert_eq!(content, b"beyond");

    let Some(mut python) = installed("python3") else { return };
    let script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.getinfo('large').file_size, z.read('after'))";
    let said = crate::foreign::output(python.args(["-c", script]).arg(&path));
    assert_eq!(said, format!("{LARGE_BYTES} b'beyond'\n"));
}

#[test]
fn zip64_fields_of_others_are_read_where_they_are_needed() {
    use crate::forge::{Forged, Forgery, put16, put64};
    let mut entry = Forged::stored("a.txt", b"alpha");
    for (extra, values) in
        [(&mut entry.local_extra, &[5, 5][..]), (&mut entry.central_extra, &[5, 5, 0][..])]
    {
        put16(extra, &[1, 8 * values.len() as u16]);
        put64(extra, values);
    }
    (entry.bytes, entry.coded_bytes, entry.offset) = (u32::MAX, u32::MAX, Some(u32::MAX));
    let archive = Forgery::of([entry.clone()]).bytes();
    assert_eq!(read_all(&archive).expect("it is right"), [("a.txt".to_owned(), b"alpha".to_vec())]);
    entry.central_extra.truncate(12);
    entry.central_extra[2] = 8;
    assert_eq!(
        crate::support::refusal(&Forgery::of([entry]).bytes()),
        seekless_pack::ErrorKind::Sizes
    );
}
