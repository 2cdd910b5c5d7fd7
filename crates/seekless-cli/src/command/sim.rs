//! `seekless sim`: the hits, reads and writes of caches of other policies and sizes.

mod curve;
mod help;
mod pack;
mod page;
mod picture;
mod policies;
mod table;
mod timed;

use self::help::{EXAMPLES, WRITE_BACK};
use crate::command::foreign::{Foreign, Selected, input, say_left_out};
use crate::next::{self, Found};
use crate::output::{self, Html, Picture, Words};
use crate::price::PriceOption;
use anyhow::bail;
use clap::builder::PossibleValuesParser;
use policies::Names;
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_count, parse_bytes, parse_duration};
use seekless::policy::readahead::Lead;
use seekless::sim::post_cache::{self, Format};
use seekless::sim::{
    Admit, Capacities, Case, Changed, Expiry, Figures, Lines, Opened, Options, Plan, Reading,
    Requests, Timed, Totals, WarmUp, Windows, WriteBack, check_cases, memory_bytes_max,
    simulate_cases,
};
use seekless::sys::output::Destination;
use seekless::tools::device::named;
use seekless::trace::import;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Simulate caches: what would another policy or another size have hit, read and written?
///
/// Each policy runs at each capacity over the same requests, on all cores. All traces, and all runs
/// in them, go through the same cache, one after another.
///
/// Units. file: a request is the load of a whole file, which weighs its bytes; a file over half the
/// cache bypasses it under every policy. page: each 4 KiB page of a read or write is a request, and
/// the capacity is the whole pages that fit. object: each row is a request for its object (a place
/// in a file or device), whatever its size, as in other simulators. Without --unit the trace
/// decides: pages for block traces, and for traces of files with most of their reads inside files;
/// files for other traces of files; objects for traces of ids.
///
/// Traces. What `trace import` reads needs no import. A long file of libCacheSim's records
/// (oracleGeneral or lcs) is simulated while it is read if no policy needs the future, in memory
/// for its objects, not for its requests. Shares (10%), policies for ids of one weight, and objects
/// whose size changes take a second pass over it. A pipe of records cannot be read twice: it is
/// simulated while it is read with --unit-weights and sizes in ids, and kept in memory otherwise. A
/// pipe of another format needs --format.
///
/// Page units. In a block trace, consecutive sectors of the same page are one request; --raw keeps
/// each, and --merge joins them in other traces too. A sector -1 (Ozen's traces) has no place on
/// the device: it is left out, or page 0 with --raw.
///
/// Writes make pages dirty, and read nothing unless --fetch-on-write. Dirty pages are written back
/// when they are evicted, and as --write-back says. Pages that are dirty at the end are shown
/// apart; the cost counts them, with the device's reads and writes, so that no policy wins by
/// writing nothing. A compulsory miss is the first request for a page, file or object, which no
/// cache can avoid.
///
/// With --pack and --device it predicts the requests, bytes and time of loading a run from a pack,
/// for the store's cache of each policy and capacity. It decides with the store's own code, so that
/// the requests are those of the store, one for one. Loads come one after another. A file is held
/// until the trace releases it; in a trace without releases, until the next load.
///
/// Capacities are sizes (64MB, 10000pages), shares of the working set (10%) or ranges of either:
/// 1MB..64MB*2 doubles, 10%..50%+10% adds. For traces of bare ids, and with --unit-weights, a size
/// is a number of ids.
///
/// With --device the simulation is in time. Readers go on when their pages are there, and compute
/// for each page; the device serves the requests of cache and readahead. Each run of a trace
/// follows the one before it, with a warm cache. The threads of a process share one open file for
/// each file that they read.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{WRITE_BACK}\n{}\nReadaheads:\n{}", policies::help(), timed::readaheads()))]
pub struct Args {
    /// Traces: Parquet, or any format that `trace import` reads, compressed or not, also in object
    /// storage (s3://BUCKET/KEY); - is standard input; or made on the fly:
    /// zipf:objects=1M,alpha=0.9,requests=10M, loop:, scan: or shift:, mixed with + between
    #[arg(required_unless_present_any = ["policies", "trace"], value_name = "TRACE", value_parser = input())]
    traces: Vec<PathBuf>,
    /// List the policies by family, with a description and the source of each; or those of one
    /// FAMILY: recency, frequency, ghost, size-aware, sampled, learned, device, offline
    #[arg(long, exclusive = true, value_name = "FAMILY", num_args = 0..=1, default_missing_value = policies::ALL, value_parser = policies::family())]
    policies: Option<String>,
    #[command(flatten)]
    foreign: Foreign,
    #[command(flatten)]
    selected: Selected,
    /// The unit of a request: file, page or object [default: depends on the trace]
    #[arg(long, value_name = "UNIT", value_parser = PossibleValuesParser::new(["file", "page", "object"]))]
    unit: Option<String>,
    /// Every file or object weighs 1, whatever its size
    #[arg(long)]
    unit_weights: bool,
    /// Join back-to-back accesses to one page, all reads or all writes (of block traces: the
    /// default)
    #[arg(long, conflicts_with = "raw")]
    merge: bool,
    /// Keep back-to-back accesses to one page one by one
    #[arg(long)]
    raw: bool,
    /// Policies, with the variant after @, and parameters after a colon:
    /// lru,2q@ozen,s3-fifo:small=0.05,ghost=1
    #[arg(long, default_value = DEFAULT_POLICIES, value_name = "NAME,...", value_parser = policies::names)]
    policy: Vec<Names>,
    /// Capacities: 64MB, 10000pages, 10% (or 0.1) of the working set, 1MB..64MB*2, 10%..50%+10%. A
    /// number alone is one of ids, or of bytes of files or objects
    #[arg(long, value_delimiter = ',', default_value = "64MB", value_name = "SIZE,...")]
    capacity: Vec<Capacities>,
    /// When dirty pages are written before they are evicted: linux, or every=30s, dirty=10%,
    /// expire=30s, wake=5s, background=10%, limit=20%, cluster=file, shrink=50%@60s..90s, sync
    #[arg(long, default_value = "evict", value_name = "RULE,...")]
    write_back: WriteBack,
    /// A write that misses the cache reads the page, file or object first
    #[arg(long)]
    fetch_on_write: bool,
    /// A request for an object that is cached with another size: a hit, which resizes it, or a
    /// miss, since it asks for a new version
    #[arg(long, default_value = "hit", value_name = "hit|miss", conflicts_with = "curves")]
    changed: Changed,
    /// The first requests fill the caches and are counted apart: 20%, 100000 or 30s by the trace's
    /// clock
    #[arg(long, value_name = "SHARE|N|TIME", conflicts_with_all = ["curves", "every", "device", "post_cache"])]
    warm_up: Option<WarmUp>,
    /// Which missed objects come into the caches, before any policy: size:1MiB (smaller ones),
    /// probability:0.5, probability-by-size, bloom (at the second miss), adaptsize or tinylfu; and
    /// the seed of the draws, as in probability:0.5,seed=7
    #[arg(long, value_name = "RULE", conflicts_with_all = ["curves", "device"])]
    admission: Option<Admit>,
    /// Objects expire by the trace's clock, from a column `ttl`: lazy (at the next request) or
    /// active (at once); with `,fixed` a lifetime begins only when the object comes in [default:
    /// lazy where --columns or --binary name ttl]
    #[arg(long, value_name = "WHEN", conflicts_with_all = ["curves", "device"])]
    expiry: Option<Expiry>,
    /// Also show the figures after every N requests
    #[arg(long, value_name = "N")]
    every: Option<NonZeroU64>,
    /// Write the requests that reach the device as a block trace (of one policy at one capacity):
    /// Parquet, or text if it ends in .txt
    #[arg(long, value_name = "FILE")]
    post_cache: Option<PathBuf>,
    /// The format of that trace: parquet or ozen
    #[arg(long, value_name = "FORMAT", requires = "post_cache")]
    post_cache_format: Option<Format>,
    /// Miss ratios over a range of capacities, up to everything: exact, shards=RATE or shards=IDS
    /// (lru), sampled=RATE or sampled=IDS. The last four look at some of the ids only and give
    /// error bars
    #[arg(long, value_name = "METHOD", group = "curves", conflicts_with_all = ["capacity", "post_cache", "every", "write_back", "fetch_on_write"])]
    curve: Option<curve::Method>,
    /// Miss ratios over a range of capacities for any policy, by SHARDS: small caches on samples of
    /// this share of the ids (0.01) or of this number of them (8192), with error bars from eight
    /// samples. The same as --curve sampled=
    #[arg(long, value_name = "RATE|IDS", group = "curves", conflicts_with_all = ["capacity", "post_cache", "every", "write_back", "fetch_on_write"])]
    shards: Option<curve::Amount>,
    /// How many capacities a curve has
    #[arg(long, default_value = "50", value_name = "N", requires = "curves")]
    points: NonZeroUsize,
    /// The seed that chooses the ids of a sampled curve
    #[arg(long, default_value_t = 0, value_name = "N", requires = "curves")]
    seed: u64,
    /// Simulate in time on this device, with a readahead: how long the program waits, and what the
    /// device does. Pages of reads and writes; each thread reads in its order
    #[arg(long, value_name = "DEVICE", value_parser = named, conflicts_with_all = ["curves", "post_cache", "every", "fetch_on_write", "changed", "unit", "unit_weights", "merge", "raw", "picture"])]
    device: Option<DeviceSpec>,
    /// Readaheads to simulate
    #[arg(long, value_delimiter = ',', default_value = DEFAULT_READAHEADS, value_name = "NAME,...", value_parser = timed::name, requires = "device")]
    readahead: Vec<String>,
    /// The largest window of a readahead
    #[arg(long, default_value = "128KiB", value_name = "SIZE", value_parser = parse_bytes, requires = "device")]
    readahead_max: u64,
    /// How many pages before its end a window requests the next one: auto, off or a number
    #[arg(long, default_value_t, value_name = "PAGES", requires = "device")]
    readahead_lead: Lead,
    /// How long the program computes with a page before it reads on
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = parse_duration, requires = "device")]
    think: u64,
    /// Start no access before its time in the trace
    #[arg(long, requires = "device")]
    arrivals: bool,
    /// Draw the miss ratios into this file, .svg or .png: bars, or lines with --curve or --every; -
    /// is standard output
    #[arg(long, alias = "plot", value_name = "FILE", value_parser = output::picture_file)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    html: output::HtmlFile,
    #[command(flatten)]
    pack: pack::PackArgs,
    #[command(flatten)]
    price: PriceOption,
    #[command(flatten)]
    force: output::Force,
    /// Refuse a trace whose requests take more memory than this [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// The policies that are simulated without `--policy`.
const DEFAULT_POLICIES: &str = "lru,arc,landlord";

/// The readaheads that are simulated with a device and without `--readahead`.
const DEFAULT_READAHEADS: &str = "none,linux";

impl Args {
    /// The policies to simulate.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.policy.iter().flat_map(Names::each)
    }

    /// How lifetimes end. Where the user names them, they count.
    fn expiry(&self) -> Option<Expiry> {
        let simple = self.device.is_none() && self.curve.is_none() && self.shards.is_none();
        let lazy = Expiry { active: false, fixed: false };
        self.expiry.or((simple && self.foreign.names_lifetimes()).then_some(lazy))
    }
}

/// A row of the result: the figures, and how long the simulation took on one core.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) figures: Figures,
    /// Rows of the traces that are not in the simulation, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) left_out: BTreeMap<String, u64>,
    /// Seconds that the simulation of this case took, without reading the trace.
    pub(crate) seconds: f64,
    pub(crate) requests_per_second: f64,
}

impl Row {
    fn new(figures: Figures, seconds: f64) -> Self {
        let requests_per_second = figures.requests as f64 / seconds.max(1e-9);
        Self { figures, left_out: BTreeMap::new(), seconds, requests_per_second }
    }
}

/// Reads the traces once, simulates every case on all cores, and prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(family) = &args.policies {
        output::text(&policies::list(family))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(pack) = &args.pack.pack {
        return pack::run(&args, pack);
    }
    let prices = args.price.of(args.device.as_ref(), None)?;
    let outputs = Outputs::begin(&args)?;
    if let Some(device) = &args.device {
        return timed::run(&args, device, prices.as_ref(), outputs);
    }
    anyhow::ensure!(prices.is_none(), "--price is of requests to a device: give --device too");
    if let Some(method) = args.curve.or(args.shards.map(curve::Method::Sampled)) {
        let requests = read(&args)?;
        return curve::run(&args, &requests, method, outputs);
    }
    let (totals, rows) = match &outputs.post_cache {
        Some((out, format)) => with_post_cache(&args, out, *format)?,
        None => simulate(&args)?,
    };
    if let Some(drawn) = outputs.picture {
        drawn.draw(&picture::rows(&args, &totals, &rows))?;
    }
    if let Some(html) = outputs.html {
        page::rows(html, &args, &totals, &rows)?;
    }
    if args.json {
        outputs.words.json(&rows)?;
    } else {
        outputs.words.text(&table::report(&totals, &rows))?;
        next::say(outputs.words, &Found::Misses { traces: &args.traces, sizes: sizes(&rows) })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many sizes were simulated.
fn sizes(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.figures.capacity).collect::<BTreeSet<_>>().len()
}

/// The outputs besides the report.
struct Outputs {
    picture: Option<Picture>,
    html: Option<Html>,
    post_cache: Option<(Destination, Format)>,
    words: Words,
}

impl Outputs {
    /// Begins the outputs. Fails before the work starts if one of them may not be written.
    fn begin(args: &Args) -> anyhow::Result<Self> {
        let picture = Picture::begin(args.picture.as_deref(), args.force)?;
        let html = args.html.begin(args.force)?;
        let post_cache = args.post_cache.as_deref().map(|word| {
            let format = args.post_cache_format.unwrap_or_else(|| Format::of(word));
            (args.force.destination(word), format)
        });
        if let Some((out, format)) = &post_cache {
            out.check(format.content())?;
        }
        let pages = html.iter().map(Html::destination);
        let all = picture.iter().map(Picture::destination).chain(pages);
        let all = all.chain(post_cache.iter().map(|(out, _)| out));
        let words = Words::beside(all.clone());
        if all.filter(|out| out.is_standard_output()).count() > 1 {
            bail!(
                "only one of --picture, --html and --post-cache can go to standard output: name a file for the others"
            );
        }
        Ok(Self { picture, html, post_cache, words })
    }
}

fn reading(args: &Args) -> anyhow::Result<Reading> {
    let lines = match (args.merge, args.raw) {
        (true, _) => Lines::Merged,
        (_, true) => Lines::Raw,
        _ => Lines::ByKind,
    };
    let names = args.post_cache.is_some();
    Ok(Reading {
        unit: args.unit.as_deref().map(str::parse).transpose()?,
        lines,
        unit_weights: args.unit_weights,
        times: names
            || args.write_back.needs_times()
            || args.warm_up.is_some_and(WarmUp::needs_times),
        lifetimes: args.expiry().is_some(),
        names,
        import: args.selected.of(args.foreign.options()?),
        memory_bytes_max: args
            .memory
            .or_else(|| seekless::sys::memory::free_bytes().map(|free| free / 2)),
    })
}

/// Reads all requests into memory.
fn read(args: &Args) -> anyhow::Result<Requests> {
    let mut progress = output::counting("Reading", "rows");
    let reading = reading(args)?;
    let requests = reading.read(&args.traces, &mut progress)?;
    drop(progress);
    say_left_out(&reading.import);
    tell_left_out(args, &requests);
    Ok(requests)
}

/// Says which rows of the traces are not in the simulation.
fn tell_left_out(args: &Args, requests: &Requests) {
    if requests.is_empty() {
        output::say("no requests: the traces have no load, and no read or write of a byte or more");
    }
    if requests.unmapped() > 0 {
        let what = if args.raw { "counted as page 0" } else { "left out" };
        output::say(format_args!(
            "sectors that lay nowhere (-1), {what}: {}",
            format_count(requests.unmapped())
        ));
    }
    if requests.reads_inside() > 0 {
        let reads = counted(requests.reads_inside(), "read");
        output::say(format_args!("not in this simulation: {reads} inside files; use --unit page"));
    }
}

fn plan(args: &Args) -> Plan {
    let options = Options {
        changed: args.changed,
        admission: args.admission,
        expiry: args.expiry(),
        fetch_on_write: args.fetch_on_write,
        write_back: args.write_back,
        every: args.every,
        warm_up: args.warm_up,
    };
    Plan {
        policies: args.names().map(str::to_owned).collect(),
        capacities: args.capacity.clone(),
        options,
    }
}

/// Before a long run, says how many requests and caches it simulates, and its memory.
fn announce(requests: &Requests, cases: &[Case]) -> anyhow::Result<()> {
    const LONG: u128 = 20_000_000;
    let work = requests.len() as u128 * cases.len() as u128;
    if work > LONG {
        let memory = memory_bytes_max(requests, cases)?;
        output::say(format_args!(
            "{} for {}, {}; at most {} of memory",
            counted(requests.len() as u64, "request"),
            counted(requests.distinct().into(), "id"),
            counted(cases.len() as u64, "cache"),
            format_bytes(memory)
        ));
    }
    Ok(())
}

/// Simulates every case, on requests in memory or while they are read.
fn simulate(args: &Args) -> anyhow::Result<(Totals, Vec<Row>)> {
    let plan = plan(args);
    let mut progress = output::counting("Reading", "rows");
    let reading = reading(args)?;
    let opened = reading.open(&args.traces, &plan, Windows::default(), &mut progress)?;
    drop(progress);
    let requests = match opened {
        Opened::Kept(requests) => *requests,
        Opened::Long(stream) => {
            let (totals, figures) = stream.simulate(&mut output::counting("Simulating", "rows"))?;
            say_left_out(&reading.import);
            return Ok((totals, table(figures, &reading.import)));
        }
    };
    say_left_out(&reading.import);
    tell_left_out(args, &requests);
    let cases = checked(&plan, &requests)?;
    let mut progress = simulating(&requests);
    let rows = simulate_cases(&requests, &cases, &plan.options, &mut progress)?;
    Ok((requests.totals(), table(rows, &reading.import)))
}

/// The rows of the result, with what `import` left out of the traces.
fn table(rows: Vec<Timed>, import: &import::Options) -> Vec<Row> {
    let left_out = import.left_out.so_far();
    let row = |(figures, time): Timed| Row {
        left_out: left_out.clone(),
        ..Row::new(figures, time.as_secs_f64())
    };
    rows.into_iter().map(row).collect()
}

/// A bar for jobs that each take all requests.
fn simulating(requests: &Requests) -> impl FnMut(u64, u64) + Send + use<> {
    let mut bar = output::counting("Simulating", "requests");
    let each = requests.len() as u64;
    move |done, total| bar(done * each, total * each)
}

/// The cases of the plan, which can be simulated.
fn checked(plan: &Plan, requests: &Requests) -> anyhow::Result<Vec<Case>> {
    let cases = plan.cases(&requests.totals())?;
    check_cases(requests, &cases, &plan.options)?;
    announce(requests, &cases)?;
    Ok(cases)
}

fn with_post_cache(
    args: &Args,
    out: &Destination,
    format: Format,
) -> anyhow::Result<(Totals, Vec<Row>)> {
    let (plan, requests) = (plan(args), read(args)?);
    let cases = checked(&plan, &requests)?;
    let [case] = &cases[..] else {
        bail!("--post-cache writes the trace of one cache: give one --policy and one --capacity");
    };
    let row = timed(|| post_cache::write(&requests, case, &plan.options, out, format))?;
    Ok((requests.totals(), vec![row]))
}

fn timed<E>(simulate: impl FnOnce() -> Result<Figures, E>) -> Result<Row, E> {
    let started = Instant::now();
    let figures = simulate()?;
    Ok(Row::new(figures, started.elapsed().as_secs_f64()))
}
