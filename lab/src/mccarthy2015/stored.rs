//! The trace through a live store and a real pack of the same entries: what was simulated, run.

use super::Args;
use super::files::entry;
use super::ratios;
use super::trace::Trace;
use anyhow::{Context, ensure};
use seekless::device::units::{format_bytes, format_count};
use seekless::io::Store;
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::report::table;
use serde::Serialize;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Kept of reads beside the cache, whose size is the trace's.
const READ_AHEAD_BYTES: u64 = 16 << 20;

/// One size of cache.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    entries: u64,
    hits: u64,
    /// What the simulation of figures 3 and 4 counts.
    simulated_hits: u64,
    /// Misses whose bytes had come with another entry's.
    read_ahead_hits: u64,
    requests: u64,
    read_bytes: u64,
    seconds: f64,
}

/// Loads the trace from a pack in `folder`, once for each size of cache.
pub(crate) fn measure(
    trace: &Trace,
    folder: &Path,
    simulated: &[ratios::Row],
    args: &Args,
) -> anyhow::Result<Vec<Row>> {
    eprintln!("packing {} entries of {} bytes", trace.ids.len(), args.file_size);
    let path = make_pack(trace, folder, args.file_size)?;
    simulated.iter().map(|row| load(trace, &path, row, args)).collect()
}

fn make_pack(trace: &Trace, folder: &Path, bytes: usize) -> anyhow::Result<PathBuf> {
    let path = folder.join("db.zip");
    let write = || -> anyhow::Result<()> {
        let mut pack = PackWriter::new(BufWriter::with_capacity(1 << 20, File::create(&path)?));
        for &id in &trace.ids {
            let about = About::named(id.to_string());
            pack.add(prepare(about, entry(id, bytes), Codec::Stored)?)?;
        }
        Ok(pack.finish().map(drop)?)
    };
    write().with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

fn load(trace: &Trace, path: &Path, row: &ratios::Row, args: &Args) -> anyhow::Result<Row> {
    eprintln!("loading the trace through a store of {} entries", row.entries);
    let cache_bytes = row.entries * args.file_size as u64;
    let store = Store::builder()
        .cache(cache_bytes)
        .read_ahead_cache(READ_AHEAD_BYTES)
        .policy("lru")
        .open(path)?;
    let names: Vec<String> = trace.ids.iter().map(u64::to_string).collect();
    let started = Instant::now();
    for &number in &trace.requests {
        let id = trace.ids[number as usize];
        let content = store.load(&names[number as usize])?;
        ensure!(content[..] == entry(id, args.file_size)[..], "entry {id} holds other bytes");
    }
    let seconds = started.elapsed().as_secs_f64();
    let (statistics, counters) = (store.statistics(), store.counters());
    Ok(Row {
        entries: row.entries,
        hits: statistics.hits,
        simulated_hits: row.hits,
        read_ahead_hits: statistics.read_ahead_hits,
        requests: counters.requests,
        read_bytes: counters.bytes,
        seconds,
    })
}

pub(crate) fn words(rows: &[Row]) -> String {
    let header =
        ["entries", "hits", "simulated", "misses read ahead", "requests", "bytes read", "seconds"];
    let cells = rows.iter().map(|row| {
        vec![
            format_count(row.entries),
            format_count(row.hits),
            format_count(row.simulated_hits),
            format_count(row.read_ahead_hits),
            format_count(row.requests),
            format_bytes(row.read_bytes),
            format!("{:.1}", row.seconds),
        ]
    });
    format!(
        "Through a store: the trace loaded from a pack of the entries, past the page cache, LRU\n\n{}",
        table(&header, cells.collect())
    )
}
