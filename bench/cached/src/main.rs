//! Loads of files that a store has in its cache, beside look-ups of the same keys in caches from
//! the registry: `moka`, `quick_cache` and `foyer`, each as its documentation says to use it.
//!
//! All hold the same files under the same names, with room for all. Rivals take turns in each
//! round, and each sums what it found, which must come out alike. Processor time is shown beside
//! the wall's, since other work on the machine disturbs it less; waiting for a lock shows only in
//! the wall's.

use anyhow::{Context, ensure};
use clap::Parser;
use quick_cache::sync::Cache as QuickCache;
use rustix::time::{ClockId, clock_gettime};
use seekless::engine::EngineKind;
use seekless::io::Store;
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless_results::{Better, Contender, Figure, Output, Run, Table};
use serde::Serialize;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};
use std::time::Instant;

const FILE_BYTES: usize = 256;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Loads of files that a store has in its cache, beside look-ups in `moka`, `quick_cache` and
/// `foyer`.
#[derive(Parser, Debug)]
#[command(name = "cached", bin_name = "./run bench cached")]
struct Args {
    /// Files in the cache.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    files: u32,
    /// Loads of a thread in a round.
    #[arg(long, default_value_t = 2_000_000)]
    loads: usize,
    /// Timed rounds, after one that is discarded.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The store's policy.
    #[arg(long, default_value = "landlord")]
    policy: String,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Serialize)]
struct Report {
    load_average: [f64; 2],
    files: u32,
    loads: usize,
    rounds: u32,
    rows: Vec<Row>,
}

/// One cache under one pattern; medians of the rounds.
#[derive(Serialize)]
struct Row {
    pattern: &'static str,
    threads: usize,
    cache: &'static str,
    /// Wall time of a thread's load.
    nanoseconds: f64,
    /// Processor time of a load.
    processor_nanoseconds: f64,
    /// Loads of all threads in a second of wall time, in millions.
    millions_a_second: f64,
    /// Our wall time over this cache's, round by round; median.
    ours_over_this: f64,
}

/// A cache under test.
trait Lookup: Sync {
    fn name(&self) -> &'static str;
    /// A byte of the file and its length, so that the answer is looked at.
    fn get(&self, name: &str) -> Option<u64>;
}

fn answer(bytes: &[u8]) -> u64 {
    u64::from(bytes[0]) + bytes.len() as u64
}

impl Lookup for Store {
    fn name(&self) -> &'static str {
        "seekless"
    }

    fn get(&self, name: &str) -> Option<u64> {
        self.load(name).ok().map(|buffer| answer(&buffer))
    }
}

type Moka = moka::sync::Cache<String, Arc<[u8]>>;

impl Lookup for Moka {
    fn name(&self) -> &'static str {
        "moka"
    }

    fn get(&self, name: &str) -> Option<u64> {
        Moka::get(self, name).map(|bytes| answer(&bytes))
    }
}

type Quick = QuickCache<String, Arc<[u8]>>;

impl Lookup for Quick {
    fn name(&self) -> &'static str {
        "quick_cache"
    }

    fn get(&self, name: &str) -> Option<u64> {
        Quick::get(self, name).map(|bytes| answer(&bytes))
    }
}

type Foyer = foyer_memory::Cache<String, Arc<[u8]>>;

impl Lookup for Foyer {
    fn name(&self) -> &'static str {
        "foyer"
    }

    fn get(&self, name: &str) -> Option<u64> {
        Foyer::get(self, name).map(|entry| answer(entry.value()))
    }
}

/// Which files the threads load.
struct Pattern {
    name: &'static str,
    /// Of each thread, by number.
    threads: Vec<Vec<u32>>,
}

fn patterns(files: u32, loads: usize) -> Vec<Pattern> {
    let half = files / 2;
    let mut draws = Draws(SEED);
    let mut uniform =
        |from: u32, files: u32| (0..loads).map(|_| from + draws.below(files)).collect::<Vec<_>>();
    let (all, low, high) = (uniform(0, files), uniform(0, half), uniform(half, files - half));
    let popular = zipf(files, loads, SEED);
    let [odd, even] = [1, 0].map(|rest| {
        let own = |&file: &u32| file - file % 2 + rest;
        popular.iter().map(own).map(|file| file.min(files - 2 + rest)).collect::<Vec<_>>()
    });
    let same = vec![0; loads];
    vec![
        Pattern { name: "uniform", threads: vec![all.clone()] },
        Pattern { name: "uniform, the same files", threads: vec![all.clone(), all] },
        Pattern { name: "uniform, different files", threads: vec![low, high] },
        Pattern { name: "Zipf", threads: vec![popular.clone()] },
        Pattern { name: "Zipf, the same files", threads: vec![popular.clone(), popular] },
        Pattern { name: "Zipf, different files", threads: vec![even, odd] },
        Pattern { name: "one file", threads: vec![same.clone()] },
        Pattern { name: "one file, the same", threads: vec![same.clone(), same] },
    ]
}

/// xorshift: the same on every machine.
struct Draws(u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }
}

/// Zipf(1.0): file 0 is the most popular.
fn zipf(files: u32, loads: usize, seed: u64) -> Vec<u32> {
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=files)
        .map(|rank| {
            sum += 1.0 / f64::from(rank);
            sum
        })
        .collect();
    let mut draws = Draws(seed);
    (0..loads)
        .map(|_| {
            let point = (draws.bits() >> 11) as f64 / (1_u64 << 53) as f64 * sum;
            (cumulative.partition_point(|&below| below < point) as u32).min(files - 1)
        })
        .collect()
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let before = load_average();
    let run = Run::begin(&args.output, "./run bench cached", "cached");
    let folder = tempfile::tempdir().context("cannot make a folder for the pack")?;
    let names: Vec<String> =
        (0..args.files).map(|file| format!("art/textures/file_{file:06}.dds")).collect();
    let contents: Vec<Vec<u8>> =
        (0..args.files).map(|file| vec![(file % 251) as u8; FILE_BYTES]).collect();
    let store = store(&folder.path().join("files.zip"), &args.policy, &names, &contents)?;
    let (moka, quick, foyer) = rivals(&names, &contents);
    let caches: [&dyn Lookup; 4] = [&store, &moka, &quick, &foyer];
    let mut rows = Vec::new();
    for pattern in patterns(args.files, args.loads) {
        rows.extend(measure(&pattern, &names, &caches, args.rounds)?);
    }
    let report = Report {
        load_average: [before, load_average()],
        files: args.files,
        loads: args.loads,
        rounds: args.rounds,
        rows,
    };
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => println!("{}", words(&report)),
    }
    run.end(tables(&report))
}

/// Nanoseconds of a load, our time by each rival's, and what a second thread brings.
fn tables(report: &Report) -> Vec<Table> {
    let under = format!(
        "{} files of {FILE_BYTES} bytes, {} loads a thread, the first loads of each thread included.",
        report.files, report.loads
    );
    let rounds = report.rounds as usize;
    let mut ns = Table::new("ns", "A cached load by name", "files", "ns", Better::Lower)
        .contenders([Contender::ours("seekless")])
        .under(&under);
    let title = "The same: our time, of the rival's";
    let mut ratio = Table::new("ratio", title, "files", "", Better::Lower)
        .under("As above. Below 1, ours is faster.");
    for row in &report.rows {
        let threads = if row.threads == 1 { "one thread" } else { "two threads" };
        let case = format!("{}, {threads}", row.pattern);
        ns.set(&case, row.cache, Figure::median(row.nanoseconds, rounds));
        if row.cache != "seekless" {
            ratio.set(&case, row.cache, Figure::median(row.ours_over_this, rounds));
        }
    }
    let title = "Loads of two threads, of those of one";
    let mut threads = Table::new("threads", title, "files", "", Better::Higher)
        .contenders([Contender::ours("seekless")])
        .under("As above.");
    for (case, one, two) in [
        ("different files", "uniform", "uniform, different files"),
        ("one file", "one file", "one file, the same"),
    ] {
        threads.set(case, "seekless", Figure::median(more(&report.rows, one, two), rounds));
    }
    vec![ns, ratio, threads]
}

/// A store that has loaded every file of its pack.
fn store(
    pack: &Path,
    policy: &str,
    names: &[String],
    contents: &[Vec<u8>],
) -> anyhow::Result<Store> {
    let mut writer = PackWriter::new(BufWriter::new(File::create(pack)?));
    for (name, bytes) in names.iter().zip(contents) {
        writer.add(prepare(About::named(name), bytes.clone(), Codec::Stored)?)?;
    }
    writer.finish()?.0.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    let bytes = contents.iter().map(Vec::len).sum::<usize>() as u64;
    // Hits reach no engine. Under valgrind, which counts their instructions, a ring hangs.
    let builder = Store::builder().cache(2 * bytes).policy(policy).engine(EngineKind::Threads);
    let store = builder.open(pack)?;
    for name in names {
        store.load(name)?;
    }
    Ok(store)
}

fn rivals(names: &[String], contents: &[Vec<u8>]) -> (Moka, Quick, Foyer) {
    let room = 2 * names.len();
    let moka = Moka::new(room as u64);
    let quick = Quick::new(room);
    let foyer: Foyer = foyer_memory::CacheBuilder::new(room).build();
    for (name, bytes) in names.iter().zip(contents) {
        let bytes: Arc<[u8]> = bytes.as_slice().into();
        moka.insert(name.clone(), bytes.clone());
        quick.insert(name.clone(), bytes.clone());
        foyer.insert(name.clone(), bytes);
    }
    moka.run_pending_tasks();
    (moka, quick, foyer)
}

/// What one round of one cache took.
#[derive(Clone, Copy, Debug)]
struct Round {
    sum: u64,
    seconds: f64,
    processor_seconds: f64,
}

fn measure(
    pattern: &Pattern,
    names: &[String],
    caches: &[&dyn Lookup],
    rounds: u32,
) -> anyhow::Result<Vec<Row>> {
    let mut measured: Vec<Vec<Round>> = vec![Vec::new(); caches.len()];
    for turn in 0..=rounds as usize {
        let mut sums = Vec::new();
        for place in 0..caches.len() {
            let cache = (place + turn) % caches.len();
            let round = one_round(pattern, names, caches[cache])
                .with_context(|| format!("{} lost a file", caches[cache].name()))?;
            sums.push(round.sum);
            if turn > 0 {
                measured[cache].push(round);
            }
        }
        ensure!(sums.iter().all(|&sum| sum == sums[0]), "the caches disagree: {sums:?}");
    }
    let threads = pattern.threads.len();
    let loads = pattern.threads[0].len().max(1) as f64;
    let row = |(cache, rounds): (&&dyn Lookup, &Vec<Round>)| {
        let of = |part: &dyn Fn(&Round) -> f64| {
            median(&mut rounds.iter().map(part).collect::<Vec<f64>>())
        };
        let seconds = of(&|round| round.seconds);
        let ratio = |(ours, this): (&Round, &Round)| ours.seconds / this.seconds;
        Row {
            pattern: pattern.name,
            threads,
            cache: cache.name(),
            nanoseconds: seconds / loads * 1e9,
            processor_nanoseconds: of(&|round| round.processor_seconds) / loads / threads as f64
                * 1e9,
            millions_a_second: loads * threads as f64 / seconds / 1e6,
            ours_over_this: median(
                &mut measured[0].iter().zip(rounds).map(ratio).collect::<Vec<f64>>(),
            ),
        }
    };
    Ok(caches.iter().zip(&measured).map(row).collect())
}

/// All threads load what the pattern says. `None` if a file was not there.
fn one_round(pattern: &Pattern, names: &[String], cache: &dyn Lookup) -> Option<Round> {
    let barrier = Barrier::new(pattern.threads.len());
    let work = |files: &[u32]| {
        barrier.wait();
        let (started, computed) = (Instant::now(), processor_seconds());
        let sum = files.iter().map(|&file| cache.get(&names[file as usize])).sum::<Option<u64>>();
        let seconds = started.elapsed().as_secs_f64();
        Some(Round { sum: sum?, seconds, processor_seconds: processor_seconds() - computed })
    };
    let work = &work;
    let rounds: Vec<Round> = std::thread::scope(|scope| {
        let spawn = |files| scope.spawn(move || work(files));
        let threads: Vec<_> = pattern.threads.iter().map(|files| spawn(files)).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect::<Option<_>>()
    })?;
    Some(Round {
        sum: rounds.iter().map(|round| round.sum).sum(),
        seconds: rounds.iter().map(|round| round.seconds).fold(0.0, f64::max),
        processor_seconds: rounds.iter().map(|round| round.processor_seconds).sum(),
    })
}

/// Seconds that the calling thread has computed.
fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn words(report: &Report) -> String {
    let mut text = format!(
        "Loads of {} cached files by name, {} a thread and round, {} rounds in turn; medians\n\n\
         {:28}{:>8}  {:12}{:>10}{:>11}{:>11}{:>16}\n",
        report.files,
        report.loads,
        report.rounds,
        "files",
        "threads",
        "cache",
        "ns a load",
        "processor",
        "M loads/s",
        "ours over this",
    );
    for row in &report.rows {
        let Row { pattern, threads, cache, nanoseconds, processor_nanoseconds, .. } = row;
        text += &format!(
            "{pattern:28}{threads:>8}  {cache:12}{nanoseconds:>10.1}{processor_nanoseconds:>11.1}{:>11.1}{:>16.2}\n",
            row.millions_a_second, row.ours_over_this,
        );
    }
    text + &format!(
        "\nTwo threads of ours beside one: different files {:.2} times the loads, one file {:.2} times.\n\
         Load average {:.1} before, {:.1} after.",
        more(&report.rows, "uniform", "uniform, different files"),
        more(&report.rows, "one file", "one file, the same"),
        report.load_average[0],
        report.load_average[1],
    )
}

/// How many times the loads of one pattern our store does under another.
fn more(rows: &[Row], one: &str, two: &str) -> f64 {
    let rate = |name: &str| {
        let row = rows.iter().find(|row| row.cache == "seekless" && row.pattern == name);
        row.map_or(f64::NAN, |row| row.millions_a_second)
    };
    rate(two) / rate(one)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The load average of the last minute; not a number where the kernel does not report it.
fn load_average() -> f64 {
    let told = std::fs::read_to_string("/proc/loadavg").ok();
    told.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_caches_find_every_file_and_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..50).map(|file| format!("{file}")).collect();
        let contents: Vec<Vec<u8>> = (0..50).map(|file| vec![file; FILE_BYTES]).collect();
        let store = store(&folder.path().join("files.zip"), "landlord", &names, &contents).unwrap();
        let (moka, quick, foyer) = rivals(&names, &contents);
        let caches: [&dyn Lookup; 4] = [&store, &moka, &quick, &foyer];
        for pattern in patterns(50, 300) {
            let rows = measure(&pattern, &names, &caches, 1).unwrap();
            assert_eq!(rows.len(), 4);
            assert!(rows.iter().all(|row| row.nanoseconds > 0.0), "{}", pattern.name);
        }
        assert!(caches.iter().all(|cache| cache.get("no such file").is_none()));
    }

    #[test]
    fn threads_of_different_files_share_none() {
        for pattern in patterns(101, 2_000) {
            let [one, other] = pattern.threads.as_slice() else { continue };
            let shared = one.iter().any(|file| other.contains(file));
            assert_eq!(shared, pattern.name.ends_with("same files") || pattern.name.ends_with("same"));
        }
    }
}
