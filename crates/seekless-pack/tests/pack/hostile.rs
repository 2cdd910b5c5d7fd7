//! Archives that are damaged, made to deceive, or not supported. Each kind has its own error, and
//! archives that are only unusual are read.

use crate::forge::{Forged, Forgery, put16, put32, put64};
use crate::memory::bounded;
use crate::samples::{Hostile, deflated, hostile};
use crate::support::{pack, read_all, refusal};
use seekless_pack::{Codec, Entry, ErrorKind, Index, ReadAt, decode, verify};

fn two() -> [Forged; 2] {
    [Forged::stored("a.txt", b"alpha"), Forged::stored("b.txt", b"beta")]
}

/// The archive of `two` with one change to its first entry.
fn with(change: impl FnOnce(&mut Forged)) -> Vec<u8> {
    let mut entries = two();
    change(&mut entries[0]);
    Forgery::of(entries).bytes()
}

#[test]
fn the_forger_can_also_write_it_right() {
    let files = read_all(&Forgery::of(two()).bytes()).expect("nothing is wrong with it");
    assert_eq!(
        files,
        [("a.txt".to_owned(), b"alpha".to_vec()), ("b.txt".to_owned(), b"beta".to_vec())]
    );
}

#[test]
fn what_is_no_zip() {
    for bytes in [&b""[..], b"x", b"PK", &[0; 21], &[0; 22], &[b'P'; 200_000]] {
        assert_eq!(refusal(bytes), ErrorKind::NotAZip);
    }
}

#[test]
fn truncated_anywhere() {
    let archive = pack(&[("a.txt", b"alpha"), ("b.txt", &[5; 3000])], Codec::Auto);
    for length in 4..archive.len() {
        assert_eq!(refusal(&archive[..length]), ErrorKind::Truncated, "cut to {length} bytes");
    }
    let mut appended = archive;
    appended.extend(b"\r\n");
    assert_eq!(refusal(&appended), ErrorKind::Truncated);
}

#[test]
fn bytes_missing_from_the_front_or_the_middle() {
    let archive = pack(&[("a.txt", b"alpha"), ("b.txt", b"beta")], Codec::Auto);
    assert_eq!(refusal(&archive[10..]), ErrorKind::Truncated);
    assert_eq!(refusal(&[&archive[..20], &archive[30..]].concat()), ErrorKind::Truncated);
}

#[test]
fn names_that_lead_elsewhere() {
    for name in ["../x", "a/../../x", "/etc/passwd", "..\\x", "\\x", "C:\\x", "a\0b", ""] {
        assert_eq!(refusal(&with(|entry| entry.name = name.into())), ErrorKind::Name, "{name:?}");
    }
    let latin1 = with(|entry| (entry.name, entry.flags) = (vec![b'a', 0xe4], 1 << 11));
    assert_eq!(refusal(&latin1), ErrorKind::Name, "not the UTF-8 that it claims");
}

#[test]
fn the_same_name_twice() {
    assert_eq!(refusal(&with(|entry| entry.name = b"b.txt".into())), ErrorKind::Duplicate);
}

#[test]
fn overlapping_entries() {
    assert_eq!(
        refusal(&with(|entry| entry.offset = Some(20))),
        ErrorKind::Overlap,
        "into the next"
    );
    let second_on_first = {
        let mut entries = two();
        entries[1].offset = Some(0);
        Forgery::of(entries).bytes()
    };
    assert_eq!(refusal(&second_on_first), ErrorKind::Overlap, "two on one header");
    assert_eq!(
        refusal(&with(|entry| entry.offset = Some(80))),
        ErrorKind::Overlap,
        "into the directory"
    );
    assert_eq!(
        refusal(&with(|entry| entry.offset = Some(u32::MAX - 1))),
        ErrorKind::Overlap,
        "behind the end"
    );
    let huge = with(|entry| (entry.bytes, entry.coded_bytes) = (u32::MAX - 1, u32::MAX - 1));
    assert_eq!(refusal(&huge), ErrorKind::Overlap, "a size beyond the file");
}

#[test]
fn absurd_sizes() {
    let bomb = with(|entry| (entry.method, entry.bytes) = (8, 1032 * 5 + 1));
    assert_eq!(refusal(&bomb), ErrorKind::Sizes, "more than deflate can hold");
    assert_eq!(refusal(&with(|entry| entry.bytes = 6)), ErrorKind::Sizes, "stored, and two sizes");
    let mut forgery = Forgery::of(two());
    forgery.count = Some(60_000);
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::Sizes, "more entries than fit");
    forgery.count = Some(1);
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::Sizes, "fewer than there are");
}

#[test]
fn a_count_beyond_the_directory_breaks_off() {
    let mut forgery = Forgery::of(two());
    forgery.entries[0].central_extra = vec![0; 100];
    forgery.count = Some(3);
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::Truncated);
}

#[test]
fn a_directory_that_is_elsewhere() {
    let mut forgery = Forgery::of(two());
    forgery.directory_offset = Some(u32::MAX - 5);
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::Truncated);
    forgery.directory_offset = None;
    forgery.directory_bytes = Some(u32::MAX - 5);
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::Truncated);
}

/// A file that says it is `bytes` long but holds only an end record: a sparse one.
struct Sparse {
    bytes: u64,
    end: Vec<u8>,
}

impl ReadAt for Sparse {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        assert!(buffer.len() < 1 << 20, "a read of {} bytes is justified by nothing", buffer.len());
        let start = self.bytes - self.end.len() as u64;
        for (byte, at) in buffer.iter_mut().zip(offset..) {
            *byte = if at >= start { self.end[(at - start) as usize] } else { 0 };
        }
        Ok(())
    }
}

#[test]
fn a_huge_file_makes_no_huge_allocation() {
    let file = |entries: u64, directory_bytes: u64| {
        let mut end = Vec::new();
        put32(&mut end, &[0x0606_4b50]);
        put64(&mut end, &[44]);
        put16(&mut end, &[45, 45]);
        put32(&mut end, &[0, 0]);
        let at = (1u64 << 45) - 98;
        put64(&mut end, &[entries, entries, directory_bytes, at - directory_bytes]);
        put32(&mut end, &[0x0706_4b50, 0]);
        put64(&mut end, &[at]);
        put32(&mut end, &[1, 0x0605_4b50]);
        put16(&mut end, &[0, 0, u16::MAX, u16::MAX]);
        put32(&mut end, &[u32::MAX, u32::MAX]);
        put16(&mut end, &[0]);
        assert_eq!(end.len(), 98);
        Sparse { bytes: 1 << 45, end }
    };
    let kind = |file: Sparse| Index::open(&file, file.bytes).expect_err("it is absurd").kind();
    assert_eq!(kind(file(1 << 40, 1 << 44)), ErrorKind::Sizes);
    assert_eq!(kind(file(1 << 36, 1 << 44)), ErrorKind::Limit);
    assert_eq!(kind(file(3, 100)), ErrorKind::Sizes);
    assert_eq!(kind(file(2, 100)), ErrorKind::Truncated);
}

#[test]
fn few_bytes_cannot_ask_for_much_memory() {
    for Hostile { what, archive, right_bytes } in hostile() {
        let bytes = archive.len();
        println!("{what}: {bytes} bytes");
        let whole =
            bounded(bytes, || verify(archive.as_slice(), bytes as u64, &mut |_, _| {}).is_ok());
        assert_eq!(bounded(bytes + right_bytes, || are_right(&archive)), whole, "{what}");
    }
}

/// Decodes every entry, also after one that is broken.
fn are_right(archive: &[u8]) -> bool {
    let Ok(index) = Index::open(archive, archive.len() as u64) else { return false };
    let right = |(entry, number): (Entry, u32)| {
        let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
        decode(&entry, index.name(number), extent, &mut Vec::new()).is_ok()
    };
    !index.entries().zip(0..).map(right).collect::<Vec<_>>().contains(&false)
}

#[test]
fn a_local_header_that_disagrees() {
    for forged in [
        with(|entry| entry.local_name = Some(b"c.txt".into())),
        with(|entry| entry.local_name = Some(b"../etc".into())),
        with(|entry| entry.local_method = Some(8)),
        with(|entry| entry.local_crc = Some(7)),
        with(|entry| entry.local_sizes = Some((5, 4))),
        with(|entry| entry.local_sizes = Some((u32::MAX, 5))),
        with(|entry| entry.offset = Some(1)),
    ] {
        assert_eq!(refusal(&forged), ErrorKind::Disagrees);
    }
    let longer =
        with(|entry| (entry.local_name, entry.local_extra) = (Some(b"a.txt".into()), vec![0; 60]));
    let mut short = longer.clone();
    short[28..30].copy_from_slice(&60_000u16.to_le_bytes());
    assert!(read_all(&longer).is_ok(), "padding is none of our business");
    assert_eq!(refusal(&short), ErrorKind::Truncated, "an extra field that runs over the extent");
}

#[test]
fn content_that_is_not_what_was_packed() {
    assert_eq!(refusal(&with(|entry| entry.data[0] ^= 1)), ErrorKind::Crc);
    assert_eq!(refusal(&with(|entry| entry.crc ^= 1)), ErrorKind::Crc);
    let broken = |data: Vec<u8>, bytes: u32| {
        with(|entry| {
            (entry.method, entry.coded_bytes, entry.data, entry.bytes) =
                (8, data.len() as u32, data, bytes)
        })
    };
    assert_eq!(refusal(&broken(vec![0xff; 9], 20)), ErrorKind::Corrupt, "no deflate at all");
    assert_eq!(
        refusal(&broken(deflated("a.txt", b"alpha").data, 4)),
        ErrorKind::Corrupt,
        "more than claimed"
    );
    assert_eq!(
        refusal(&broken(deflated("a.txt", b"alpha").data, 6)),
        ErrorKind::Corrupt,
        "less than claimed"
    );
}

#[test]
fn what_is_not_read_here() {
    assert_eq!(refusal(&with(|entry| entry.flags = 1)), ErrorKind::Encrypted);
    for method in [1, 95, 99, 12345] {
        assert_eq!(refusal(&with(|entry| entry.method = method)), ErrorKind::Method);
    }
    for (method, is_read) in [
        (9, cfg!(feature = "deflate64")),
        (12, cfg!(feature = "bzip2")),
        (14, cfg!(feature = "lzma")),
    ] {
        let kind = if is_read { ErrorKind::Corrupt } else { ErrorKind::Method };
        assert_eq!(refusal(&with(|entry| entry.method = method)), kind, "{method}");
    }
    let archive = with(|entry| entry.method = 95);
    let error = read_all(&archive).expect_err("xz");
    assert_eq!(
        error.to_string(),
        "entry \"a.txt\" at offset 0: it is coded with xz (method 95), which is not read here; repack it as stored, deflate or zstd"
    );
    let index =
        Index::open(archive.as_slice(), archive.len() as u64).expect("the other entry is fine");
    let entry = index.entry(1);
    let mut content = Vec::new();
    decode(&entry, "b.txt", &archive[entry.header_offset as usize..], &mut content)
        .expect("the other entry is fine");
    assert_eq!(content, b"beta");
}

#[test]
fn volumes_of_a_split_archive() {
    assert_eq!(refusal(&with(|entry| entry.disk = 1)), ErrorKind::MultiDisk);
    let mut forgery = Forgery::of(two());
    forgery.disk = 2;
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::MultiDisk);
}

#[test]
fn two_ends_in_one_file() {
    let mut forgery = Forgery::of(two());
    let mut inner = Vec::new();
    put32(&mut inner, &[0x0605_4b50]);
    put16(&mut inner, &[0; 8]);
    put16(&mut inner, &[0]);
    forgery.comment = inner;
    assert_eq!(refusal(&forgery.bytes()), ErrorKind::NotAZip);
}

#[test]
fn unusual_but_right() {
    let descriptor = |signed: bool| {
        with(|entry| {
            entry.flags = 1 << 3;
            (entry.local_sizes, entry.local_crc) = (Some((0, 0)), Some(0));
            let fields = [0x0807_4b50, entry.crc, 5, 5];
            put32(&mut entry.behind, if signed { &fields } else { &fields[1..] });
        })
    };
    let gap = with(|entry| entry.behind = vec![9; 300_000]);
    let mut commented = Forgery::of(two());
    commented.comment = vec![b'c'; 65_535];
    commented.entries[1].comment = b"a comment".into();
    let mut moved = Forgery::of(two());
    moved.before = b"#!/bin/sh\nexec unzip $0\n".to_vec();
    for archive in [descriptor(true), descriptor(false), gap, commented.bytes(), moved.bytes()] {
        assert_eq!(read_all(&archive).expect("it is right").len(), 2);
    }
}

#[test]
fn gaps_are_not_part_of_an_extent() {
    let archive = with(|entry| entry.behind = vec![9; 300_000]);
    let index = Index::open(archive.as_slice(), archive.len() as u64).expect("it is right");
    assert!(index.entry(0).extent_bytes < 140_000, "{}", index.entry(0).extent_bytes);
}

#[test]
fn entries_stand_in_archive_order_whatever_the_directory_says() {
    let archive = {
        let right = Forgery::of(two()).bytes();
        let (body, rest) = right.split_at(right.len() - 22 - 2 * (46 + 5));
        let (first, rest) = rest.split_at(46 + 5);
        let (second, end) = rest.split_at(46 + 5);
        [body, second, first, end].concat()
    };
    let names: Vec<String> =
        read_all(&archive).expect("it is right").into_iter().map(|file| file.0).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
}

#[test]
fn old_names_are_code_page_437() {
    let archive = with(|entry| entry.name = vec![b'M', 0x81, b'l', b'l']);
    assert_eq!(read_all(&archive).expect("it is right")[0].0, "Müll");
}

#[test]
fn modes_of_others_are_not_taken_for_unix() {
    let mode = |made_by: u16| {
        let archive = with(|entry| (entry.made_by, entry.attributes) = (made_by, 0o100_755 << 16));
        Index::open(archive.as_slice(), archive.len() as u64).expect("it is right").entry(0).mode
    };
    assert_eq!((mode(3 << 8 | 30), mode(20)), (Some(0o100_755), None));
}
