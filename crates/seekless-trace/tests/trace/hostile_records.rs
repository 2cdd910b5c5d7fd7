//! Broken files of libCacheSim's records, plain and compressed: an error names the file and the
//! offset, and never comes late, as a panic or as rows that are not in the file.

use crate::support::scratch;
use proptest::prelude::*;
use seekless_trace::import::{self, Format, Options};
use seekless_trace::*;
use std::io::Write;
use std::path::{Path, PathBuf};

const RECORD_BYTES: usize = 24;
/// More than a piece that is read at a time.
const RECORDS: usize = 10_000;

fn oracle(records: usize) -> Vec<u8> {
    let record = |at: usize| {
        let mut record = (at as u32 / 100).to_le_bytes().to_vec();
        record.extend((at as u64 * 7919 % 1009).to_le_bytes());
        record.extend((at as u32 % 5000).to_le_bytes());
        record.extend((-1_i64).to_le_bytes());
        record
    };
    (0..records).flat_map(record).collect()
}

/// A header of lcs and records of its version 3: sizes of 8 bytes.
fn lcs(sizes: &[i64]) -> Vec<u8> {
    let mut file = vec![0; 8192];
    let magic = 0x1234_5678_9abc_def0_u64.to_le_bytes();
    file[..8].copy_from_slice(&magic);
    file[8] = 3;
    file[8184..].copy_from_slice(&magic);
    for &size in sizes {
        file.extend([0; 4]);
        file.extend(7_u64.to_le_bytes());
        file.extend(size.to_le_bytes());
        file.extend([0; 16]);
    }
    file
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn file(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("input");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Reads all records. Returns how many came before the end, or the error.
fn read(path: &Path, format: Format) -> (usize, Option<String>) {
    let options = Options { format: Some(format), ..Options::default() };
    let mut records = match Records::open(path, &options) {
        Ok(records) => records.unwrap(),
        Err(error) => return (0, Some(error.to_string())),
    };
    let mut count = 0;
    loop {
        match records.next_piece() {
            Ok(Some(piece)) => count += piece.records().len(),
            Ok(None) => return (count, None),
            Err(error) => return (count, Some(error.to_string())),
        }
    }
}

fn assert_named(path: &Path, error: &str, place: &str) {
    assert!(error.contains(path.to_str().unwrap()), "{error} does not name the file");
    assert!(error.contains(place), "{error} does not say {place:?}");
}

#[test]
fn a_last_record_that_is_cut_is_an_error_at_its_offset() {
    let (folder, content) = (scratch(), oracle(RECORDS));
    for cut in [1, 23, RECORD_BYTES + 1, 65_536, 65_535, content.len() - 1] {
        let at = cut / RECORD_BYTES * RECORD_BYTES;
        for bytes in [content[..cut].to_vec(), gzip(&content[..cut])] {
            let path = file(folder.path(), &bytes);
            let (_, error) = read(&path, Format::OracleGeneral);
            let place = format!("byte {at}: ends within a record of 24 bytes");
            assert_named(&path, &error.unwrap_or_default(), &place);
        }
    }
}

#[test]
fn a_negative_size_is_an_error_at_its_offset() {
    let folder = scratch();
    let mut sizes = vec![5; 3000];
    sizes[2777] = -1;
    let path = file(folder.path(), &lcs(&sizes));
    let (_, error) = read(&path, Format::Lcs);
    let place = format!("byte {}: has a negative size", 8192 + 2777 * 36);
    assert_named(&path, &error.unwrap(), &place);
}

#[test]
fn a_header_that_is_cut_or_of_an_unknown_version_is_an_error() {
    let folder = scratch();
    let whole = lcs(&[1]);
    for cut in [0, 7, 8191] {
        let path = file(folder.path(), &whole[..cut]);
        assert_named(&path, &read(&path, Format::Lcs).1.unwrap(), "byte 0: does not begin with");
    }
    let mut other = whole;
    other[8] = 9;
    let path = file(folder.path(), &other);
    assert_named(&path, &read(&path, Format::Lcs).1.unwrap(), "byte 8: is version 9 of lcs");
}

#[test]
fn compressed_data_that_ends_early_says_how_much_came() {
    let (folder, content) = (scratch(), oracle(RECORDS));
    for packed in [gzip(&content), zstd::encode_all(&content[..], 1).unwrap()] {
        let path = file(folder.path(), &packed[..packed.len() / 2]);
        let (count, error) = read(&path, Format::OracleGeneral);
        assert_named(&path, &error.unwrap(), "damaged or cut short after ");
        assert!(count < RECORDS, "{count} records of half the file");
    }
}

#[test]
fn a_failed_import_leaves_no_trace() {
    let folder = scratch();
    let path = file(folder.path(), &oracle(RECORDS)[..RECORDS * RECORD_BYTES - 3]);
    let out = folder.path().join("out.parquet");
    let options = Options { format: Some(Format::OracleGeneral), ..Options::default() };
    import::any(std::slice::from_ref(&path), &out, &options, &mut |_, _| {}).unwrap_err();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Any bytes: whole records or an error, and never more records than bytes.
    #[test]
    fn garbage_is_records_or_an_error(
        start in prop::sample::select(vec![
            &b""[..],
            &[0x1f, 0x8b, 8, 0],
            &[0x28, 0xb5, 0x2f, 0xfd],
            &[0xfd, b'7', b'z', b'X', b'Z', 0],
            &[0x5d, 0, 0, 0x80, 0],
            &[0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12],
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..400),
        format in prop::sample::select(vec![Format::OracleGeneral, Format::Lcs]),
    ) {
        let folder = scratch();
        let bytes = [start, &rest[..]].concat();
        let path = file(folder.path(), &bytes);
        let (count, error) = read(&path, format);
        match error {
            Some(error) => prop_assert!(error.contains(path.to_str().unwrap()), "{}", error),
            None if start.is_empty() => prop_assert_eq!(count * RECORD_BYTES, bytes.len()),
            None => {}
        }
    }

    /// A flipped byte of a compressed file is never a panic.
    #[test]
    fn a_changed_byte_is_no_panic(at in any::<prop::sample::Index>(), to: u8) {
        let folder = scratch();
        let content = oracle(500);
        for mut packed in [gzip(&content), zstd::encode_all(&content[..], 1).unwrap()] {
            let at = at.index(packed.len());
            packed[at] = to;
            let path = file(folder.path(), &packed);
            let (count, error) = read(&path, Format::OracleGeneral);
            prop_assert!(error.is_some() || count <= 500 || at < 18, "{} records", count);
        }
    }
}
