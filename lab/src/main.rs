//! The experiments of the papers, one module each: `./run lab NAME`. Each prints the paper's
//! figure beside ours, and returns its figures as tables for `--save` and `--results FILE`.

mod alone;
mod child;
mod claims;
mod data;
mod mccarthy2015;
mod output;
mod ozen2018;
mod picture;
mod probe;
mod scratch;
mod vanmeter2000;
mod wassenberg2006;
mod wu2010;

use clap::{Parser, Subcommand};
use seekless_results::{Output, Run, Table};
use std::process::ExitCode;

/// The papers' experiments: the paper's figure beside ours.
#[derive(Parser, Debug)]
#[command(name = "seekless-lab", bin_name = "./run lab", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    experiment: Experiment,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand, Debug)]
enum Experiment {
    /// "The Way the Disk Turns": a directory, a packed file, a memory map and LRU caches under a
    /// web server's trace.
    Mccarthy2015(mccarthy2015::Args),
    /// Eviction of cached blocks: what each policy reads and writes, as published and corrected;
    /// with --sqlite under a database.
    Ozen2018(ozen2018::Args),
    /// What a probe finds of the inside of disks and flash drives with random parameters, and of
    /// devices that nbdkit serves.
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

impl Experiment {
    /// The name of the file of results.
    fn name(&self) -> &'static str {
        match self {
            Self::Mccarthy2015(_) => "lab-mccarthy2015",
            Self::Ozen2018(_) => "lab-ozen2018",
            Self::Probe(_) => "lab-probe",
            Self::Vanmeter2000(_) => "lab-vanmeter2000",
            Self::Wassenberg2006(_) => "lab-wassenberg2006",
            Self::Wu2010(_) => "lab-wu2010",
            Self::Ledger(_) | Self::Linear(_) => "lab",
        }
    }

    /// Whether its figures depend on what else the machine reads.
    fn measures_machine(&self) -> bool {
        match self {
            Self::Mccarthy2015(_) | Self::Vanmeter2000(_) | Self::Wassenberg2006(_) => true,
            Self::Wu2010(args) => args.is_live(),
            Self::Probe(args) => args.is_live(),
            _ => false,
        }
    }

    /// Measures, prints, and returns what `--save` writes.
    fn measure(&self) -> anyhow::Result<Vec<Table>> {
        let _alone = self.measures_machine().then(alone::alone);
        match self {
            Self::Mccarthy2015(args) => mccarthy2015::run(args),
            Self::Ozen2018(args) => ozen2018::run(args),
            Self::Probe(args) => probe::run(args),
            Self::Vanmeter2000(args) => vanmeter2000::run(args),
            Self::Wassenberg2006(args) => wassenberg2006::run(args),
            Self::Wu2010(args) => wu2010::run(args),
            // These are no experiments: another lab starts them.
            Self::Ledger(_) | Self::Linear(_) => Ok(Vec::new()),
        }
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    let run = Run::begin(&cli.output, "./run lab", cli.experiment.name());
    let result = match &cli.experiment {
        Experiment::Ledger(args) => ozen2018::sqlite::play(args),
        Experiment::Linear(args) => match vanmeter2000::read(args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        experiment => experiment.measure().and_then(|tables| run.end(tables)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::failure(&error),
    }
}
