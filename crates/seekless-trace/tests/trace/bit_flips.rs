//! A trace with a flipped bit is an error or reads as before. It never has other rows without an
//! error.
//!
//! `SEEKLESS_BIT_FLIPS=20000 cargo test -p seekless-trace --test trace bit_flips` flips that many,
//! spread over the whole file.

use crate::support::scratch;
use seekless_trace::*;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

const FLIPS: u64 = 300;
const ROWS: u64 = 12_000;

fn flips() -> u64 {
    std::env::var("SEEKLESS_BIT_FLIPS")
        .map_or(FLIPS, |count| count.parse().expect("a number of flips"))
}

/// A number that looks random and is always the same for `number`.
fn scattered(number: u64) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write_u64(number);
    hash.finish()
}

/// Rows as a recording has them: few files read often, some columns that repeat, some that do not.
fn row(number: u64) -> (Access, String) {
    let random = scattered(number);
    let access = Access {
        run: number as u32 / 8000,
        time_ns: number * 1000 + random % 900,
        pid: 7,
        tid: 8 + random as u32 % 3,
        offset: (random >> 8) as i64 % 100 * 4096,
        bytes: random >> 50,
        latency_ns: random.is_multiple_of(3).then_some(random >> 40),
        error: random.is_multiple_of(50).then_some(2),
        file_bytes: random.is_multiple_of(4).then_some(random >> 30),
        device: Some(2049),
        inode: Some(random % 97),
        ..Access::new(Op::ALL[(random >> 20) as usize % Op::ALL.len()], 0)
    };
    (access, format!("usr/share/art/{}/wall.dds", random % 97))
}

fn metadata() -> Metadata {
    let run = RunInfo { command: vec!["game".to_owned()], ..RunInfo::default() };
    Metadata { lost: 3, runs: vec![run, RunInfo::default()], ..Metadata::default() }
}

/// Everything in a trace.
fn read(path: &Path) -> Result<(Metadata, Vec<String>, Vec<Access>)> {
    let trace = open_any(path)?;
    Ok((trace.metadata().clone(), trace.file_names()?, trace.accesses()?.collect::<Result<_>>()?))
}

/// Flips bits and reads the file after each. It is an error or reads as before.
fn flip_bits(name: &str, bytes: &mut [u8]) {
    let folder = scratch();
    let path = folder.path().join(name);
    std::fs::write(&path, &bytes).unwrap();
    let expected = read(&path).unwrap();
    assert_eq!(expected.2.len() as u64, ROWS);
    let (flips, bits) = (flips(), bytes.len() as u64 * 8);
    let mut unseen = 0;
    for flip in 0..flips {
        // One bit in each of as many equal parts of the file; and again and again one in the last
        // bytes, which hold the offsets of all others.
        let bit = match flip % 8 {
            7 => bits - 1 - scattered(flip) % (8 * 1024),
            _ => (flip * bits / flips + scattered(flip) % (bits / flips).max(1)).min(bits - 1),
        };
        let (at, bit) = ((bit / 8) as usize, 1 << (bit % 8));
        bytes[at] ^= bit;
        std::fs::write(&path, &bytes).unwrap();
        bytes[at] ^= bit;
        let Ok(found) = read(&path) else { continue };
        assert!(
            found == expected,
            "bit {bit} of byte {at} of {}: other rows without an error",
            bytes.len()
        );
        unseen += 1;
    }
    println!(
        "{name}, {} bytes: {flips} bits flipped, {unseen} read as before, the others are errors",
        bytes.len()
    );
}

#[test]
fn parquet() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mut writer = Writer::create(&path, metadata()).unwrap();
    for number in 0..ROWS {
        let (access, name) = row(number);
        let file = writer.file(&name);
        writer.push(Access { file, ..access }).unwrap();
    }
    writer.finish().unwrap();
    flip_bits("flipped.parquet", &mut std::fs::read(&path).unwrap());
}

#[test]
fn spool() {
    let folder = scratch();
    let path = folder.path().join("run.parquet.spool");
    let mut spool = SpoolWriter::create(&path, &metadata()).unwrap();
    let mut files = BTreeMap::new();
    for number in 0..ROWS {
        let (access, name) = row(number);
        let file = *files.entry(name).or_insert_with_key(|name| spool.file(name));
        spool.push(Access { file, ..access }).unwrap();
        if number % 500 == 499 {
            spool.metadata_mut().lost += 1;
            spool.flush().unwrap();
        }
    }
    drop(spool);
    flip_bits("flipped.spool", &mut std::fs::read(&path).unwrap());
}
