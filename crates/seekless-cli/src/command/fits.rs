//! `seekless fits`: two tools of astronomers, which read the cheapest bytes first.

mod files;
pub mod histogram;
pub mod rebin;

use crate::output;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use files::Task;
use seekless::device::units::{format_bytes, parse_duration};
use seekless::fits::{Reading, Selector};
use seekless::read::{Plan, Reach};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Make a histogram of a FITS image, or an image of larger pixels, the cheapest bytes first.
///
/// The cached part of the file is read before the rest. Neither reading the rest nor writing the
/// output pushes it out, so that a file somewhat larger than memory is not read from the disk again
/// and again. The results are the same whatever was cached.
///
/// `FILE[2]` or `FILE+2` selects an HDU by its number (the primary is 0); `FILE[SCI]` or
/// `FILE[SCI,2]` selects it by its name and version. Without either, the first image is taken. The
/// other HDUs are copied as they are.
///
/// INFILE may be @LIST, a file with a name a line. OUTFILE is then a folder, and each result has
/// the name of its file. Files that lie in an archive come last: a recall begins when all others
/// have been worked on, or with --recall at once. Of a file with ranges in an archive, these come
/// last. What `--cached-only`, `--max-latency` and `--max-wait` exclude is not opened; each file
/// left out is named with its bytes, and all are counted.
#[derive(ClapArgs, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  seekless fits histogram m13.fits counted.fits INDEF,INDEF 1
  seekless fits rebin m13.fits small.fits 4
  seekless fits rebin @night.lis small/ 4 --max-latency 1s

Exit code: 0, 1 if a file was left out, 2 after an error."
)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Histogram(histogram::Args),
    Rebin(rebin::Args),
}

/// Runs the subcommand.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.verb {
        Verb::Histogram(args) => histogram::run(args),
        Verb::Rebin(args) => rebin::run(args),
    }
}

/// The options of both subcommands.
#[derive(ClapArgs, Clone, Debug)]
struct Common {
    /// Work on this HDU: a number (the primary is 0), or NAME or NAME,VERSION
    #[arg(long, value_name = "N")]
    hdu: Option<String>,
    /// Replace OUTFILE
    #[arg(long, visible_alias = "force")]
    clobber: bool,
    /// Work like a plain program: several passes in the order of the file, written through the page
    /// cache
    #[arg(long)]
    linear: bool,
    /// The order in which each pass reads the file
    #[arg(
        long,
        value_name = "ORDER",
        value_enum,
        default_value_t = Order::Cost,
        conflicts_with = "linear"
    )]
    order: Order,
    /// Leave out files that are not cached whole, and name them
    #[arg(long)]
    cached_only: bool,
    /// Leave out files of which a byte takes longer than this to come, such as one in an archive,
    /// and name them
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    max_latency: Option<u64>,
    /// Leave out files all of which takes longer than this to come, and name them
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    max_wait: Option<u64>,
    /// Recall archived files at once, not after all others
    #[arg(long, conflicts_with = "linear")]
    recall: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    /// Print to standard error the bytes read from each source
    #[arg(long)]
    stats: bool,
}

/// The order of a pass.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Order {
    /// The cheapest bytes first
    Cost,
    /// From the first byte to the last
    Plain,
}

impl From<Order> for Plan {
    fn from(order: Order) -> Self {
        match order {
            Order::Cost => Plan::Best,
            Order::Plain => Plan::Linear,
        }
    }
}

impl Common {
    /// The file and the HDU to work on.
    fn task(&self, name: &Path, output: &Path) -> anyhow::Result<Task> {
        let (input, selector) = Selector::split(name);
        let hdu = match &self.hdu {
            None => selector,
            Some(_) if selector != Selector::FirstImage => {
                anyhow::bail!(
                    "{} names an HDU, and so does --hdu: say it once",
                    output::shown(name)
                )
            }
            Some(hdu) => Selector::parse(hdu),
        };
        Ok(Task { input, hdu, output: output.to_owned() })
    }

    /// How far to go for the bytes of a file. An image lacks no pixels, so that a file is left out
    /// whole.
    fn reach(&self) -> Reach {
        Reach {
            cached_only: self.cached_only,
            max_latency: self.max_latency.map(Duration::from_nanos),
            max_wait: self.max_wait.map(Duration::from_nanos),
            recall: self.recall,
        }
    }

    /// The order of files.
    fn plan(&self) -> Plan {
        if self.linear { Plan::Linear } else { self.order.into() }
    }
}

fn statistics(reading: &Reading) -> String {
    let passes = if reading.passes == 1 {
        "1 pass".to_owned()
    } else {
        format!("{} passes", reading.passes)
    };
    let resident = format_bytes(reading.resident_bytes);
    let absent = format_bytes(reading.device_bytes);
    format!(
        "{passes}, {} read: {resident} resident when asked about, {absent} not, {} of them past the page cache",
        format_bytes(reading.bytes),
        format_bytes(reading.bypassed_bytes)
    )
}

/// `512 x 512`.
fn size(axes: &[u64]) -> String {
    axes.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

fn left_over(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!(
            "not copied: {} behind the last HDU, which belong to none\n",
            format_bytes(bytes)
        ),
    }
}
