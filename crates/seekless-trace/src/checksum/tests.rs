//! The sums are where the documentation says, and cover every byte.

use super::*;
use crate::scratch::scratch;
use crate::{Access, Metadata, Op, Trace, Writer};
use std::path::Path;

/// Some blocks of rows that compress badly.
fn write(path: &Path) {
    let mut writer = Writer::create(path, Metadata::default()).unwrap();
    let file = writer.file("a");
    for row in 0..30_000_u64 {
        let bytes = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writer.push(Access { time_ns: row, bytes, ..Access::new(Op::Read, file) }).unwrap();
    }
    writer.finish().unwrap();
}

/// Checks the footer of the file at `path`.
fn checked(path: &Path) -> Result<Option<u64>, &'static str> {
    let bytes = std::fs::read(path).unwrap();
    check_footer(bytes.len() as u64, |start, end| Ok(bytes[start as usize..end as usize].to_vec()))
        .unwrap()
}

#[test]
fn every_byte_is_covered() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    write(&path);
    let covered = checked(&path).unwrap().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert!(covered > 3 * BLOCK_BYTES && covered < bytes.len() as u64, "{covered}");
    let text = String::from_utf8_lossy(&bytes[covered as usize..]).into_owned();
    let sums = text.split_once("seekless.block_crc32").unwrap().1.split_once("65536 ").unwrap().1;
    for (block, bytes) in bytes[..covered as usize].chunks(BLOCK_BYTES as usize).enumerate() {
        let digits = &sums[block * SUM_DIGITS..][..SUM_DIGITS];
        assert_eq!(digits, format!("{:08x}", crc32fast::hash(bytes)), "block {block}");
    }
}

#[test]
fn a_changed_block_is_named_and_the_others_are_read() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    write(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[2 * BLOCK_BYTES as usize + 7] ^= 4;
    std::fs::write(&path, bytes).unwrap();
    let trace = Trace::open(&path).unwrap();
    let read =
        |columns| trace.scan(columns).unwrap().map(|batch| batch.map(|batch| batch.rows())).sum();
    let failed: crate::Result<usize> = read(crate::Columns::ALL);
    let cause = std::error::Error::source(&failed.unwrap_err()).unwrap().to_string();
    assert!(cause.contains("the 65536 bytes at 131072 differ from their checksum"), "{cause}");
    let whole: crate::Result<usize> = read(crate::Columns::RUN);
    assert_eq!(whole.unwrap(), 30_000);
}

#[test]
fn pairs_that_another_tool_copied_mean_nothing() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    write(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    let maker = bytes.windows(MAKER.len()).rposition(|window| window == MAKER.as_bytes()).unwrap();
    bytes[maker..maker + 8].copy_from_slice(b"another-");
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(checked(&path), Ok(None));
}
