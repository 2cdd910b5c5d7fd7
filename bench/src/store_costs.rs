//! A store that does not know its device beside one that does, behind the kernel's own throttles,
//! and both beside what the simulator predicts. Five starts of 0 A.D. are loaded one after another
//! from a pack in an order that was made without the last of them, by one store, and again until
//! that takes long enough to judge. The kernel's throttle lies above a real disk, whose latency is
//! measured first and is part of the device that is simulated. Needs root.

use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::device::{Costs, CostsSource, DeviceSpec};
use seekless::engine::{EngineKind, build};
use seekless::io::Store;
use seekless::measure::{Budget, Dropping, Slowed, calibrate, make_cold};
use seekless::policy::eviction::Id;
use seekless::policy::planner::Memory;
use seekless::report::table;
use seekless::sim::store::{Archive, Settings, Work, on_demand};
use seekless::tools::{order, pack, predict, synth};
use seekless::trace::Loads;
use seekless_results::{Better, Contender, Figure, Table, data_folder};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];

/// The requests are compared from here on: until then the store finds out.
const FINDS_OUT: Duration = Duration::from_secs(1);

/// The starts are loaded so often at most.
const TIMES_MAX: usize = 100;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The limits of the device, each iops=N,bandwidth=RATE.
    #[arg(long, num_args = 1.., value_name = "SPEC", default_values = ["iops=120,bandwidth=150MB/s", "iops=500,bandwidth=150MB/s", "iops=3000,bandwidth=150MB/s"])]
    throttle: Vec<DeviceSpec>,
    /// The store's cache in MiB.
    #[arg(long, default_value_t = 16, value_name = "MIB")]
    cache: u64,
    /// Load only the last of the five starts.
    #[arg(long)]
    one: bool,
    /// Repeats the starts until a store that knows it should take this many seconds.
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    seconds: u64,
    /// Timed rounds.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Folder that holds 0ad/ (five runs).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder on the disk to slow, for the files and the pack [default: the current one].
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    load_average: [f64; 2],
    /// Loads of the starts, once.
    loads: u64,
    /// What decoding takes, measured from the page cache.
    mebibyte_ns: u64,
    /// What a small read of the disk takes without the throttle.
    drive_ns: u64,
    rows: Vec<Row>,
}

/// One store behind one throttle; medians of the rounds.
#[derive(Serialize)]
struct Row {
    device: String,
    told: bool,
    /// How often the starts were loaded.
    times: usize,
    requests: u64,
    bytes: u64,
    seconds: f64,
    predicted_requests: u64,
    predicted_seconds: f64,
    /// Requests for the loads after the first second, of what the knowing store needed for the same
    /// loads. The worst round.
    requests_of_told: Option<f64>,
    costs: String,
}

/// What one trial took, and when.
struct Trial {
    /// By load: nanoseconds and requests when it began; and at the end.
    course: Vec<(Duration, u64)>,
    bytes: u64,
    costs: Costs,
    source: CostsSource,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let load_before = load_average();
    let folder = tempfile::Builder::new().prefix(".store-costs-").tempdir_in(&args.folder)?;
    let (path, loads) = make_pack(args, folder.path())?;
    let (archive, store) = predict::archive(&path)?;
    let ids = ids(&loads, &store, args.one);
    drop(store);
    let machine = Machine { work: measure_work(&path, &ids, args)?, drive_ns: drive_ns(&path)? };
    let mut rows = Vec::new();
    for spec in &args.throttle {
        rows.extend(compare(&path, &archive, &ids, spec, machine, args)?);
    }
    let report = Report {
        load_average: [load_before, load_average()],
        loads: ids.len() as u64,
        mebibyte_ns: machine.work.mebibyte_ns,
        drive_ns: machine.drive_ns,
        rows,
    };
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => println!("{}", words(&report)),
    }
    Ok(tables(args, &report.rows))
}

/// Requests of a store that must find out its device's costs, and the predicted time of both.
fn tables(args: &Args, rows: &[Row]) -> Vec<Table> {
    let title = "A store that must find out its device's costs: requests, of one that knows them";
    let mut requests = Table::new("requests", title, "limit", "", Better::Lower)
        .contenders([Contender::ours("store")])
        .under("Control groups; from the second second on; the worst of the rounds.");
    let title = "The time that the simulator predicts for these runs, of the measured time";
    let names = ["knows its device", "finds it out"];
    let mut predicted = Table::new("predicted", title, "limit", "%", Better::Neither)
        .contenders(names.map(Contender::ours))
        .under("With the disk's own latency below the limits.");
    for row in rows {
        if let Some(of) = row.requests_of_told {
            requests.set(&row.device, "store", Figure::median(of, args.rounds as usize));
        }
        let percent = 100.0 * row.predicted_seconds / row.seconds;
        let name = names[usize::from(!row.told)];
        predicted.set(&row.device, name, Figure::median(percent, args.rounds as usize));
    }
    for spec in &args.throttle {
        if let DeviceSpec::Volume { iops, .. } = spec {
            requests.place(&spec.to_string(), *iops as f64);
        }
    }
    vec![requests, predicted]
}

/// What the machine takes beside the limits.
#[derive(Clone, Copy)]
struct Machine {
    work: Work,
    /// The latency of the disk below the throttle.
    drive_ns: u64,
}

fn drive_ns(path: &Path) -> anyhow::Result<u64> {
    let budget = Budget { time: Duration::from_secs(1), bytes: 256 << 20 };
    Ok(calibrate(&[path], budget, &mut |_, _| ())?.latency_ns)
}

/// Makes the files that the runs load, and packs them.
fn make_pack(args: &Args, folder: &Path) -> anyhow::Result<(PathBuf, Loads)> {
    let data = data_folder(args.data.as_deref()).join("0ad");
    let runs: Vec<PathBuf> = RUNS.iter().map(|run| data.join(format!("{run}.csv.gz"))).collect();
    let loads = Loads::read(&runs).context("no runs of 0 A.D.; name their folder with --data")?;
    let universe: Vec<(String, u64)> =
        loads.names.iter().cloned().zip(loads.bytes.iter().copied()).collect();
    let file = |(path, bytes): &(String, u64)| synth::File { path: path.clone(), bytes: *bytes };
    let files: Vec<synth::File> = universe.iter().map(file).collect();
    let tree = folder.join("files");
    synth::synth(&tree, &files, &synth::Options::default(), &mut |_, _| ())?;
    let order = order::order_names(&runs[..4], &universe, "greedy", None)?;
    let path = folder.join("data.zip");
    pack::pack(&tree, path.as_path(), &order, &pack::Options::default(), &mut |_, _| ())?;
    std::fs::remove_dir_all(&tree)?;
    Ok((path, loads))
}

fn ids(loads: &Loads, store: &Store, one: bool) -> Vec<Id> {
    let runs = if one { &loads.runs[4..] } else { &loads.runs[..] };
    let id = |file: u32| store.index().find(&loads.names[file as usize]);
    runs.iter().flatten().filter_map(|load| id(load.file)).collect()
}

/// What the program computes: all loads, from the page cache. The fastest of three.
fn measure_work(path: &Path, ids: &[Id], args: &Args) -> anyhow::Result<Work> {
    let mut least = u64::MAX;
    for _ in 0..=3 {
        let store = Store::builder().cache(args.cache << 20).direct(false).open(path)?;
        let started = Instant::now();
        for &id in ids {
            store.load(store.index().name(id))?;
        }
        let took = started.elapsed().as_nanos();
        let decoded: u64 = decoded_bytes(&store);
        least = least.min((took << 20).checked_div(decoded.into()).unwrap_or(0) as u64);
    }
    Ok(Work { load_ns: 0, mebibyte_ns: least })
}

/// Content that was decoded, not served from the cache: by share of the loads' bytes.
fn decoded_bytes(store: &Store) -> u64 {
    let statistics = store.statistics();
    let entries = store.index().entries();
    let (coded, bytes) =
        entries.fold((0u64, 0u64), |sum, entry| (sum.0 + entry.coded_bytes, sum.1 + entry.bytes));
    (u128::from(statistics.coded_bytes) * u128::from(bytes) / u128::from(coded.max(1))) as u64
}

fn compare(
    path: &Path,
    archive: &Archive,
    ids: &[Id],
    spec: &DeviceSpec,
    Machine { work, drive_ns }: Machine,
    args: &Args,
) -> anyhow::Result<Vec<Row>> {
    let &DeviceSpec::Volume { iops, bytes_per_second } = spec else {
        anyhow::bail!("{spec} is no limit: give iops=N,bandwidth=RATE");
    };
    let device: DeviceSpec = format!("{spec},latency={drive_ns}ns").parse()?;
    let times = times(archive, ids, spec, work, args)?;
    let ids = &ids.repeat(times);
    let slowed = Slowed::new(&[path], iops, bytes_per_second)?;
    let mut trials: [Vec<Trial>; 2] = Default::default();
    for _ in 0..args.rounds {
        for (told, trials) in [true, false].into_iter().zip(&mut trials) {
            trials.push(trial(path, ids, told.then(|| spec.costs()), &slowed, args)?);
        }
    }
    let [told, untold] = &trials;
    let ratios = untold.iter().zip(told).map(|(one, other)| one.requests_of(other));
    let worst = ratios.flatten().max_by(f64::total_cmp);
    let row = |trials: &[Trial], told: bool, requests_of_told| -> anyhow::Result<Row> {
        let settings = settings(args, spec, told, work);
        let predicted = on_demand(archive, ids, &settings, &mut device.model())?;
        let figure =
            |of: fn(&Trial) -> f64| median(&mut trials.iter().map(of).collect::<Vec<f64>>());
        let last = &trials[trials.len() - 1];
        Ok(Row {
            device: spec.to_string(),
            told,
            times,
            requests: figure(|trial| trial.end().1 as f64) as u64,
            bytes: figure(|trial| trial.bytes as f64) as u64,
            seconds: figure(|trial| trial.end().0.as_secs_f64()),
            predicted_requests: predicted.requests,
            predicted_seconds: predicted.time_ns as f64 / 1e9,
            requests_of_told,
            costs: costs_words(last),
        })
    };
    Ok(vec![row(told, true, None)?, row(untold, false, worst)?])
}

/// How often the loads must be repeated to take as long as they should.
fn times(
    archive: &Archive,
    ids: &[Id],
    spec: &DeviceSpec,
    work: Work,
    args: &Args,
) -> anyhow::Result<usize> {
    let settings = settings(args, spec, true, work);
    for times in 1..TIMES_MAX {
        let predicted = on_demand(archive, &ids.repeat(times), &settings, &mut spec.model())?;
        if predicted.time_ns >= args.seconds * 1_000_000_000 {
            return Ok(times);
        }
    }
    Ok(TIMES_MAX)
}

fn trial(
    path: &Path,
    ids: &[Id],
    costs: Option<Costs>,
    slowed: &Slowed,
    args: &Args,
) -> anyhow::Result<Trial> {
    make_cold([path], Dropping::Files)?;
    let load = || -> anyhow::Result<Trial> {
        let started = Instant::now();
        let mut builder = Store::builder().cache(args.cache << 20).look_up_costs(false);
        if let Some(costs) = costs {
            builder = builder.costs(costs);
        }
        let store = builder.shared_engine(build(EngineKind::Auto)?).open(path)?;
        let mut course = Vec::with_capacity(ids.len() + 1);
        for &id in ids {
            course.push((started.elapsed(), store.counters().requests));
            store.load(store.index().name(id))?;
        }
        course.push((started.elapsed(), store.counters().requests));
        let statistics = store.statistics();
        let bytes = store.counters().bytes;
        Ok(Trial { course, bytes, costs: statistics.costs, source: statistics.costs_source })
    };
    slowed.during(load)?.0
}

impl Trial {
    fn end(&self) -> (Duration, u64) {
        self.course.last().copied().unwrap_or_default()
    }

    /// Requests after the first second, of what `told` needed for the same loads.
    fn requests_of(&self, told: &Trial) -> Option<f64> {
        let from = self.course.partition_point(|&(at, _)| at < FINDS_OUT);
        let (own, other) = (self.course.get(from)?.1, told.course.get(from)?.1);
        let (own, other) = (self.end().1 - own, told.end().1 - other);
        (other > 0).then(|| own as f64 / other as f64)
    }
}

fn settings(args: &Args, spec: &DeviceSpec, told: bool, work: Work) -> Settings {
    let (costs, source) = match told {
        true => (spec.costs(), CostsSource::Given),
        false => (Costs::ASSUMED, CostsSource::Assumed),
    };
    let memory =
        Memory { cache_bytes: args.cache << 20, read_ahead_bytes: None, window_bytes: None };
    let (policy, together_bytes, prediction) = ("landlord".to_owned(), None, None);
    Settings { policy, memory, together_bytes, costs, source, work, prediction }
}

fn costs_words(trial: &Trial) -> String {
    let Costs { request_ns, bytes_per_second, .. } = trial.costs;
    format!(
        "{:?}: {}, {}/s",
        trial.source,
        format_duration(request_ns),
        format_bytes(bytes_per_second)
    )
}

fn words(report: &Report) -> String {
    let header = [
        "throttle",
        "store",
        "loaded",
        "requests",
        "of told",
        "bytes",
        "time",
        "predicted",
        "off",
        "costs at the end",
    ];
    let cells = |row: &Row| {
        let off = 100.0 * (row.predicted_seconds / row.seconds - 1.0);
        vec![
            row.device.clone(),
            if row.told { "told" } else { "not told" }.to_owned(),
            format!("{} times", row.times),
            format!("{} ({})", format_count(row.requests), format_count(row.predicted_requests)),
            row.requests_of_told.map_or_else(String::new, |share| format!("{share:.3}")),
            format_bytes(row.bytes),
            format!("{:.3} s", row.seconds),
            format!("{:.3} s", row.predicted_seconds),
            format!("{off:+.1} %"),
            row.costs.clone(),
        ]
    };
    format!(
        "{} loads one after another; in parentheses what is predicted\n\n{}\nDecoding takes {} a MiB, a read of the disk below the throttle {}. Load average {:.1} before, {:.1} after.",
        format_count(report.loads),
        table(&header, report.rows.iter().map(cells).collect()),
        format_duration(report.mebibyte_ns),
        format_duration(report.drive_ns),
        report.load_average[0],
        report.load_average[1]
    )
}
