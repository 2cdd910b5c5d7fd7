//! Writes and reads a made-up trace of any size. Prints how fast that was and how much memory it
//! took.
//!
//! `cargo run --release -p seekless-trace --example hundred_million -- 100000000 /tmp/big.parquet
//! [shuffled]` Rows come nearly in order, as from a recorder. With `shuffled` a tenth of them come
//! at any time.

use seekless_trace::{
    Access, Columns, Loads, Metadata, Op, PageNumbers, SpoolWriter, Trace, Writer, summary,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Files in the trace.
const FILES: u64 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, path, mode @ ..] = arguments.as_slice() else {
        return Err("usage: hundred_million ROWS OUT.parquet [shuffled]".into());
    };
    let (rows, path) = (rows.parse()?, PathBuf::from(path));
    timed("write", rows, || write(&path, rows, !mode.is_empty()))?;
    println!("{:.2} bytes a row", std::fs::metadata(&path)?.len() as f64 / rows as f64);
    timed("scan run, op, file, offset, bytes", rows, || scan(&path))?;
    timed("the same, with pages numbered", rows, || number_pages(&path))?;
    timed("spool", rows, || spool(&path.with_extension("spool"), rows))?;
    timed("names", rows, || Trace::open(&path)?.file_names())?;
    timed("summary", rows, || summary::summarise(&Trace::open(&path)?, &mut |_, _| {}))?;
    timed("loads", rows, || Loads::read(std::slice::from_ref(&path)))?;
    Ok(())
}

fn timed<T>(
    what: &str,
    rows: u64,
    job: impl FnOnce() -> seekless_trace::Result<T>,
) -> seekless_trace::Result<T> {
    let start = Instant::now();
    let done = job()?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {seconds:.1} s, {:.2} M rows/s, peak {} so far",
        rows as f64 / seconds / 1e6,
        peak()
    );
    Ok(done)
}

fn write(path: &Path, rows: u64, shuffled: bool) -> seekless_trace::Result<()> {
    let mut writer = Writer::create(path, Metadata::default())?;
    let files: Vec<u32> = (0..FILES).map(|file| writer.file(&name(file))).collect();
    for row in 0..rows {
        writer.push(access(row, rows, &files, shuffled))?;
    }
    let summary = writer.finish()?;
    println!("{} rows, {} of them late", summary.rows, summary.late);
    Ok(())
}

/// Writes a spool as a recorder does, with a batch for each 4,096 rows.
fn spool(path: &Path, rows: u64) -> seekless_trace::Result<()> {
    let mut spool = SpoolWriter::create(path, &Metadata::default())?;
    let files: Vec<u32> = (0..FILES).map(|file| spool.file(name(file))).collect();
    for row in 0..rows {
        spool.push(access(row, rows, &files, false))?;
    }
    drop(spool);
    println!(
        "{:.2} bytes a row in the spool",
        std::fs::metadata(path).map_or(0, |file| file.len()) as f64 / rows as f64
    );
    let _ = std::fs::remove_file(path); // a leftover does no harm
    Ok(())
}

fn name(file: u64) -> String {
    format!("public/art/textures/{:x}.dds", mix(file))
}

/// A program that reads some files at a time from front to back, 16 KiB a call.
fn access(row: u64, rows: u64, files: &[u32], shuffled: bool) -> Access {
    let noise = mix(row);
    let file = mix(row / 64 + noise % 4) % FILES;
    let late = shuffled && noise.is_multiple_of(10);
    let time = if late { noise % rows } else { row + noise % 1000 };
    Access {
        time_ns: time * 2311,
        pid: 4000,
        tid: 4000 + (noise % 4) as u32,
        offset: ((row % 64) << 14) as i64,
        bytes: if noise.is_multiple_of(16) { noise % 16_384 } else { 16_384 },
        latency_ns: Some(1000 + noise % 5000),
        file_bytes: Some(1 << 20),
        device: Some(0x801),
        inode: Some(1_000_000 + file),
        ..Access::new(
            if noise.is_multiple_of(50) { Op::Open } else { Op::Read },
            files[file as usize],
        )
    }
}

/// A well mixed function of `number` (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30))
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn columns() -> Columns {
    Columns::RUN | Columns::OP | Columns::FILE | Columns::OFFSET | Columns::BYTES
}

fn scan(path: &Path) -> seekless_trace::Result<u64> {
    Trace::open(path)?
        .scan(columns())?
        .try_fold(0, |sum, batch| Ok(sum + batch?.bytes().iter().sum::<u64>()))
}

fn number_pages(path: &Path) -> seekless_trace::Result<()> {
    let mut numbers = PageNumbers::new();
    for batch in Trace::open(path)?.scan(columns())? {
        let batch = batch?;
        for ((&file, &offset), &bytes) in batch.file().iter().zip(batch.offset()).zip(batch.bytes())
        {
            let pages = offset as u64 / 4096..(offset as u64 + bytes).div_ceil(4096);
            for page in pages {
                numbers.id(file, page);
            }
        }
    }
    println!("{} pages", numbers.len());
    Ok(())
}

/// The most memory that this process has had.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .map_or("unknown".into(), |peak| peak.trim().to_owned())
}
