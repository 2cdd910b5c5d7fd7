//! Benchmarks, one module a question: `./run bench NAME`. `libcachesim.py` asks a rival the same.
//! Each returns its figures as tables, which `--save` and `--results FILE` write.

mod advise;
mod all;
mod arcadia;
mod bandwidth;
mod choosing;
mod clock;
mod command;
mod find;
mod folder;
mod game;
mod grep;
mod image;
mod landlord;
mod latency_start;
mod list;
mod lists;
mod mounted_reads;
mod preload;
mod programs;
mod recall;
mod recording;
mod records;
mod remote;
mod replay;
mod rounds;
mod simulate;
mod speed;
mod start;
mod store_costs;
mod texts;
mod unchanged;
mod wc;
mod workload;

use clap::{Parser, Subcommand};
use seekless_results::{Output, Run, Table};
use std::process::ExitCode;

/// How fast the parts are.
#[derive(Parser, Debug)]
#[command(name = "seekless-bench", bin_name = "./run bench", version, about = list::ABOUT)]
struct Cli {
    #[command(subcommand)]
    question: Option<Question>,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand, Debug)]
enum Question {
    /// What `seekless advise` expects of its best measure, beside what it then measures (root).
    Advise(advise::Args),
    /// Runs the benches one after another; --quick gives each little work.
    All(all::Args),
    /// A start of 0 A.D. from a pack that was made without it: on demand with and without
    /// prediction, and with its list known, beside loose files, squashfs and what is possible
    /// (root).
    Arcadia(arcadia::Args),
    /// One large file, and a start, where only bandwidth is limited: beside the longer of reading
    /// and decoding (root).
    Bandwidth(bandwidth::Args),
    /// `auto`, the cache that chooses by itself, beside each policy that it chooses from.
    Choosing(choosing::Args),
    /// `seekless find` beside GNU's, and the cost of `-latency`, over 130,000 cached files.
    Find(find::Args),
    /// `seekless grep` beside GNU's and ripgrep, on cached files of 1 KiB to 2 GiB.
    Grep(grep::Args),
    /// What Landlord costs for each request among 10,000 files, beside the naive algorithm.
    Landlord(landlord::Args),
    /// `seekless run` beside a plain start, cold, over a file system that takes its time for each
    /// read but serves many at once (FUSE).
    LatencyStart(latency_start::Args),
    /// What a recording says that a start needed, beside what lies in the page cache after a start
    /// without readahead (root).
    Recall(recall::Args),
    /// What recording adds to the processor time of programs, by each method and by strace.
    Recording(recording::Args),
    /// Records of a trace that are read in a second, and with their objects numbered.
    Records(records::Args),
    /// A start of 0 A.D. from object storage that was made without it, beside single files, s3fs,
    /// rclone and a tar: time, requests, bytes and price.
    Remote(remote::Args),
    /// A root file system as squashfs in the order of `seekless export`, beside that of one run's
    /// first accesses: what a start that was left out asks of the device (root).
    Lists(lists::Args),
    /// A file that is cached, read through a mounted pack and beside it, with `read` and mapped.
    MountedReads(mounted_reads::Args),
    /// The player of `seekless replay` beside fio's: I/Os a second, processor time for an I/O, and
    /// a timed trace.
    Replay(replay::Args),
    /// `seekless sim` beside libCacheSim's `cachesim`, whole processes from a file to figures.
    Simulate(simulate::Args),
    /// Simulated requests per second of each policy and of the LRU curve, on one thread.
    Speed(speed::Args),
    /// `seekless run` beside a plain start and `vmtouch`, cold, behind a throttle (root).
    Start(start::Args),
    /// A store that does not know its device beside one that does, behind the kernel's throttles,
    /// and what the simulator predicts of both (root).
    StoreCosts(store_costs::Args),
    /// Unchanged programs, cold, under `seekless run --readahead`, alone, and with the file read
    /// whole first (root).
    Unchanged(unchanged::Args),
    /// `seekless wc` beside GNU's and uutils', on cached files of 1 KiB to 2 GiB.
    Wc(wc::Args),
    /// Writes the Zipf requests as an oracleGeneral trace, for other simulators.
    Zipf(workload::Args),
}

impl Question {
    /// The name of the file of results.
    fn name(&self) -> &'static str {
        match self {
            Self::Advise(_) => "advise",
            Self::All(_) => "all",
            Self::Arcadia(_) => "arcadia",
            Self::Bandwidth(_) => "bandwidth",
            Self::Choosing(_) => "choosing",
            Self::Find(_) => "find",
            Self::Grep(_) => "grep",
            Self::Landlord(_) => "landlord",
            Self::LatencyStart(_) => "latency-start",
            Self::Recall(_) => "recall",
            Self::Recording(_) => "recording",
            Self::Records(_) => "records",
            Self::Remote(_) => "remote",
            Self::Lists(_) => "lists",
            Self::MountedReads(_) => "mounted-reads",
            Self::Replay(_) => "replay",
            Self::Simulate(_) => "simulate",
            Self::Speed(_) => "speed",
            Self::Start(_) => "start",
            Self::StoreCosts(_) => "store-costs",
            Self::Unchanged(_) => "unchanged",
            Self::Wc(_) => "wc",
            Self::Zipf(_) => "zipf",
        }
    }

    /// Measures, prints, and returns what `--save` writes.
    fn measure(&self, output: &Output) -> anyhow::Result<Vec<Table>> {
        match self {
            Self::Advise(args) => advise::run(args),
            Self::All(args) => all::run(args, output).map(|()| Vec::new()),
            Self::Arcadia(args) => arcadia::run(args),
            Self::Bandwidth(args) => bandwidth::run(args),
            Self::Choosing(args) => choosing::run(args),
            Self::Find(args) => find::run(args),
            Self::Grep(args) => grep::run(args),
            Self::Landlord(args) => landlord::run(args),
            Self::LatencyStart(args) => latency_start::run(args),
            Self::Recall(args) => recall::run(args),
            Self::Recording(args) => recording::run(args),
            Self::Records(args) => records::run(args),
            Self::Remote(args) => remote::run(args),
            Self::Lists(args) => lists::run(args),
            Self::MountedReads(args) => mounted_reads::run(args),
            Self::Replay(args) => replay::run(args),
            Self::Simulate(args) => simulate::run(args),
            Self::Speed(args) => speed::run(args),
            Self::Start(args) => start::run(args),
            Self::StoreCosts(args) => store_costs::run(args),
            Self::Unchanged(args) => unchanged::run(args),
            Self::Wc(args) => wc::run(args),
            Self::Zipf(args) => workload::run(args).map(|()| Vec::new()),
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.question {
        None => list::print(),
        Some(question) => {
            let run = Run::begin(&cli.output, "./run bench", question.name());
            question.measure(&cli.output).and_then(|tables| run.end(tables))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
