//! Whole processes, from a file of oracleGeneral to figures: `seekless sim` beside libCacheSim's
//! `cachesim`. They take turns over the same file, and their miss ratios are compared before their
//! times.

use crate::command::Commands;
use crate::folder::Folder;
use crate::rounds::{load_average, median};
use crate::workload::{self, OBJECTS};
use anyhow::{Context, ensure};
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Policies that both have: our name, and the tool's.
const POLICIES: [(&str, &str); 20] = [
    ("lru", "lru"),
    ("fifo", "fifo"),
    ("clock", "clock"),
    ("sieve", "sieve"),
    ("s3-fifo@2024", "s3fifo"),
    ("arc", "arc"),
    ("2q", "2q"),
    ("lirs", "lirs"),
    ("qdlp", "qdlp"),
    ("car", "CAR"),
    ("clock-pro", "clockpro"),
    ("clock2q+", "clock2qplus"),
    ("mq", "mq"),
    ("slru@4", "slru"),
    ("lfu", "lfu"),
    ("lfu-da", "lfuda"),
    ("lru-2", "lru-k"),
    ("gdsf", "gdsf"),
    ("s3-fifo", "s3fifov0"),
    ("random2", "randomTwo"),
];
/// These decide alike, so their miss ratios must be equal to four decimals.
const ALIKE: [&str; 5] = ["lru", "fifo", "clock", "sieve", "arc"];

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A trace of oracleGeneral, uncompressed [default: Zipf requests, written for this]
    trace: Option<PathBuf>,
    /// Zipf requests
    #[arg(long, default_value_t = 2_000_000, value_name = "COUNT")]
    requests: usize,
    /// How many of the policies run in the question of many policies
    #[arg(long, default_value_t = POLICIES.len(), value_name = "COUNT")]
    policies: usize,
    /// How many sizes each of them has
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    sizes: usize,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// libCacheSim's tool; without it only our times are shown
    #[arg(long, value_name = "FILE", default_value = "cachesim")]
    cachesim: PathBuf,
    #[command(flatten)]
    commands: Commands,
}

/// One question: some policies at some sizes.
#[derive(Serialize)]
struct Row {
    question: String,
    /// Processor seconds of a whole process; medians.
    seconds: f64,
    cachesim_seconds: Option<f64>,
    ratio: Option<f64>,
    /// The older command's seconds divided by ours.
    older_ratio: Option<f64>,
    /// Our miss ratio and the tool's where they differ, by policy and size.
    differ: Vec<String>,
}

/// The miss ratio of each policy (by our name) and size.
type Misses = BTreeMap<(String, u64), f64>;

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.commands.folder)?;
    let trace = workload::given_or_zipf(args.trace.as_deref(), args.requests, folder.path())?;
    let rivals = Rivals::find(args)?;
    let all = &POLICIES[..args.policies.min(POLICIES.len())];
    let mut rows = Vec::new();
    for &policy in all {
        rows.push(rivals.ask(policy.0.to_owned(), &[policy], &[OBJECTS / 20], &trace, args)?);
    }
    let sizes: Vec<u64> = (1..=args.sizes as u64).map(|part| OBJECTS / 50 * part).collect();
    let question = format!("{} policies, {} sizes", all.len(), sizes.len());
    rows.push(rivals.ask(question, all, &sizes, &trace, args)?);
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(tables(&rows, args));
    }
    let cells = rows.iter().map(|row| {
        let shown =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
        vec![
            row.question.clone(),
            shown(Some(row.seconds)),
            shown(row.cachesim_seconds),
            shown(row.ratio),
            shown(row.older_ratio),
            row.differ.len().to_string(),
        ]
    });
    let header =
        ["policy", "seekless s", "cachesim s", "ratio", "older / ours", "other miss ratios"];
    println!("{}", table(&header, cells.collect()));
    for line in rows.iter().flat_map(|row| &row.differ) {
        println!("{line}");
    }
    println!(
        "\nProcessor time of whole processes, from the file to the figures; medians of {} rounds that alternate, after one \
         discarded; load average {before} before and {} after.",
        args.rounds,
        load_average()
    );
    Ok(tables(&rows, args))
}

/// Processor seconds of both, and how many times as fast ours is.
fn tables(rows: &[Row], args: &Args) -> Vec<Table> {
    let title = "`sim`: processor time of the whole process";
    let mut seconds = Table::new("policy-seconds", title, "policy", "s", Better::Lower)
        .contenders([Contender::ours("seekless sim")])
        .under("From the file to the figures, in turn; miss ratios are compared first.");
    let title = "The same: times as fast as cachesim";
    let mut times = Table::new("policy-times", title, "policy", "×", Better::Higher)
        .contenders([Contender::ours("seekless sim")])
        .under("As above.");
    for row in rows {
        let median = |value| Figure::median(value, args.rounds);
        seconds.set(&row.question, "seekless sim", median(row.seconds));
        if let Some(theirs) = row.cachesim_seconds {
            seconds.set(&row.question, "cachesim", median(theirs));
        }
        if let Some(ratio) = row.ratio {
            times.set(&row.question, "seekless sim", median(ratio));
        }
    }
    vec![seconds, times]
}

struct Rivals {
    seekless: PathBuf,
    older: Option<PathBuf>,
    cachesim: Option<PathBuf>,
}

impl Rivals {
    fn find(args: &Args) -> anyhow::Result<Self> {
        let there = Command::new(&args.cachesim).arg("--help").output().is_ok();
        if !there {
            eprintln!("bench: no {}: our times alone", args.cachesim.display());
        }
        Ok(Rivals {
            seekless: args.commands.ours()?,
            older: args.commands.older()?.map(Path::to_owned),
            cachesim: there.then(|| args.cachesim.clone()),
        })
    }

    fn ask(
        &self,
        question: String,
        policies: &[(&str, &str)],
        sizes: &[u64],
        trace: &Path,
        args: &Args,
    ) -> anyhow::Result<Row> {
        let (mut ours, mut theirs, mut olders) = (Vec::new(), Vec::new(), Vec::new());
        let mut differ = Vec::new();
        for round in 0..=args.rounds {
            let (mine, seconds) = simulated(&self.seekless, policies, sizes, trace)?;
            ours.push(seconds);
            if let Some(older) = &self.older {
                olders.push(simulated(older, policies, sizes, trace)?.1);
            }
            let Some(cachesim) = &self.cachesim else { continue };
            let (other, seconds) = tool(cachesim, policies, sizes, trace)?;
            theirs.push(seconds);
            if round == 0 {
                differ = differences(&mine, &other)?;
            }
        }
        let seconds = median(&mut ours[1..]);
        let cachesim_seconds = (!theirs.is_empty()).then(|| median(&mut theirs[1..]));
        let ratio = cachesim_seconds.map(|theirs| theirs / seconds);
        let older_ratio = (!olders.is_empty()).then(|| median(&mut olders[1..]) / seconds);
        Ok(Row { question, seconds, cachesim_seconds, ratio, older_ratio, differ })
    }
}

/// What a command of ours answers, and its processor seconds.
fn simulated(
    seekless: &Path,
    policies: &[(&str, &str)],
    sizes: &[u64],
    trace: &Path,
) -> anyhow::Result<(Misses, f64)> {
    let names: Vec<&str> = policies.iter().map(|policy| policy.0).collect();
    let words = ["--policy", &names.join(","), "--capacity", &joined(sizes), "--json"];
    let mut command = Command::new(seekless);
    command.arg("sim").arg(trace).arg("--unit-weights").args(words);
    let (text, seconds) = timed(command)?;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text)?;
    let miss = |row: &serde_json::Value| {
        let name = match row["variant"].as_str() {
            Some(variant) => format!("{}@{variant}", row["policy"].as_str()?),
            None => row["policy"].as_str()?.to_owned(),
        };
        Some(((name, row["capacity"].as_u64()?), row["miss_ratio"].as_f64()?))
    };
    let misses = rows.iter().map(miss).collect::<Option<_>>().context("an unknown answer")?;
    Ok((misses, seconds))
}

/// The tool simulates all cases of a run at once, and reserves up to 400 MB for each: 100 cases
/// took more than 23 GB. Each case reads the trace for itself, so shorter runs cost it nothing.
const POLICIES_MAX: usize = 5;

fn tool(
    cachesim: &Path,
    policies: &[(&str, &str)],
    sizes: &[u64],
    trace: &Path,
) -> anyhow::Result<(Misses, f64)> {
    let (mut misses, mut seconds) = (Misses::new(), 0.0);
    for policies in policies.chunks(POLICIES_MAX) {
        let names: Vec<&str> = policies.iter().map(|policy| policy.1).collect();
        for size in sizes {
            let mut command = Command::new(cachesim);
            command.arg(trace).args(["oracleGeneral", &names.join(","), &size.to_string()]);
            command.args(["--ignore-obj-size", "1", "--num-thread", "1"]);
            let (text, took) = timed(command)?;
            seconds += took;
            add_misses(&mut misses, &text, policies)?;
        }
    }
    Ok((misses, seconds))
}

/// Reads the tool's lines, one a case: `NAME cache size N, ..., miss ratio R, ...`. Of each size
/// they are in the order of the policies.
fn add_misses(misses: &mut Misses, text: &str, policies: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("miss ratio")) {
        let after = |words: &str| {
            let rest = line.split_once(words)?.1.trim_start();
            let end = rest.find(|of: char| of != '.' && !of.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].trim_end_matches('.').parse::<f64>().ok()
        };
        let size = after("cache size").context("a line without a size")? as u64;
        let ratio = after("miss ratio").context("a line without a miss ratio")?;
        let at = seen.entry(size).or_default();
        let policy = policies.get(*at).context("more lines than cases")?;
        *at += 1;
        misses.insert((policy.0.to_owned(), size), ratio);
    }
    Ok(())
}

/// The cases in which miss ratios differ in the fourth decimal. Policies that decide alike must not
/// be among them.
fn differences(ours: &Misses, theirs: &Misses) -> anyhow::Result<Vec<String>> {
    ensure!(ours.len() == theirs.len(), "{} answers and {}", ours.len(), theirs.len());
    let mut differ = Vec::new();
    for ((policy, size), ours) in ours {
        let theirs = theirs.get(&(policy.clone(), *size)).context("no such case")?;
        if (ours - theirs).abs() > 0.000_051 {
            let line = format!("{policy} at {size}: {ours:.4}, cachesim {theirs:.4}");
            ensure!(!ALIKE.contains(&policy.as_str()), "{line}");
            differ.push(line);
        }
    }
    Ok(differ)
}

fn joined(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// What a program prints, and the processor seconds that it took.
fn timed(mut command: Command) -> anyhow::Result<(String, f64)> {
    let seconds = |usage: &Usage| {
        let time = usage.user_time() + usage.system_time();
        time.num_microseconds() as f64 / 1e6
    };
    let before = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let after = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((String::from_utf8(output.stdout)?, seconds(&after) - seconds(&before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_lines_are_read_by_size_and_policy() {
        let text = "\
t.bin LRU cache size    45743, 1000000 req, miss ratio 0.2974
t.bin LRU cache size       20, 1000000 req, miss ratio 0.3620, throughput 7.1 MQPS
t.bin ARC cache size    45743, 1000000 req, miss ratio 0.2724
t.bin ARC cache size       20, 1000000 req, miss ratio 0.3121
";
        let mut misses = Misses::new();
        add_misses(&mut misses, text, &[("lru", "lru"), ("arc", "arc")]).unwrap();
        let of = |policy: &str, size| misses[&(policy.to_owned(), size)];
        assert_eq!([of("lru", 45743), of("lru", 20)], [0.2974, 0.3620]);
        assert_eq!([of("arc", 45743), of("arc", 20)], [0.2724, 0.3121]);
        let same = differences(&misses, &misses).unwrap();
        assert!(same.is_empty());
        let mut other = misses.clone();
        other.insert(("arc".to_owned(), 20), 0.4);
        assert!(differences(&misses, &other).unwrap_err().to_string().contains("arc at 20"));
    }
}
