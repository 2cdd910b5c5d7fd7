//! A pack of a terabyte: how long it takes to open, in how much memory, and what a load asks for.
//!
//! The pack is a sparse file with the whole directory. Only the entries that are loaded have a
//! header of their own; the content of all is zeros.

use super::Args;
use super::storage::{BUCKET, Storage};
use crate::folder::Folder;
use crate::rounds::load_average;
use anyhow::{Context, ensure};
use seekless::device::units::{format_bytes, format_count, format_rate};
use seekless::engine::automatic;
use seekless::io::Store;
use seekless::remote::{Remote, Settings};
use seekless_results::{Better, Contender, Figure, Table};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const PACK: &str = "huge.zip";
/// Of each entry.
const CONTENT_BYTES: u32 = 100_000;
const NAME_BYTES: u16 = 16;
const HEADER_BYTES: u64 = 30 + NAME_BYTES as u64;
const ENTRY_BYTES: u64 = HEADER_BYTES + CONTENT_BYTES as u64;
/// Version 4.5 of the format, names in UTF-8, stored, a day of 2026.
const VERSION: u16 = 45;
const UTF8: u16 = 1 << 11;
const DATE: u16 = 46 << 9 | 1 << 5 | 1;
const SEE_64: u32 = u32::MAX;

/// One opening, and loads of some entries.
struct Trial {
    open_s: f64,
    open_requests: u64,
    peak_bytes: u64,
    /// The load that took most requests.
    load_requests: u64,
    /// The longest load.
    load_s: f64,
}

pub(super) fn run(args: &Args, entries: u64) -> anyhow::Result<Vec<Table>> {
    ensure!(entries > 0 && args.rounds > 0, "--entries, --rounds: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.folder)?;
    let bucket = folder.path().join(BUCKET);
    fs::create_dir(&bucket)?;
    let loaded = [0, entries / 2, entries - 1];
    make(&bucket.join(PACK), entries, &loaded).context("cannot make the pack")?;
    let storage = Storage::start(folder.path())?;
    storage.slow(args, args.delay_ms[0]);
    let trials: Vec<Trial> =
        (0..args.rounds).map(|_| trial(args, &storage, &loaded)).collect::<anyhow::Result<_>>()?;
    println!("Load {before:.2} before and {:.2} after.", load_average());
    Ok(vec![told(args, entries, &trials)])
}

fn trial(args: &Args, storage: &Storage, loaded: &[u64]) -> anyhow::Result<Trial> {
    forget_peak()?;
    let (began, served) = (Instant::now(), storage.served());
    let engine = Arc::new(Remote::new(automatic(), storage.access(), Settings::default())?);
    let builder = Store::builder().cache(args.cache << 20).shared_engine(engine);
    let store = builder.open(format!("s3://{BUCKET}/{PACK}"))?;
    let mut trial = Trial {
        open_s: began.elapsed().as_secs_f64(),
        open_requests: storage.served().requests - served.requests,
        peak_bytes: 0,
        load_requests: 0,
        load_s: 0.0,
    };
    for &number in loaded {
        let (began, served) = (Instant::now(), storage.served());
        let content = store.load(&name(number))?;
        ensure!(content.len() == CONTENT_BYTES as usize, "{} bytes came", content.len());
        trial.load_s = trial.load_s.max(began.elapsed().as_secs_f64());
        let requests = storage.served().requests - served.requests;
        trial.load_requests = trial.load_requests.max(requests);
    }
    trial.peak_bytes = peak_bytes()?;
    Ok(trial)
}

/// 16 characters.
fn name(number: u64) -> String {
    format!("d{:04}/{number:010}", number / 10_000)
}

/// Writes the pack; of the entries, only those in `loaded` have a header.
fn make(path: &Path, entries: u64, loaded: &[u64]) -> io::Result<()> {
    eprintln!("bench: makes a pack of {entries} entries");
    let crc = crc32fast::hash(&vec![0; CONTENT_BYTES as usize]);
    let file = File::create_new(path)?;
    for &number in loaded {
        let mut header = 0x0403_4b50_u32.to_le_bytes().to_vec();
        header.extend(fields(crc));
        header.extend([NAME_BYTES, 0].into_iter().flat_map(u16::to_le_bytes));
        header.extend(name(number).into_bytes());
        file.write_all_at(&header, number * ENTRY_BYTES)?;
    }
    let directory = entries * ENTRY_BYTES;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    out.seek(SeekFrom::Start(directory))?;
    for number in 0..entries {
        write_central(&mut out, number, crc)?;
    }
    let end = out.stream_position()?;
    write_end(&mut out, entries, directory..end)?;
    out.flush()
}

/// What both headers of an entry have, from the version to the sizes.
fn fields(crc: u32) -> Vec<u8> {
    let words = [VERSION, UTF8, 0, 0, DATE].into_iter().flat_map(u16::to_le_bytes);
    words
        .chain([crc, CONTENT_BYTES, CONTENT_BYTES].into_iter().flat_map(u32::to_le_bytes))
        .collect()
}

fn write_central(out: &mut impl Write, number: u64, crc: u32) -> io::Result<()> {
    let mut header = Vec::with_capacity(128);
    header.extend(0x0201_4b50_u32.to_le_bytes());
    header.extend((3 << 8 | VERSION).to_le_bytes());
    header.extend(fields(crc));
    // Name, extra field, comment, disk, and two kinds of attributes.
    header.extend([NAME_BYTES, 12, 0, 0, 0].into_iter().flat_map(u16::to_le_bytes));
    header.extend((0o100_644_u32 << 16).to_le_bytes());
    header.extend(SEE_64.to_le_bytes());
    header.extend(name(number).into_bytes());
    header.extend([1_u16, 8].into_iter().flat_map(u16::to_le_bytes));
    header.extend((number * ENTRY_BYTES).to_le_bytes());
    out.write_all(&header)
}

fn write_end(
    out: &mut impl Write,
    entries: u64,
    directory: std::ops::Range<u64>,
) -> io::Result<()> {
    let mut end = 0x0606_4b50_u32.to_le_bytes().to_vec();
    end.extend(44_u64.to_le_bytes());
    end.extend([VERSION, VERSION].into_iter().flat_map(u16::to_le_bytes));
    end.extend([0; 8]);
    let places = [entries, entries, directory.end - directory.start, directory.start];
    end.extend(places.into_iter().flat_map(u64::to_le_bytes));
    end.extend(0x0706_4b50_u32.to_le_bytes());
    end.extend([0; 4]);
    end.extend(directory.end.to_le_bytes());
    end.extend(1_u32.to_le_bytes());
    end.extend(0x0605_4b50_u32.to_le_bytes());
    end.extend([0, 0, u16::MAX, u16::MAX].into_iter().flat_map(u16::to_le_bytes));
    end.extend([SEE_64, SEE_64].into_iter().flat_map(u32::to_le_bytes));
    end.extend([0; 2]);
    out.write_all(&end)
}

/// From now on the peak of this process's memory is counted anew.
fn forget_peak() -> anyhow::Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("the peak of memory cannot be set back")
}

fn peak_bytes() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(kilobytes.context("no peak of memory")? << 10)
}

/// Prints the trials, and makes a table of them.
fn told(args: &Args, entries: u64, trials: &[Trial]) -> Table {
    let of = |value: fn(&Trial) -> f64| trials.iter().map(value).collect::<Vec<f64>>();
    let rows = [
        ("opening, s", of(|trial| trial.open_s)),
        ("requests of an opening", of(|trial| trial.open_requests as f64)),
        ("peak of memory, MB", of(|trial| trial.peak_bytes as f64 / 1e6)),
        ("the longest of three loads, s", of(|trial| trial.load_s)),
        ("requests of a load, at most", of(|trial| trial.load_requests as f64)),
    ];
    let under = format!(
        "A pack of {} and {} entries, {} ms ± {:.0}, {} a stream, a cache of {} MiB; server and \
         proxy run on the same machine, and the proxy's memory is counted.",
        format_bytes(entries * ENTRY_BYTES),
        format_count(entries),
        args.delay_ms[0],
        args.delay_ms[0] as f64 * args.spread,
        format_rate(args.stream),
        args.cache,
    );
    let title = "A pack of a terabyte in object storage";
    let mut table = Table::new("huge", title, "what", "", Better::Neither)
        .contenders([Contender::ours("Seekless")])
        .under(&under);
    for (what, rounds) in rows {
        println!("{what}: {rounds:.3?}");
        table.set(what, "Seekless", Figure::of_rounds(&rounds));
    }
    println!("{under}");
    table
}
