//! Entries coded by other tools' methods: bzip2 and LZMA as Python writes them, and Deflate64.

use crate::foreign::output;
use crate::forge::{Forged, Forgery};
use crate::support::{installed, on_disk, read_all};
use seekless_pack::{ContentReader, ErrorKind, Index, Method, Pieces, Position, verify};
use std::io::{Read, Write};

/// Writes text, noise, zeros, and an empty and a short file, by the method that the arguments name.
const WRITE: &str = r#"
import random, sys, zipfile
method = {"bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}[sys.argv[2]]
random.seed(1)
with zipfile.ZipFile(sys.argv[1], "w", method) as archive:
    archive.writestr("text", " ".join(str(number % 9973) for number in range(600_000)))
    archive.writestr("noise", random.randbytes(300_000))
    archive.writestr("zeros", bytes(2_000_000))
    archive.writestr("empty", b"")
    archive.writestr("short", b"x")
"#;

/// Such an archive; `None` without Python.
fn by_python(method: &str) -> Option<Vec<u8>> {
    let (_folder, path) = on_disk(&[]);
    output(installed("python3")?.args(["-c", WRITE]).arg(&path).arg(method));
    Some(std::fs::read(path).expect("it was made"))
}

/// Deflate without its longest matches is Deflate64 as well.
fn deflate64(content: &[u8]) -> Vec<u8> {
    let mut coder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    coder.write_all(content).expect("a vector takes all");
    let data = coder.finish().expect("a vector takes all");
    let coded = Forged {
        method: 9,
        coded_bytes: data.len() as u32,
        data,
        ..Forged::stored("text", content)
    };
    Forgery::of([coded, Forged::stored("last", b"two")]).bytes()
}

fn text() -> Vec<u8> {
    (0..400_000u32).flat_map(|number| format!("{} ", number % 9973).into_bytes()).collect()
}

fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let python = ["bzip2", "lzma"].into_iter().filter_map(|name| Some((name, by_python(name)?)));
    python.chain([("deflate64", deflate64(&text()))]).collect()
}

#[test]
fn they_are_read_whole_and_in_pieces() {
    for (method, archive) in archives() {
        let files = read_all(&archive).expect("whole");
        assert!(files[0].1 == text() || files[0].1.len() > 2_900_000, "{method}");
        let verified = verify(&archive, archive.len() as u64, &mut |_, _| {}).expect("whole");
        assert_eq!(verified.entries, files.len() as u64, "{method}");
        let index = Index::open(&archive, archive.len() as u64).unwrap();
        for (number, (name, content)) in (0..).zip(&files) {
            let entry = index.entry(number);
            let reader = ContentReader::new(archive.clone(), entry, name);
            let mut read = Vec::new();
            reader.unwrap().read_to_end(&mut read).unwrap();
            assert!(read == *content, "{method}: {name}");
            let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
            for bytes in [1000, 70_000] {
                let (mut pieces, mut out) =
                    (Pieces::new(&entry, name).unwrap(), vec![0; content.len()]);
                for piece in extent.chunks(bytes) {
                    pieces.add(&entry, name, piece, &mut out).unwrap();
                }
                let data = pieces.finish(&entry, name).unwrap();
                let is_right = match entry.method {
                    Method::Stored => extent[data.start as usize..data.end as usize] == **content,
                    _ => out == *content,
                };
                assert!(is_right, "{method}: {name} in pieces of {bytes}");
            }
        }
    }
}

#[test]
fn a_part_is_decoded_from_the_start_on() {
    for (method, archive) in archives() {
        let content = &read_all(&archive).expect("whole")[0].1;
        let index = Index::open(&archive, archive.len() as u64).unwrap();
        let entry = index.entry(0);
        let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
        let data = &extent[seekless_pack::data_range(&entry, "text", extent).unwrap()];
        let mut position = Position::start(&entry, "text").unwrap();
        assert!(position.copy().is_none());
        let (mut made, mut out) = (Vec::new(), vec![0; 5000]);
        while position.content() < 1_000_000 {
            let rest = &data[position.data() as usize..];
            let step = position.step(&entry, "text", &rest[..rest.len().min(3000)], &mut out);
            made.extend_from_slice(&out[..step.unwrap().made]);
        }
        assert!(made[..] == content[..made.len()], "{method}");
        assert!(position.memory_bytes() < 16 << 20, "{method}: {}", position.memory_bytes());
    }
}

#[test]
fn what_is_damaged_or_lies_is_an_error_in_little_memory() {
    for (method, archive) in archives() {
        let index = Index::open(&archive, archive.len() as u64).unwrap();
        let entry = index.entry(0);
        let end = (entry.header_offset + entry.extent_bytes) as usize;
        let damaged = |at: usize| {
            let mut archive = archive.clone();
            archive[at] ^= 0x55;
            read_all(&archive).err().map(|error| error.kind())
        };
        // Behind the header of LZMA, whose version no reader looks at.
        let data = end - entry.coded_bytes as usize + 9;
        for at in (data..end - 40).step_by(entry.coded_bytes as usize / 29) {
            let kind = damaged(at);
            assert!(
                matches!(kind, Some(ErrorKind::Corrupt | ErrorKind::Crc)),
                "{method} at {at} of {data} to {end}: {kind:?}"
            );
        }
        // It claims 1 GiB of content.
        let mut large = archive.clone();
        let central = large.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
        large[central + 24..][..4].copy_from_slice(&(1u32 << 30).to_le_bytes());
        large[22..26].copy_from_slice(&(1u32 << 30).to_le_bytes());
        let kind = read_all(&large).err().map(|error| error.kind());
        assert_eq!(kind, Some(ErrorKind::Corrupt), "{method}");
    }
}

#[test]
fn a_dictionary_of_4_gib_is_not_allocated_for_small_content() {
    let Some(mut archive) = by_python("lzma") else { return };
    let whole = read_all(&archive).expect("whole");
    let index = Index::open(&archive, archive.len() as u64).unwrap();
    for entry in index.entries().filter(|entry| entry.coded_bytes > 9) {
        let data = entry.header_offset + entry.extent_bytes - entry.coded_bytes;
        archive[data as usize + 5..][..4].fill(0xFF);
    }
    // `read_all` counts the memory that this takes.
    assert!(read_all(&archive).expect("whole") == whole);
}
