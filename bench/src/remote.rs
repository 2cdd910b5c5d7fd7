//! A start of 0 A.D. from object storage, from a pack whose order and prediction were made without
//! it, beside other ways to load the same files from there.
//!
//! The server is `versitygw` on loopback; a proxy of ours before it lets each answer wait, limits
//! each stream, and counts. Each way begins with an empty cache and a new client. What programs
//! need before they ask for the first file, such as imports and mounting, is not timed, and the
//! opening of our pack is.

#[cfg(feature = "remote")]
mod engine;
#[cfg(feature = "remote")]
mod huge;
#[cfg(feature = "remote")]
mod imports;
#[cfg(feature = "remote")]
mod live;
#[cfg(feature = "remote")]
mod means;
#[cfg(feature = "remote")]
mod prepared;
#[cfg(feature = "remote")]
mod price;
#[cfg(feature = "remote")]
mod programs;
#[cfg(feature = "remote")]
mod simulated;
#[cfg(feature = "remote")]
mod storage;
#[cfg(feature = "remote")]
mod tables;
#[cfg(feature = "remote")]
mod way;

use crate::game::HOW_TO_GET;
use seekless::device::Price;
use seekless::device::units::parse_rate;
use seekless_results::Table;
use std::path::PathBuf;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
#[command(after_help = HOW_TO_GET)]
pub(crate) struct Args {
    /// The start that is loaded, and that order and prediction do not know
    #[arg(long, default_value = "arcadia", value_name = "START")]
    start: String,
    /// Mean time before an answer begins, in milliseconds; several give a row each
    #[arg(long, default_value = "20", value_delimiter = ',', value_name = "MS")]
    delay_ms: Vec<u64>,
    /// The least time before an answer, and the greatest, differ from the mean by this share
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    spread: f64,
    /// Bandwidth of a stream
    #[arg(long, default_value = "50MB/s", value_parser = parse_rate, value_name = "RATE")]
    stream: u64,
    /// The store's cache in MiB; by default what a store of an object has
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    cache: u64,
    /// Timed rounds; a way that takes over 20 s has a turn in the first only
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// A rival that takes longer is ended; the table says how much it has loaded
    #[arg(long, default_value_t = 40, value_name = "SECONDS")]
    limit: u64,
    /// Only ways whose names hold one of these words
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    only: Vec<String>,
    /// Little work: one file in twenty, one round, rivals for 5 s each
    #[arg(long)]
    quick: bool,
    /// A provider's prices, by its name, or requests=USD,lists=USD,egress=USD for a thousand
    /// requests, a thousand that list names, and a gigabyte that leaves the provider's network
    #[arg(long, default_value = "s3", value_name = "PRICES")]
    price: Price,
    /// Folder for the objects, some 9 GB, removed at the end
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    folder: PathBuf,
    /// Folder for the objects that stays: made if it is not there, else used as it is
    #[arg(long, value_name = "DIR", conflicts_with = "folder")]
    keep: Option<PathBuf>,
    /// In place of the game: a pack of so many entries of 100 kB is opened, and some are loaded
    #[arg(long, value_name = "N", conflicts_with = "packages")]
    entries: Option<u64>,
    /// In place of the game: an import from a mounted pack of these Python packages, beside the
    /// same from the local disk
    #[arg(long, value_name = "DIR")]
    packages: Option<PathBuf>,
    /// The Python that imports
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// What it imports
    #[arg(long, value_name = "MODULES", default_value = "pandas")]
    import: String,
    /// Folder that holds 0ad/ (five runs, and all files)
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder that holds public/ and mod/ of the game: its own files, which name each other, in
    /// place of made ones of their names and sizes (see below)
    #[arg(long, value_name = "DIR")]
    game: Option<PathBuf>,
}

#[cfg(feature = "remote")]
pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    if let Some(entries) = args.entries {
        return huge::run(args, entries);
    }
    match &args.packages {
        Some(packages) => imports::run(args, packages),
        None => live::run(args),
    }
}

#[cfg(not(feature = "remote"))]
pub(crate) fn run(_: &Args) -> anyhow::Result<Vec<Table>> {
    anyhow::bail!("this build reads no object storage: `./run bench remote` builds one that does")
}

/// Whether it can be run: this build reads object storage, and there is a server.
pub(crate) fn is_there() -> bool {
    #[cfg(feature = "remote")]
    return programs::missing("versitygw", "--version").is_none();
    #[cfg(not(feature = "remote"))]
    false
}
