//! The experiments of the papers, one module each: `./run lab NAME`. Each prints the paper's
//! figure beside ours.

mod data;
mod mccarthy2015;
mod output;
mod ozen2018;
mod picture;
mod probe;
mod vanmeter2000;
mod wassenberg2006;
mod wu2010;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The papers' experiments: the paper's figure beside ours.
#[derive(Parser, Debug)]
#[command(name = "seekless-lab", bin_name = "./run lab", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand, Debug)]
enum Experiment {
    /// "The Way the Disk Turns": a directory, a packed file, a memory map and LRU caches under a
    /// web server's trace.
    Mccarthy2015(mccarthy2015::Args),
    /// Eviction of cached blocks: what each policy reads and writes, as published and corrected;
    /// with --sqlite under a database.
    Ozen2018(ozen2018::Args),
    /// What a probe finds of the inside of disks and flash drives with random parameters.
    Probe(probe::Args),
    /// SLEDs: wc, grep and two astronomers' tools on files larger than the cache, in the plain
    /// order and the cheapest bytes first.
    Vanmeter2000(vanmeter2000::Args),
    /// "Optimizing File Accesses via Ordering and Caching": order, cache and cold loads of five
    /// starts of 0 A.D.
    Wassenberg2006(wassenberg2006::Args),
    /// "File Prefetching Algorithm for Concurrent Streams": readahead under interleaved and
    /// disturbed sequential reads, on a simulated disk.
    Wu2010(wu2010::Args),
    /// The workload that the ozen2018 lab records.
    #[command(name = ozen2018::sqlite::PLAYER, hide = true)]
    Ledger(ozen2018::sqlite::LedgerArgs),
    /// A rival in the vanmeter2000 lab.
    #[command(name = vanmeter2000::LINEAR, hide = true)]
    Linear(vanmeter2000::LinearArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    let result = match cli.experiment {
        Experiment::Mccarthy2015(args) => mccarthy2015::run(&args),
        Experiment::Ozen2018(args) => ozen2018::run(&args),
        Experiment::Probe(args) => probe::run(&args),
        Experiment::Wassenberg2006(args) => wassenberg2006::run(&args),
        Experiment::Wu2010(args) => wu2010::run(&args),
        Experiment::Ledger(args) => ozen2018::sqlite::play(&args),
        Experiment::Vanmeter2000(args) => vanmeter2000::run(&args),
        Experiment::Linear(args) => match vanmeter2000::read(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failure(&error),
    }
}
