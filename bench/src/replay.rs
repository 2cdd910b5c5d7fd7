//! The player of `seekless replay` beside fio with the same engine (io_uring, O_DIRECT, registered
//! files and buffers): I/Os a second and processor time for an I/O, and how well a timed trace
//! keeps its times. Both take turns on one file.

mod fio;
mod interval;

use crate::folder::Folder;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use fio::Fio;
use interval::Interval;
use seekless::device::SplitMix64;
use seekless::device::units::{format_count, format_duration};
use seekless::measure::replay::{
    Io, Live, Pace, Percentiles, Plan, Repeat, Rounds, Target, create_file,
};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Timed rounds, after one that is discarded.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// The size of the file in MiB.
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    size: u64,
    /// I/Os of the timed trace, which are spread over the seconds; 0 leaves it out.
    #[arg(long, default_value_t = 100_000)]
    timed: u64,
    /// Seconds of the timed trace.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Divides the I/Os of the other jobs, to be faster and less exact.
    #[arg(long, default_value_t = 1, value_name = "N")]
    quick: u64,
    /// A folder on the disk to measure, for the file, which is removed at the end.
    #[arg(long, visible_alias = "dir", value_name = "DIR", default_value = "/var/tmp")]
    folder: PathBuf,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

/// What both do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    name: &'static str,
    random: bool,
    bytes: u64,
    depth: u32,
    ios: u64,
}

const JOBS: [Job; 4] = [
    Job { name: "random 4 KiB, depth 1", random: true, bytes: 4 << 10, depth: 1, ios: 10_000 },
    Job { name: "random 4 KiB, depth 4", random: true, bytes: 4 << 10, depth: 4, ios: 30_000 },
    Job { name: "random 4 KiB, depth 32", random: true, bytes: 4 << 10, depth: 32, ios: 60_000 },
    Job { name: "sequential 1 MiB, depth 4", random: false, bytes: 1 << 20, depth: 4, ios: 1000 },
];

/// One run of one of the two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    iops: f64,
    cpu_ns_per_io: f64,
}

#[derive(Serialize)]
struct Row {
    job: &'static str,
    iops: f64,
    fio_iops: f64,
    /// Ours over fio's, round by round.
    iops_ratio: Interval,
    cpu_ns_per_io: f64,
    fio_cpu_ns_per_io: f64,
    cpu_ratio: Interval,
}

/// A timed trace.
#[derive(Serialize)]
struct TimedRow {
    ios: u64,
    trace_seconds: f64,
    seconds: f64,
    lag: Option<Percentiles>,
    fio_seconds: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    load_average: [f64; 2],
    rounds: usize,
    fio: Option<String>,
    rows: Vec<Row>,
    timed: Option<TimedRow>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 1, "--rounds: at least 2");
    ensure!(args.size >= 16 && args.quick > 0, "--size: at least 16; --quick: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.folder)?;
    let file = folder.path().join("data");
    eprintln!("bench: making a file of {} MiB", args.size);
    create_file(&file, args.size << 20, &mut |_, _| true)?;
    let fio = Fio::find();
    match &fio {
        Some(fio) => eprintln!("bench: the rival is {}", fio.version),
        None => eprintln!("bench: no fio: only our figures (Debian has a package fio)"),
    }
    let mut rows = Vec::new();
    for job in JOBS.map(|job| Job { ios: (job.ios / args.quick).max(100), ..job }) {
        eprintln!("bench: {}", job.name);
        rows.push(alternate(&job, &file, fio.as_ref(), args)?);
    }
    let timed = match args.timed {
        0 => None,
        _ => Some(timed(&file, folder.path(), fio.as_ref(), args)?),
    };
    let report = Report {
        load_average: [before, load_average()],
        rounds: args.rounds,
        fio: fio.map(|fio| fio.version),
        rows,
        timed,
    };
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => println!("{}", words(&report)),
    }
    Ok(tables(args, &report))
}

/// I/Os a second and processor time of both, and the timed trace.
fn tables(args: &Args, report: &Report) -> Vec<Table> {
    let under = format!(
        "A file of {} MiB past the page cache, the same engine, in turn. {}.",
        args.size,
        report.fio.as_deref().unwrap_or("No fio")
    );
    let table = |id, title, cases, unit, better| {
        Table::new(id, title, cases, unit, better)
            .contenders([Contender::ours("seekless replay")])
            .under(&under)
    };
    let mut iops = table("iops", "I/Os a second of `replay`, of fio's", "I/Os", "", Better::Higher);
    let mut cpu =
        table("cpu", "The same: processor time of an I/O, of fio's", "I/Os", "", Better::Lower);
    let mut rates = table("rates", "The same in figures", "I/Os", "I/Os/s", Better::Higher);
    for row in &report.rows {
        rates.set(row.job, "seekless replay", Figure::median(row.iops, args.rounds));
        rates.set(row.job, "fio", Figure::median(row.fio_iops, args.rounds));
        iops.set(row.job, "seekless replay", row.iops_ratio.figure(args.rounds));
        cpu.set(row.job, "seekless replay", row.cpu_ratio.figure(args.rounds));
    }
    let mut length =
        table("timed", "A timed trace: its length when played", "trace", "s", Better::Neither);
    let mut lag =
        table("lag", "The same: how late an I/O is issued", "share of I/Os", "µs", Better::Lower);
    if let Some(timed) = &report.timed {
        let case = format!("{} s", timed.trace_seconds);
        length.set(&case, "seekless replay", Figure::exact(timed.seconds));
        timed.fio_seconds.iter().for_each(|&fio| length.set(&case, "fio", Figure::exact(fio)));
        if let Some(of) = &timed.lag {
            for (share, ns) in [
                ("half at most", of.p50_ns),
                ("99 % at most", of.p99_ns),
                ("the latest", of.max_ns),
            ] {
                lag.set(share, "seekless replay", Figure::exact(ns as f64 / 1e3));
            }
        }
    }
    vec![iops, rates, cpu, length, lag]
}

/// Rounds of both in turn; every second round the other one goes first.
fn alternate(job: &Job, file: &Path, fio: Option<&Fio>, args: &Args) -> anyhow::Result<Row> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut seed = SplitMix64::new(job.ios);
    for round in 0..=args.rounds {
        let mut own = || ours_once(job, file, &mut seed);
        let other = || fio.map(|fio| fio.run(job, file, round)).transpose();
        let (one, two) = match round % 2 {
            0 => {
                let one = own()?;
                (one, other()?)
            }
            _ => {
                let two = other()?;
                (own()?, two)
            }
        };
        if round > 0 {
            ours.push(one);
            theirs.extend(two);
        }
    }
    let of = |runs: &[Run], figure: fn(&Run) -> f64| runs.iter().map(figure).collect::<Vec<f64>>();
    let middle = |runs: &[Run], figure: fn(&Run) -> f64| median(&mut of(runs, figure));
    let ratio = |figure: fn(&Run) -> f64| {
        let pairs = of(&ours, figure).into_iter().zip(of(&theirs, figure));
        Interval::of_ratios(&pairs.map(|(one, two)| one / two).collect::<Vec<_>>())
    };
    Ok(Row {
        job: job.name,
        iops: middle(&ours, |run| run.iops),
        fio_iops: middle(&theirs, |run| run.iops),
        iops_ratio: ratio(|run| run.iops),
        cpu_ns_per_io: middle(&ours, |run| run.cpu_ns_per_io),
        fio_cpu_ns_per_io: middle(&theirs, |run| run.cpu_ns_per_io),
        cpu_ratio: ratio(|run| run.cpu_ns_per_io),
    })
}

/// One round of the player, on I/Os made anew.
fn ours_once(job: &Job, file: &Path, seed: &mut SplitMix64) -> anyhow::Result<Run> {
    let target = Target::read_only(&[file])?;
    ensure!(target.is_direct(), "{}: no direct I/O here: name a folder on a disk", file.display());
    let places = target.file_bytes()[0] / job.bytes;
    let place = |number: u64, seed: &mut SplitMix64| match job.random {
        true => seed.below(places),
        false => number % places,
    };
    let ios: Vec<Io> = (0..job.ios)
        .map(|number| Io {
            time_ns: 0,
            offset: place(number, seed) * job.bytes,
            bytes: job.bytes,
            file: 0,
            thread: 0,
            write: false,
        })
        .collect();
    let mut stage = Live::new(&target, job.depth, job.bytes, Vec::new(), false)?;
    let rounds = played(&ios, Pace::Depth, &target, &mut stage)?;
    let cpu_ns_per_io = rounds.cpu_ns_per_io.context("a real target")?;
    Ok(Run { iops: rounds.iops, cpu_ns_per_io })
}

fn played(ios: &[Io], pace: Pace, target: &Target, stage: &mut Live) -> anyhow::Result<Rounds> {
    let plan = Plan { pace, ..Plan::default() };
    Ok(Rounds::live(ios, &plan, Repeat::Times(1), target, stage, &mut |_, _| true)?)
}

/// A trace of random reads at random times.
fn timed(file: &Path, folder: &Path, fio: Option<&Fio>, args: &Args) -> anyhow::Result<TimedRow> {
    eprintln!("bench: a timed trace of {} s", args.seconds);
    let target = Target::read_only(&[file])?;
    let pages = target.file_bytes()[0] / 4096;
    let (mut seed, span_ns) = (SplitMix64::new(args.timed), args.seconds * 1_000_000_000);
    let mut times: Vec<u64> = (0..args.timed).map(|_| seed.below(span_ns)).collect();
    times.sort_unstable();
    // From its first microsecond to its last, so that its length is known.
    if let [first, .., last] = &mut times[..] {
        (*first, *last) = (0, span_ns);
    }
    let mut io = |time_ns| {
        let offset = seed.below(pages) * 4096;
        Io { time_ns, offset, bytes: 4096, file: 0, thread: 0, write: false }
    };
    let ios: Vec<Io> = times.into_iter().map(&mut io).collect();
    let mut stage = Live::new(&target, 1024, 4096, Vec::new(), false)?;
    let rounds = played(&ios, Pace::Timed { speed: 1.0 }, &target, &mut stage)?;
    let fio_seconds = fio.map(|fio| fio.timed(&ios, file, folder)).transpose()?;
    Ok(TimedRow {
        ios: args.timed,
        trace_seconds: args.seconds as f64,
        seconds: rounds.time.median_ns as f64 / 1e9,
        lag: rounds.lag,
        fio_seconds,
    })
}

fn words(report: &Report) -> String {
    let row = |row: &Row| {
        let cpu = |ns: f64| format_duration(ns.round() as u64);
        vec![
            row.job.to_owned(),
            format_count(row.iops.round() as u64),
            format_count(row.fio_iops.round() as u64),
            row.iops_ratio.words(),
            cpu(row.cpu_ns_per_io),
            cpu(row.fio_cpu_ns_per_io),
            row.cpu_ratio.words(),
        ]
    };
    let header = ["job", "IOPS", "fio", "ratio (90 %)", "CPU for an I/O", "fio", "ratio (90 %)"];
    let mut text = table(&header, report.rows.iter().map(row).collect());
    if let Some(timed) = &report.timed {
        let off = |seconds: f64| 100.0 * (seconds / timed.trace_seconds - 1.0);
        text += &format!(
            "\nA timed trace of {} I/Os in {} s took {:.3} s ({:+.2} %)",
            format_count(timed.ios),
            timed.trace_seconds,
            timed.seconds,
            off(timed.seconds)
        );
        if let Some(lag) = &timed.lag {
            let [p50, p99, most] = [lag.p50_ns, lag.p99_ns, lag.max_ns].map(format_duration);
            text += &format!("; issue lag p50 {p50}, p99 {p99}, at most {most}");
        }
        if let Some(seconds) = timed.fio_seconds {
            text += &format!("; fio's replay {seconds:.3} s ({:+.2} %)", off(seconds));
        }
        text.push_str(".\n");
    }
    let [before, after] = report.load_average;
    text + &format!(
        "\nMedians of {} rounds; the ratio is ours over fio's, round by round, with its 90 % \
         interval. Load average {before:.1} before, {after:.1} after.",
        report.rounds
    )
}
