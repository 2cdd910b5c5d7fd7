//! A start of 0 A.D. from a pack of all files whose order and prediction were made without it.
//!
//! What no way of loading can beat is the *ceiling*: of all ways to join the run's own files into
//! reads, the least time that requests at the device's rate and bytes at its bandwidth allow.
//! `bounds` says what is left of it for a prediction.

mod bounds;
mod breakdown;
mod ceiling;
mod coded;
mod live;
mod named;
mod prepared;
mod simulated;
mod start;

use crate::game::{Files, HOW_TO_GET};
use anyhow::Context;
use seekless::device::DeviceSpec;
use seekless_results::{Table, data_folder, published};
use std::path::PathBuf;

const RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];

/// Options of the measurement.
#[derive(clap::Args, Debug)]
#[command(after_help = HOW_TO_GET)]
pub(crate) struct Args {
    /// The start that is loaded, and that order and prediction do not know.
    #[arg(long, default_value = "arcadia", value_name = "START")]
    start: String,
    /// The limits of the device, each iops=N,bandwidth=RATE; the pack is made for the first. With
    /// --simulated alone also any other device, such as t7k250, s3 or nvme; there each has its own
    /// order.
    #[arg(long, num_args = 1.., value_name = "SPEC", default_values = ["iops=500,bandwidth=150MB/s", "iops=120,bandwidth=150MB/s"])]
    throttle: Vec<DeviceSpec>,
    /// Simulates all five starts, each from what the other four show, and loads nothing.
    #[arg(long)]
    simulated: bool,
    /// What uses the names that the game's own files hold of others; with --simulated --game.
    #[arg(long, value_enum, default_value = "both", value_name = "WHAT")]
    references: named::References,
    /// Also says where the time of these goes.
    #[arg(long, requires = "simulated")]
    breakdown: bool,
    /// How the order is made.
    #[arg(long, default_value = "best", value_name = "METHOD")]
    method: String,
    /// The store's cache in MiB.
    #[arg(long, default_value_t = 64, value_name = "MIB")]
    cache: u64,
    /// Timed rounds; the loose files are loaded in the first only.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Folder on the disk to slow; some 8 GB are written there [default: the current one].
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Folder that holds 0ad/ (five runs, and all files).
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder that holds public/ and mod/ of the game: its own files, in place of made ones of
    /// their names and sizes (see below). What is not there is made.
    #[arg(long, value_name = "DIR")]
    game: Option<PathBuf>,
}

/// The recorded starts, the list of all files, and what these hold.
struct Data {
    runs: Vec<PathBuf>,
    files: PathBuf,
    contents: Files,
}

impl Data {
    fn find(args: &Args) -> anyhow::Result<Self> {
        let data = data_folder(args.data.as_deref()).join("0ad");
        let files = published(args.data.as_deref(), "0ad/files.csv.gz")?;
        Ok(Self {
            runs: RUNS.iter().map(|run| data.join(format!("{run}.csv.gz"))).collect(),
            files,
            contents: Files::new(args.game.as_deref())?,
        })
    }

    /// The runs but for one.
    fn without(&self, number: usize) -> Vec<PathBuf> {
        let others = self.runs.iter().enumerate().filter(|(other, _)| *other != number);
        others.map(|(_, run)| run.clone()).collect()
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    let data = Data::find(args)?;
    let chosen = RUNS.iter().position(|run| *run == args.start);
    let chosen = chosen.with_context(|| format!("--start: one of {}", RUNS.join(", ")))?;
    if args.simulated {
        return simulated::run(args, &data);
    }
    live::run(args, &data, chosen)
}
