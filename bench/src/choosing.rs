//! `auto`, the policy that chooses by itself, beside each of the four that it chooses from and four
//! others: what it loses against the best of them, which is not known beforehand, and what the
//! choice costs.

use crate::clock::timed;
use anyhow::{Context, ensure};
use seekless::policy::eviction::bytes_per_id;
use seekless::report::table;
use seekless::sim::{Capacities, Case, Reading, Requests, simulate, simulate_all};
use seekless_results::{Better, Contender, Figure, Table, data_folder};
use std::path::{Path, PathBuf};

/// Those that `auto` chooses from, then others.
const RIVALS: [&str; 8] =
    ["gdsf", "arc", "clock-pro", "w-tinylfu@fixed", "s3-fifo", "lru", "lirs", "w-tinylfu"];
/// How many of them it chooses from.
const CANDIDATES: usize = 4;
/// Sizes of the cache, as shares of the working set.
const SHARES: [&str; 3] = ["1%", "10%", "40%"];
/// Whose hits are shown.
const HITS: [&str; 4] = ["auto", "best candidate", "worst candidate", "best of eight"];
/// Where hits and times are shown.
const SHOWN: usize = 1;
/// The starts of 0 A.D., in the order of their names.
const STARTS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];
/// Traces that are made on the fly. Several descriptions come one after another.
const MADE: [(&str, &str); 8] = [
    ("Zipf(0.7)", "zipf:objects=100K,alpha=0.7,requests=2M"),
    ("Zipf(1.0)", "zipf:objects=100K,alpha=1.0,requests=2M"),
    ("a loop", "loop:objects=50K,requests=2M"),
    ("a hot set and scans", "scan:objects=20K,alpha=0.8,every=50K,length=25K,requests=2M"),
    ("popularity that shifts", "shift:objects=50K,alpha=0.9,every=100K,by=10K,requests=2M"),
    (
        "popular objects and a loop",
        "zipf:objects=50K,alpha=0.9,requests=1M+loop:objects=20K,requests=1M",
    ),
    (
        "shifts and scans",
        "shift:objects=50K,alpha=1,every=200K,by=25K,requests=1M+scan:objects=10K,every=20K,length=20K,requests=1M",
    ),
    ("a loop and popular objects in turns", ""),
];
/// The phases of the last, which begins anew ten times.
const TURNS: [&str; 2] =
    ["loop:objects=30K,requests=100K", "zipf:objects=60K,alpha=1,requests=100K,seed="];

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Folder that holds cloudphysics/, ozen-2018/, 0ad/ and mccarthy-2015/
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Use no more than this many requests of each trace
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// What was found on one trace.
struct Found {
    name: &'static str,
    requests: usize,
    /// Of `auto`, the best and the worst candidate, and the best of all, at each size: hits in
    /// percent.
    hits: Vec<[f64; 4]>,
    /// The best at the size that is shown.
    best: &'static str,
    /// Processor time of `auto`, as a multiple of that of the best policy.
    times: Vec<f64>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let data = data_folder(args.data.as_deref());
    let mut all = Vec::new();
    for (name, traces) in traces(&data) {
        if let Some(missing) = traces.iter().find(|path| is_missing(path)) {
            println!("skipped: {name}, there is no {}", missing.display());
            continue;
        }
        let mut reading = Reading::default();
        reading.import.select.limit = args.limit;
        let requests = reading.read(&traces, &mut |_, _| {}).context(name)?;
        all.push(judge(name, &requests, args.rounds)?);
    }
    let tables = vec![regret(&all), behind(&all), hits(&all), times(&all), memory()?];
    println!("{}", words(&all));
    Ok(tables)
}

/// Whether a trace that is no description is not there.
fn is_missing(path: &Path) -> bool {
    !path.exists() && !path.to_string_lossy().contains(":objects=")
}

/// Each trace, and its files or descriptions.
fn traces(data: &Path) -> Vec<(&'static str, Vec<PathBuf>)> {
    let starts = STARTS.iter().map(|name| data.join(format!("0ad/{name}.csv.gz"))).collect();
    let mut all = vec![
        ("CloudPhysics", vec![data.join("cloudphysics/cloudPhysicsIO.oracleGeneral.bin")]),
        ("Ozen, copy and grep", vec![data.join("ozen-2018/SequentialCopyGrep.txt.lzma")]),
        ("0 A.D., five starts", starts),
        ("McCarthy, web server", vec![data.join("mccarthy-2015/trace3.txt")]),
    ];
    for (name, description) in MADE {
        let one = || vec![PathBuf::from(description)];
        let turns = || {
            let both = |turn: u32| [TURNS[0].to_owned(), format!("{}{turn}", TURNS[1])];
            (1..=10).flat_map(both).map(PathBuf::from).collect()
        };
        all.push((name, if description.is_empty() { turns() } else { one() }));
    }
    all
}

fn judge(name: &'static str, requests: &Requests, rounds: usize) -> anyhow::Result<Found> {
    let totals = requests.totals();
    let (mut hits, mut best, mut times) = (Vec::new(), RIVALS[0], Vec::new());
    for (at, share) in SHARES.iter().enumerate() {
        let capacities = share.parse::<Capacities>().map_err(anyhow::Error::msg)?;
        let capacity = capacities.resolve(&totals)?[0];
        let case = |policy: &str| Case { policy: policy.to_owned(), capacity };
        let cases: Vec<Case> = ["auto"].iter().chain(&RIVALS).map(|policy| case(policy)).collect();
        let figures = simulate_all(requests, &cases, &mut |_, _| {})?;
        let of: Vec<u64> = figures.iter().map(|row| row.hits).collect();
        let (auto, all) = (of[0], &of[1..]);
        let candidates = &all[..CANDIDATES];
        let most = candidates.iter().copied().max().unwrap_or(0);
        let least = candidates.iter().copied().min().unwrap_or(0);
        let most_of_all = all.iter().copied().max().unwrap_or(0);
        let percent = |hits: u64| 100.0 * hits as f64 / requests.len().max(1) as f64;
        hits.push([auto, most, least, most_of_all].map(percent));
        if at == SHOWN {
            let first = candidates.iter().position(|&hits| hits == most);
            best = RIVALS[first.unwrap_or(0)];
            times = timed_rounds(requests, [&case("auto"), &case(best)], rounds)?;
        }
    }
    Ok(Found { name, requests: requests.len(), hits, best, times })
}

/// The time of the first case as a multiple of the second's, of each round.
fn timed_rounds(requests: &Requests, cases: [&Case; 2], rounds: usize) -> anyhow::Result<Vec<f64>> {
    let mut ratios = Vec::new();
    for round in 0..=rounds {
        let mut seconds = [0.0; 2];
        for (case, taken) in cases.iter().zip(&mut seconds) {
            let (figures, time) = timed(|| simulate(requests, case));
            figures?;
            *taken = time;
        }
        if round > 0 {
            ratios.push(seconds[0] / seconds[1].max(1e-9));
        }
    }
    Ok(ratios)
}

fn regret(all: &[Found]) -> Table {
    let title = "What `auto` loses against the best of its candidates, in points of the hit ratio";
    lost(all, "regret", title, |[auto, most, ..]| most - auto)
}

fn behind(all: &[Found]) -> Table {
    let title = "What `auto` loses against the best of eight policies, in points of the hit ratio";
    lost(all, "behind", title, |[auto, .., most]| most - auto)
}

fn lost(all: &[Found], id: &str, title: &str, points: fn([f64; 4]) -> f64) -> Table {
    let mut table = Table::new(id, title, "trace", "points", Better::Lower)
        .contenders(SHARES.map(Contender::ours))
        .under("At caches of these shares of the working set. Below 0 it has more hits than each of them.");
    for found in all {
        let figures = found.hits.iter().map(|hits| Figure::exact(points(*hits)));
        table = table.row(found.name, figures.collect::<Vec<_>>());
    }
    table
}

fn hits(all: &[Found]) -> Table {
    let title = format!("Hits at {} of the working set", SHARES[SHOWN]);
    let mut table = Table::new("hits", &title, "trace", "%", Better::Higher)
        .contenders(HITS.map(Contender::ours));
    for found in all {
        table = table.row(found.name, found.hits[SHOWN].map(Figure::exact));
    }
    table
}

fn times(all: &[Found]) -> Table {
    let title = "Processor time of `auto`, as a multiple of the best policy's";
    let conditions = format!(
        "One thread, caches of {} of the working set; both take turns. The best policy differs from trace to trace.",
        SHARES[SHOWN]
    );
    let mut table = Table::new("times", title, "trace", "×", Better::Lower)
        .contenders([Contender::ours("auto")])
        .under(&conditions);
    for found in all {
        table = table.row(found.name, [Figure::of_rounds(&found.times)]);
    }
    table
}

/// What each keeps of an object, by its own account.
fn memory() -> anyhow::Result<Table> {
    let title = "Memory of a policy for each object, at most";
    let mut table = Table::new("memory", title, "policy", "bytes", Better::Lower)
        .contenders([Contender::ours("seekless")])
        .under("Objects of one weight, with those of which it only remembers the name.");
    for policy in ["auto"].iter().chain(&RIVALS) {
        table = table.row(policy, [Figure::exact(bytes_per_id(policy, true)? as f64)]);
    }
    Ok(table)
}

fn words(all: &[Found]) -> String {
    let row = |found: &Found| {
        let mut cells = vec![found.name.to_owned(), found.requests.to_string()];
        cells.extend(found.hits.iter().map(|[auto, most, ..]| format!("{:.2}", most - auto)));
        let ratio = Figure::of_rounds(&found.times).value.unwrap_or(0.0);
        cells.extend([found.best.to_owned(), format!("{ratio:.2}")]);
        cells
    };
    let header =
        ["trace", "requests", "lost at 1 %", "at 10 %", "at 40 %", "best at 10 %", "time × its"];
    table(&header, all.iter().map(row).collect())
}
