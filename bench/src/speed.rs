//! Requests per second of every policy, and of the exact LRU curve: one thread, rounds that
//! alternate, medians.

mod rounds;
mod words;

use crate::rounds::{load_average, median};
use crate::workload::Workload;
use anyhow::{bail, ensure};
use rounds::Row;
use seekless::policy::eviction::{NAMES, nearest};
use seekless_results::{Better, Contender, Figure, Table, data_folder};
use serde::Serialize;
use std::path::PathBuf;

const REQUESTS: usize = 20_000_000;
const REQUESTS_QUICK: usize = 1_000_000;

/// Landlord's variants of 2006 visit many or all files at a miss: they take minutes where others
/// take seconds.
const SLOW: &[&str] = &[
    "landlord@naive",
    "landlord@naive-reciprocal",
    "landlord@cached",
    "landlord@cached-reciprocal",
    "landlord@lazy",
    "landlord@lazy-reciprocal",
];

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Policies; by default all except Landlord's variants whose cost grows with the number of
    /// files.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    policy: Vec<String>,
    /// Zipf requests [default: 20000000, or 1000000 with --quick]; 0 leaves that trace out.
    #[arg(long, value_name = "COUNT")]
    requests: Option<usize>,
    /// One million Zipf requests.
    #[arg(long)]
    quick: bool,
    /// Timed rounds, after one that is discarded.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Cache size in percent of the objects.
    #[arg(long, default_value_t = 5.0, value_name = "PERCENT")]
    cache: f64,
    /// The Zipf requests once more, for files of 512 to 66,047 bytes.
    #[arg(long)]
    files: bool,
    /// Folder that holds cloudphysics/.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Measured {
    trace: String,
    requests: u64,
    objects: u64,
    /// The size of the cache: objects, or bytes for files.
    capacity: u64,
    capacity_is_bytes: bool,
    /// Policies that accept only objects of one weight.
    refused: Vec<String>,
    /// Requests numbered in a second; median.
    numbering_per_second: f64,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Report {
    /// The load average of the machine, before and after.
    load_average: [f64; 2],
    rounds: u32,
    traces: Vec<Measured>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    let policies = policies(args)?;
    ensure!(args.rounds > 0, "--rounds: at least 1");
    ensure!(
        args.cache > 0.0 && args.cache <= 100.0,
        "--cache: more than 0 and at most 100 percent"
    );
    let before = load_average();
    let mut traces = Vec::new();
    for workload in workloads(args)? {
        let measured = rounds::measure(&workload, &policies, args)?;
        if !args.json {
            println!("{}", words::of(&measured));
        }
        traces.push(measured);
    }
    let report = Report { load_average: [before, load_average()], rounds: args.rounds, traces };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{}", words::conditions(&report));
    }
    Ok(report.traces.iter().map(rates).collect())
}

/// Million requests a second, by policy.
fn rates(measured: &Measured) -> Table {
    let id = measured.trace.to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "-");
    let title = format!("Simulated requests on one thread: {}", measured.trace);
    let conditions = format!(
        "{} requests of {} objects; {} {} fit.",
        measured.requests,
        measured.objects,
        measured.capacity,
        if measured.capacity_is_bytes { "bytes" } else { "objects" }
    );
    let mut table =
        Table::new(id.trim_matches('-'), &title, "policy", "million requests/s", Better::Higher)
            .contenders([Contender::ours("seekless")])
            .under(&conditions);
    for row in &measured.rows {
        let counted = row.requests_per_second * median(&mut row.seconds.clone());
        let rates: Vec<f64> = row.seconds.iter().map(|seconds| counted / seconds / 1e6).collect();
        table.set(&row.policy, "seekless", Figure::of_rounds(&rates));
    }
    table
}

fn policies(args: &Args) -> anyhow::Result<Vec<String>> {
    if let Some(unknown) = args.policy.iter().find(|name| !NAMES.contains(&name.as_str())) {
        bail!("no policy is called {unknown:?}; near it are {}", nearest(unknown).join(", "));
    }
    if !args.policy.is_empty() {
        return Ok(args.policy.clone());
    }
    Ok(NAMES.iter().filter(|name| !SLOW.contains(name)).map(|&name| name.to_owned()).collect())
}

fn workloads(args: &Args) -> anyhow::Result<Vec<Workload>> {
    let data = data_folder(args.data.as_deref());
    let mut workloads = Vec::new();
    match Workload::cloud_physics(&data)? {
        Some(sample) => workloads.push(sample),
        None => {
            eprintln!("bench: no cloudphysics/ in {}; name its folder with --data", data.display())
        }
    }
    let requests = args.requests.unwrap_or(if args.quick { REQUESTS_QUICK } else { REQUESTS });
    if requests > 0 {
        let zipf = Workload::zipf(requests);
        let files = args.files.then(|| zipf.with_sizes());
        workloads.push(zipf);
        workloads.extend(files);
    }
    Ok(workloads)
}
