//! Benchmarks, one module a question: `./run bench NAME`. `libcachesim.py` asks a rival the same.

mod arcadia;
mod bandwidth;
mod clock;
mod command;
mod find;
mod folder;
mod grep;
mod image;
mod landlord;
mod latency_start;
mod lists;
mod mounted_reads;
mod preload;
mod recall;
mod recording;
mod records;
mod replay;
mod rounds;
mod simulate;
mod speed;
mod start;
mod store_costs;
mod texts;
mod wc;
mod workload;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// How fast the parts are.
#[derive(Parser, Debug)]
#[command(
    name = "seekless-bench",
    bin_name = "./run bench",
    version,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand, Debug)]
enum Question {
    /// A start of 0 A.D. from a pack that was made without it: on demand with and without
    /// prediction, and with its list known, beside loose files, squashfs and what is possible
    /// (root).
    Arcadia(arcadia::Args),
    /// One large file, and a start, where only bandwidth is limited: beside the longer of reading
    /// and decoding (root).
    Bandwidth(bandwidth::Args),
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
    /// A store that was not told its device beside one that was, behind the kernel's throttles, and
    /// what the simulator predicts of both (root).
    StoreCosts(store_costs::Args),
    /// `seekless wc` beside GNU's and uutils', on cached files of 1 KiB to 2 GiB.
    Wc(wc::Args),
    /// Writes the Zipf requests as an oracleGeneral trace, for other simulators.
    Zipf(workload::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().question {
        Question::Arcadia(args) => arcadia::run(&args),
        Question::Bandwidth(args) => bandwidth::run(&args),
        Question::Find(args) => find::run(&args),
        Question::Grep(args) => grep::run(&args),
        Question::Landlord(args) => landlord::run(&args),
        Question::LatencyStart(args) => latency_start::run(&args),
        Question::Recall(args) => recall::run(&args),
        Question::Recording(args) => recording::run(&args),
        Question::Records(args) => records::run(&args),
        Question::Lists(args) => lists::run(&args),
        Question::MountedReads(args) => mounted_reads::run(&args),
        Question::Replay(args) => replay::run(&args),
        Question::Simulate(args) => simulate::run(&args),
        Question::Speed(args) => speed::run(&args),
        Question::Start(args) => start::run(&args),
        Question::StoreCosts(args) => store_costs::run(&args),
        Question::Wc(args) => wc::run(&args),
        Question::Zipf(args) => workload::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
