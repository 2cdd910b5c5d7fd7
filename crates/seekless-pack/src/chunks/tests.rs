use super::*;
use crate::format::EXTRA_CHUNKS;
use crate::{About, Codec, ErrorKind, Index, PackWriter, decode, prepare};
use std::io::Cursor;

const MIB: usize = 1 << 20;

/// Text that repeats itself across chunks, with noise in it.
fn text(bytes: usize) -> Vec<u8> {
    let mut state = 7u64;
    let mut words = std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("word {} ", state >> 55)
    });
    let mut text = Vec::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.extend_from_slice(words.next().unwrap().as_bytes());
    }
    text.truncate(bytes);
    text
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut pack = PackWriter::new(Vec::new());
    for (name, bytes) in [("small", b"few".to_vec()), ("large", content.to_vec())] {
        pack.add(prepare(About::named(name), bytes, Codec::Deflate).unwrap()).unwrap();
    }
    pack.finish().unwrap().0
}

fn open(archive: &[u8]) -> Index {
    Index::open(archive, archive.len() as u64).unwrap()
}

/// The data of entry 1.
fn data<'a>(archive: &'a [u8], index: &Index) -> &'a [u8] {
    let entry = index.entry(1);
    let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
    crate::coded_data(&entry, "large", extent).unwrap()
}

/// Where the table of the only entry with chunks lies in the archive.
fn table_at(archive: &[u8]) -> Range<usize> {
    let [low, high] = EXTRA_CHUNKS.to_le_bytes();
    let head = |at: &usize| {
        archive[*at..].starts_with(&[low, high]) && archive[at + 4..].starts_with(&[VERSION, 20])
    };
    let at = (0..archive.len() - 6).rev().find(head).expect("a table");
    let bytes = usize::from(u16::from_le_bytes([archive[at + 2], archive[at + 3]]));
    at + 4..at + 4 + bytes
}

#[test]
fn each_chunk_is_decoded_alone_and_all_are_one_stream() {
    for bytes in [4 * MIB + 1, 5 * MIB, 6 * MIB - 1] {
        let content = text(bytes);
        let archive = packed(&content);
        let index = open(&archive);
        let (entry, chunks) = (index.entry(1), index.chunks(1).unwrap());
        assert_eq!(chunks.len(), bytes.div_ceil(MIB));
        for number in (0..chunks.len()).rev() {
            let (range, of) = (chunks.content(number), chunks.data(number));
            let mut out = vec![0; (range.end - range.start) as usize];
            let coded = &data(&archive, &index)[of.start as usize..of.end as usize];
            let (head, tail) = coded.split_at(coded.len() / 3);
            chunks.inflate(&entry, "large", number, [head, tail], &mut out).unwrap();
            assert!(out == content[range.start as usize..range.end as usize]);
            assert_eq!(chunks.holding(range), number..number + 1);
        }
        assert_eq!(chunks.holding(5..3 * MIB as u64), 0..3);
        let (mut whole, mut rest) = (Vec::new(), &archive[entry.header_offset as usize..]);
        decode(&entry, "large", rest, &mut whole).unwrap();
        assert!(whole == content);
        // A reader that inflates what comes, and knows nothing of chunks.
        let mut pieces = crate::Pieces::new(&entry, "large").unwrap();
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.len().min(300_000));
            pieces.add(&entry, "large", piece, &mut whole).unwrap();
            rest = behind;
        }
        pieces.finish(&entry, "large").unwrap();
        assert!(whole == content);
    }
}

#[test]
fn only_large_deflated_entries_have_chunks() {
    let archive = packed(&text(4 * MIB));
    assert!((0..2).all(|number| open(&archive).chunks(number).is_none()));
    for codec in [Codec::Stored, Codec::Zstd(crate::Level::default())] {
        let mut pack = PackWriter::new(Vec::new());
        pack.add(prepare(About::named("large"), text(5 * MIB), codec).unwrap()).unwrap();
        assert!(open(&pack.finish().unwrap().0).chunks(0).is_none());
    }
}

#[test]
fn a_stream_is_coded_as_if_it_had_been_in_memory() {
    let content = text(9 * MIB + 5);
    let mut pack = PackWriter::new(Cursor::new(Vec::new()));
    pack.add(prepare(About::named("small"), b"few".to_vec(), Codec::Deflate).unwrap()).unwrap();
    let about = About::named("large");
    pack.add_stream(&about, &mut &content[..], content.len() as u64, Codec::Auto).unwrap();
    assert!(pack.finish().unwrap().0.into_inner() == packed(&content));
    for length in [content.len() - 1, content.len() + 1, 4 * MIB] {
        let mut pack = PackWriter::new(Cursor::new(Vec::new()));
        let added = pack.add_stream(&about, &mut &content[..], length as u64, Codec::Auto);
        assert_eq!(added.unwrap_err().kind(), ErrorKind::Disagrees);
    }
}

#[test]
fn a_table_with_any_bit_flipped_is_no_table() {
    let content = text(5 * MIB);
    let mut archive = packed(&content);
    for at in table_at(&archive) {
        for bit in 0..8 {
            archive[at] ^= 1 << bit;
            assert_eq!(open(&archive).chunks(1), None, "bit {bit} at {at}");
            archive[at] ^= 1 << bit;
        }
    }
    assert!(open(&archive).chunks(1).is_some());
}

#[test]
fn a_table_that_lies_of_where_chunks_end_gives_no_other_bytes() {
    let content = text(5 * MIB);
    let mut archive = packed(&content);
    let at = table_at(&archive).start + HEAD_BYTES;
    // The first chunk a byte longer, the second a byte shorter.
    let mut change = |place: usize, by: i64| {
        let field = &mut archive[at + place * ROW_BYTES..][..4];
        let length = i64::from(u32::from_le_bytes(field.try_into().unwrap())) + by;
        field.copy_from_slice(&(length as u32).to_le_bytes());
    };
    change(0, 1);
    change(1, -1);
    let index = open(&archive);
    let (entry, chunks) = (index.entry(1), index.chunks(1).unwrap());
    let mut out = vec![0; MIB];
    let mut inflated = |number| {
        let of = chunks.data(number);
        let coded = &data(&archive, &index)[of.start as usize..of.end as usize];
        let inflated = chunks.inflate(&entry, "large", number, [coded], &mut out);
        inflated.map(|()| out == content[number * MIB..][..MIB])
    };
    let error = inflated(1).unwrap_err();
    assert!(error.to_string().contains("in the chunk at byte 1048576"), "{error}");
    for number in 0..5 {
        assert!(inflated(number).unwrap_or(true), "chunk {number}");
    }
}

#[test]
fn a_wrong_byte_is_found_in_its_chunk() {
    let content = text(5 * MIB);
    let archive = packed(&content);
    let index = open(&archive);
    let (entry, chunks) = (index.entry(1), index.chunks(1).unwrap());
    let of = chunks.data(2);
    let coded = &data(&archive, &index)[of.start as usize..of.end as usize];
    let mut out = vec![0; MIB];
    for at in (0..coded.len() - 5).step_by(997) {
        let mut wrong = coded.to_vec();
        wrong[at] ^= 0x20;
        assert!(chunks.inflate(&entry, "large", 2, [&wrong[..]], &mut out).is_err(), "{at}");
    }
}

#[test]
fn a_copied_entry_keeps_its_chunks() {
    let archive = packed(&text(5 * MIB));
    let index = open(&archive);
    let mut pack = PackWriter::new(Vec::new());
    let copy = |sink: &mut Vec<u8>, range: Range<u64>| {
        sink.extend_from_slice(&archive[range.start as usize..range.end as usize]);
        Ok(())
    };
    pack.add_copied(&index, 1..2, |_| (0o100_644, 0), copy).unwrap();
    let copied = open(&pack.finish().unwrap().0);
    assert_eq!(copied.chunks(0), index.chunks(1));
    assert!(copied.chunks(0).is_some());
}

#[test]
fn tables_that_cannot_be_right_are_refused() {
    let table = |log: u8, lengths: &[u32]| {
        let rows = lengths.iter().flat_map(|length| [length.to_le_bytes(), [0; 4]]);
        [vec![VERSION, log], rows.flatten().collect()].concat()
    };
    let mib = MIB as u64;
    assert!(is_possible(&table(20, &[10, 20]), 2 * mib, 30));
    for (log, lengths, bytes, coded) in [
        (20, &[10, 20][..], 2 * mib, 31),
        (20, &[10, 20], 2 * mib + 1, 30),
        (20, &[10, 20], mib, 30),
        (20, &[0, 30], 2 * mib, 30),
        (20, &[], 0, 0),
        (16, &[10, 60_000_000], 2 << 16, 60_000_010),
        (15, &[10, 20], 2 << 15, 30),
        (23, &[10, 20], 16 * mib, 30),
        (255, &[10, 20], u64::MAX, 30),
    ] {
        assert!(!is_possible(&table(log, lengths), bytes, coded), "{log} {lengths:?}");
    }
    for cut in [0, 1, 2, 9, 17] {
        assert!(!is_possible(&table(20, &[10, 20])[..cut], 2 * mib, 30));
    }
}

#[test]
fn larger_chunks_keep_the_table_in_its_field() {
    let of = |bytes: u64| log_bytes(bytes);
    assert_eq!([of(4 << 20), of((4 << 20) + 1), of(8000 << 20)], [None, Some(20), Some(20)]);
    assert_eq!([of((8000 << 20) + 1), of(32_000 << 20)], [Some(21), Some(22)]);
    assert_eq!([of((32_000 << 20) + 1), of(u64::MAX)], [None, None]);
}
