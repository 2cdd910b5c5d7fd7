//! A large file that lies in the page cache, read through a mounted pack and from the file system
//! that the pack lies on, in turn: with `read`, through a new mapping, and by a touch of each page
//! of a new mapping, which is what the kernel needs to map it. What differs is the size of the
//! pieces in which the kernel caches the file. So the mount's file is measured asked for by the
//! program, and brought in before.

use crate::folder::Folder;
use crate::rounds::{load_average, median};
use anyhow::{Context, bail, ensure};
use seekless::io::{PredictionModel, Store};
use seekless::mount::{Options, mount};
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::report::table;
use seekless::sys::guarded::GuardedMap;
use seekless::sys::residency::{drop_cached, resident_bytes};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Read at once.
const BUFFER_BYTES: usize = 128 << 10;
const PAGE_BYTES: usize = 4096;
/// A mount takes files up to this length whole.
const FILE_BYTES: usize = 32 << 20;
/// How long what is expected may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 25)]
    rounds: usize,
    /// A folder for the files, removed at the end
    #[arg(long, visible_alias = "dir", value_name = "DIR", default_value = "/var/tmp")]
    folder: PathBuf,
    /// Prints figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    file: &'static str,
    /// Median seconds by way, and the plain file's by these.
    seconds: [f64; 3],
    ratios: [f64; 3],
}

/// A way to read a file.
type Way = fn(&Path) -> anyhow::Result<f64>;

const WAYS: [Way; 3] = [read_whole, map_whole, touch];
const HEADER: [&str; 7] =
    ["file of 32 MiB", "read", "speed", "mapped", "speed", "touched", "speed"];

/// A file to read, and its name in the table.
struct Place {
    name: &'static str,
    path: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.folder)?;
    let content = content();
    let places = |name: &str| folder.path().join(name);
    let plain = places("plain");
    write_plain(&plain, &content)?;
    write_pack(&places("data.zip"), &content)?;
    for name in ["asked", "ahead"] {
        std::fs::create_dir(places(name))?;
    }
    let store = |model| Store::builder().prediction(model).open(places("data.zip"));
    let expected = PredictionModel::train(1, &[vec![0]]);
    let _asked = mount(store(PredictionModel::default())?, &places("asked"), Options::default())?;
    let _ahead = mount(store(expected)?, &places("ahead"), Options::default())?;
    let places = [
        Place { name: "plain", path: plain },
        Place { name: "mounted, asked for", path: places("asked/file") },
        Place { name: "mounted, brought in ahead", path: places("ahead/file") },
    ];
    await_cached(&places[2].path)?;
    let rows = measure(&places, &content, args.rounds)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(vec![shares(args, &rows)]);
    }
    let cells = rows.iter().map(|row| {
        let of_way = row.seconds.iter().zip(row.ratios);
        let figures = of_way.flat_map(|(seconds, ratio)| {
            [format!("{:.2} ms", seconds * 1e3), format!("{ratio:.2}")]
        });
        [row.file.to_owned()].into_iter().chain(figures).collect()
    });
    println!("{}", table(&HEADER, cells.collect()));
    println!(
        "\nAll cached, in turn; medians of {} rounds after one discarded; speed by that of the plain \
         file, which lies below {} and was read into the cache as the others were. Load average {before} before and {} after.",
        args.rounds,
        args.folder.display(),
        load_average()
    );
    Ok(vec![shares(args, &rows)])
}

/// The speed of a mount's file by that of the plain one.
fn shares(args: &Args, rows: &[Row]) -> Table {
    let title = "Reading a cached file from a mount: speed, of the plain file's";
    let mut table = Table::new("share", title, "how", "", Better::Higher)
        .contenders(rows.iter().skip(1).map(|row| Contender::ours(row.file)))
        .under("A file of 32 MiB.");
    for row in rows.iter().skip(1) {
        for (way, ratio) in
            ["read", "mapped and read", "mapped, each page touched"].iter().zip(row.ratios)
        {
            table.set(way, row.file, Figure::median(ratio, args.rounds));
        }
    }
    table
}

fn content() -> Vec<u8> {
    (0..FILE_BYTES as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 27) as u8).collect()
}

/// Written pages stay in the cache in other sizes than those that are read, and files that matter
/// for a start were read.
fn write_plain(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()?;
    drop_cached(file.as_fd())?;
    let left = resident_bytes(file.as_fd())?.unwrap_or(0);
    ensure!(left == 0, "{}: {left} bytes stay cached", path.display());
    Ok(())
}

fn write_pack(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let mut pack = PackWriter::new(BufWriter::new(File::create(path)?));
    pack.add(prepare(About::named("file"), content.to_vec(), Codec::Auto)?)?;
    pack.finish()?.0.into_inner().context("the pack cannot be written")?.sync_all()?;
    Ok(())
}

/// Waits until all of a file lies in the page cache.
fn await_cached(path: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let file = File::open(path)?;
    while started.elapsed() < PATIENCE {
        // That nothing of a file over FUSE is cached the kernel never says for certain.
        if resident_bytes(file.as_fd())?.unwrap_or(0) >= FILE_BYTES as u64 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    bail!("{} is not in the page cache, or the kernel does not tell", path.display())
}

fn measure(places: &[Place; 3], content: &[u8], rounds: usize) -> anyhow::Result<Vec<Row>> {
    for Place { path, .. } in places {
        ensure!(std::fs::read(path)? == content, "{}: other content", path.display());
    }
    let mut seconds: [[Vec<f64>; 3]; 3] = Default::default();
    for round in 0..=rounds {
        for (place, of_place) in places.iter().zip(&mut seconds) {
            for (way, of_way) in WAYS.iter().zip(of_place) {
                let took = way(&place.path)?;
                if round > 0 {
                    of_way.push(took);
                }
            }
            await_cached(&place.path)?;
        }
    }
    let medians = seconds.map(|of_place| of_place.map(|mut of_way| median(&mut of_way)));
    let row = |(place, seconds): (&Place, [f64; 3])| Row {
        file: place.name,
        seconds,
        ratios: std::array::from_fn(|way| medians[0][way] / seconds[way]),
    };
    Ok(places.iter().zip(medians).map(row).collect())
}

/// Seconds of reading all.
fn read_whole(path: &Path) -> anyhow::Result<f64> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let (started, mut file, mut all) = (Instant::now(), File::open(path)?, 0);
    loop {
        let bytes = file.read(&mut buffer)?;
        if bytes == 0 {
            break;
        }
        all += bytes;
    }
    let seconds = started.elapsed().as_secs_f64();
    ensure!(all == FILE_BYTES, "{}: {all} bytes", path.display());
    Ok(seconds)
}

/// Seconds of mapping it and reading all.
fn map_whole(path: &Path) -> anyhow::Result<f64> {
    mapped(path, |bytes| {
        let words = bytes.as_chunks().0.iter();
        words.fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
    })
}

/// Seconds of mapping it and touching each page.
fn touch(path: &Path) -> anyhow::Result<f64> {
    mapped(path, |bytes| bytes.iter().step_by(PAGE_BYTES).map(|&byte| u64::from(byte)).sum())
}

fn mapped(path: &Path, read: impl FnOnce(&[u8]) -> u64) -> anyhow::Result<f64> {
    let (file, started) = (File::open(path)?, Instant::now());
    let map = GuardedMap::new(&file, 0, FILE_BYTES).context("it cannot be mapped")?;
    std::hint::black_box(read(map.bytes()));
    drop(map);
    Ok(started.elapsed().as_secs_f64())
}
