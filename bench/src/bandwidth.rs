//! Loads where only bandwidth is limited. Nothing is faster than the slower of two things: moving
//! the coded bytes, and decoding them with all cores. A store does both at once.

use crate::clock::{process_seconds, timed};
use crate::folder::Folder;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::device::units::format_bytes;
use seekless::device::{Costs, DeviceSpec};
use seekless::io::Store;
use seekless::job::roots;
use seekless::measure::{Checksum, Dropping, Slowed, make_cold};
use seekless::pack::{Index, Pieces, decode};
use seekless::report::table;
use seekless::tools::{pack, synth};
use seekless_results::{Better, Contender, Figure, Table, data_folder};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// So many requests a second are no limit.
const NO_LIMIT: u64 = 1_000_000;

/// The decoder in pieces is given so much at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// The kind of the extra field that says where chunks lie, in the archive's order of bytes.
const CHUNKS: &[u8] = b"SK";

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The bandwidth.
    #[arg(long = "bandwidth", default_value_t = 400, value_name = "MB/S")]
    bandwidth_mb: u64,
    /// Bytes of the large file, in MiB.
    #[arg(long, default_value_t = 512, value_name = "MIB")]
    large: usize,
    /// The start whose files are made, as a trace [default: arcadia of ../shared/data].
    #[arg(long, value_name = "TRACE")]
    start: Option<PathBuf>,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Folder on the disk to slow; some 3 GB are written there [default: the current one].
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// What is loaded.
struct Case {
    what: &'static str,
    pack: PathBuf,
    names: Vec<String>,
    /// Bytes of the archive that hold the names.
    coded: u64,
    bytes: u64,
}

/// Seconds of each round.
#[derive(Default)]
struct Seconds {
    decode: Vec<Took>,
    pieces: Vec<f64>,
    on_demand: Vec<Took>,
    listed: Vec<Took>,
}

/// Seconds that passed, and that processors worked.
#[derive(Clone, Copy)]
struct Took {
    passed: f64,
    worked: f64,
}

impl Took {
    fn of<T>(act: impl FnOnce() -> T) -> (T, Self) {
        let (started, before) = (Instant::now(), process_seconds());
        let done = act();
        (done, Self { passed: started.elapsed().as_secs_f64(), worked: process_seconds() - before })
    }

    /// The medians of both.
    fn medians(all: &[Self]) -> Self {
        let mut passed: Vec<f64> = all.iter().map(|took| took.passed).collect();
        let mut worked: Vec<f64> = all.iter().map(|took| took.worked).collect();
        Self { passed: median(&mut passed), worked: median(&mut worked) }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let bandwidth = args.bandwidth_mb * 1_000_000;
    let folder = Folder::in_(&args.folder)?;
    let cases =
        [large(args, folder.path())?, one_stream(folder.path())?, start(args, folder.path())?];
    let mut rows = Vec::new();
    let title =
        "Loads where only bandwidth is limited: time, of the longer of reading and decoding";
    let mut saved = Table::new("of-bound", title, "what is loaded", "", Better::Lower)
        .contenders(["on demand", "list known"].map(Contender::ours))
        .under(&format!(
            "Control group of {} MB/s without a limit on requests.",
            args.bandwidth_mb
        ));
    for case in &cases {
        let slowed = Slowed::new(&[&case.pack], NO_LIMIT, bandwidth)?;
        let mut seconds = Seconds::default();
        for round in 0..=args.rounds {
            let mut sums = [(); 3].map(|()| (round == 0).then(Checksum::default));
            let [first, second, third] = &mut sums;
            let decoding = decoded(case, first)?;
            let on_demand = loaded(case, bandwidth, &slowed, on_demand, second)?;
            let listed = loaded(case, bandwidth, &slowed, listed, third)?;
            let values = sums.map(|sum| sum.map(|sum| sum.value()));
            ensure!(values.iter().all(|sum| *sum == values[0]), "{}: other bytes", case.what);
            if round > 0 {
                seconds.decode.push(decoding);
                seconds.pieces.push(decoded_in_pieces(case)?);
                seconds.on_demand.push(on_demand);
                seconds.listed.push(listed);
            }
        }
        let bound = bound(case, bandwidth, &seconds);
        for (way, all) in [("on demand", &seconds.on_demand), ("list known", &seconds.listed)] {
            let shares: Vec<f64> = all.iter().map(|took| took.passed / bound).collect();
            saved.set(case.what, way, Figure::of_rounds(&shares));
        }
        rows.push(row(case, bandwidth, &mut seconds));
    }
    let header = [
        "load",
        "coded",
        "read",
        "decode",
        "worked",
        "in pieces",
        "on demand",
        "times",
        "worked",
        "list known",
        "times",
    ];
    println!(
        "{}\nAt {} MB/s, from cold; medians of {} rounds, after one discarded. `times` is of the \
         longer of reading\nand decoding with libdeflate, in memory, on all cores where there are \
         several files; `in pieces` is the\ndecoder that a store uses for one stream, such as that of an archive that another tool made; \
         `worked`:\nprocessor seconds of all threads. Load average {before} before and {} after.",
        table(&header, rows),
        args.bandwidth_mb,
        args.rounds,
        load_average()
    );
    Ok(vec![saved])
}

/// The longer of reading the coded bytes and decoding them.
fn bound(case: &Case, bandwidth: u64, seconds: &Seconds) -> f64 {
    let read = case.coded as f64 / bandwidth as f64;
    read.max(Took::medians(&seconds.decode).passed)
}

/// One file of text in an archive of its own.
fn large(args: &Args, folder: &Path) -> anyhow::Result<Case> {
    let loose = folder.join("large");
    fs::create_dir(&loose)?;
    fs::write(loose.join("large.xml"), synth::Content::of("large.xml").bytes(args.large << 20))?;
    let pack = folder.join("large.zip");
    pack::pack(&loose, pack.as_path(), &[], &pack::Options::default(), &mut |_, _| ())?;
    Case::new("one file", pack, vec!["large.xml".to_owned()])
}

/// The same archive without what says where its chunks lie, as other tools make them: it is decoded
/// as one stream.
fn one_stream(folder: &Path) -> anyhow::Result<Case> {
    let pack = folder.join("stream.zip");
    let mut archive = fs::read(folder.join("large.zip"))?;
    let index = Index::open(&archive[..], archive.len() as u64)?;
    ensure!(index.chunks(0).is_some(), "the large file is too small to have chunks");
    let directory = &mut archive[index.data_bytes() as usize..];
    let field = directory.windows(2).position(|two| two == CHUNKS);
    directory[field.context("no table of chunks")?] ^= 0x20;
    fs::write(&pack, &archive)?;
    Case::new("one stream", pack, vec!["large.xml".to_owned()])
}

/// The files of a start, in the order of their loads.
fn start(args: &Args, folder: &Path) -> anyhow::Result<Case> {
    let beside = || data_folder(None).join("0ad/arcadia.csv.gz");
    let trace = args.start.clone().unwrap_or_else(beside);
    let files = synth::files_of(&trace, &roots::Roots::default())?;
    let names: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let (loose, pack) = (folder.join("start"), folder.join("start.zip"));
    synth::synth(&loose, &files, &synth::Options::default(), &mut |_, _| ())?;
    let how = pack::OrderBy::by("recent");
    let options = pack::Options::default();
    let runs = [trace];
    pack::pack_for_runs(&loose, pack.as_path(), &runs, &how, &options, &mut |_, _| ())?;
    Case::new("a start", pack, names)
}

impl Case {
    fn new(what: &'static str, pack: PathBuf, names: Vec<String>) -> anyhow::Result<Self> {
        let store = Store::builder().predict(false).open(&pack)?;
        let (mut coded, mut bytes) = (0, 0);
        for name in &names {
            let number = store.index().find(name).with_context(|| format!("no {name}"))?;
            let entry = store.index().entry(number);
            coded += entry.extent_bytes;
            bytes += entry.bytes;
        }
        drop(store);
        Ok(Self { what, pack, names, coded, bytes })
    }
}

/// What was delivered, in the round that is discarded; in the others nothing is summed up.
type Sum = Option<Checksum>;

/// The seconds that it takes to decode all of it in memory, on all cores.
fn decoded(case: &Case, sum: &mut Sum) -> anyhow::Result<Took> {
    let archive = fs::read(&case.pack)?;
    let index = Index::open(&archive[..], archive.len() as u64)?;
    let threads = std::thread::available_parallelism()?.get().min(case.names.len());
    let (next, is_summed) = (AtomicUsize::new(0), sum.is_some());
    let one = || -> anyhow::Result<(Took, Checksum)> {
        let (mut sum, mut out) = (Checksum::default(), Vec::new());
        let mut took = Took { passed: 0.0, worked: 0.0 };
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = case.names.get(place) else { return Ok((took, sum)) };
            let number = index.find(name).with_context(|| format!("no {name}"))?;
            let entry = index.entry(number);
            let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
            let started = Instant::now();
            let (decoded, worked) = timed(|| decode(&entry, name, extent, &mut out));
            took.passed += started.elapsed().as_secs_f64();
            took.worked += worked;
            decoded?;
            if is_summed {
                sum.add(place as u64, &out);
            }
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let mut seconds = Took { passed: 0.0, worked: 0.0 };
        for thread in running {
            let (took, part) = thread.join().expect("a decoder does not panic")?;
            seconds.passed += took.passed / threads as f64;
            seconds.worked += took.worked;
            sum.iter_mut().for_each(|sum| sum.merge(part));
        }
        Ok(seconds)
    })
}

/// The seconds that the largest file takes with the decoder that takes it in pieces.
fn decoded_in_pieces(case: &Case) -> anyhow::Result<f64> {
    let archive = fs::read(&case.pack)?;
    let index = Index::open(&archive[..], archive.len() as u64)?;
    let largest = (0..index.len() as u32).max_by_key(|&number| index.bytes(number));
    let number = largest.context("an empty archive")?;
    let (entry, name) = (index.entry(number), index.name(number));
    let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
    let mut out = vec![0; entry.bytes as usize];
    let mut pieces = Pieces::new(&entry, name)?;
    let started = Instant::now();
    for piece in extent.chunks(BLOCK_BYTES) {
        pieces.add(&entry, name, piece, &mut out)?;
    }
    pieces.finish(&entry, name)?;
    Ok(started.elapsed().as_secs_f64())
}

type Load = fn(&Store, &[String], &mut Sum) -> anyhow::Result<()>;

/// The seconds of a load from cold, behind the throttle; the store is open before.
fn loaded(
    case: &Case,
    bandwidth: u64,
    slowed: &Slowed,
    load: Load,
    sum: &mut Sum,
) -> anyhow::Result<Took> {
    make_cold([&case.pack], Dropping::Machine)?;
    let spec = DeviceSpec::Volume { iops: NO_LIMIT, bytes_per_second: bandwidth };
    let costs = Costs { depth: 8, ..spec.costs() };
    let (done, _) = slowed.during(|| {
        let store = Store::builder().cache(256u64 << 20).costs(costs).open(&case.pack)?;
        let (loaded, took) = Took::of(|| load(&store, &case.names, sum));
        loaded.map(|()| took)
    })?;
    done
}

fn on_demand(store: &Store, names: &[String], sum: &mut Sum) -> anyhow::Result<()> {
    for (place, name) in (0..).zip(names) {
        let content = store.load(name)?;
        sum.iter_mut().for_each(|sum| sum.add(place, &content));
    }
    Ok(())
}

fn listed(store: &Store, names: &[String], sum: &mut Sum) -> anyhow::Result<()> {
    for (place, content) in store.load_many(names.iter().map(String::as_str)) {
        let content = content?;
        sum.iter_mut().for_each(|sum| sum.add(place as u64, &content));
    }
    Ok(())
}

fn row(case: &Case, bandwidth: u64, seconds: &mut Seconds) -> Vec<String> {
    let read = case.coded as f64 / bandwidth as f64;
    let decode = Took::medians(&seconds.decode);
    let least = bound(case, bandwidth, seconds);
    let mut row = vec![
        format!("{}, {}", case.what, format_bytes(case.bytes)),
        format_bytes(case.coded),
        format!("{read:.3} s"),
        format!("{:.3} s", decode.passed),
        format!("{:.3} s", decode.worked),
        match case.names.len() {
            1 => format!("{:.3} s", median(&mut seconds.pieces)),
            _ => String::new(),
        },
    ];
    let times = |took: f64| [format!("{took:.3} s"), format!("{:.2}", took / least)];
    let on_demand = Took::medians(&seconds.on_demand);
    row.extend(times(on_demand.passed));
    row.push(format!("{:.3} s", on_demand.worked));
    row.extend(times(Took::medians(&seconds.listed).passed));
    row
}
