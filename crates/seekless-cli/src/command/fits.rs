//! `seekless fits`: two tools of astronomers, which read the cheapest bytes first.

pub mod histogram;
pub mod rebin;

use crate::output;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use seekless::device::units::{format_bytes, format_duration, parse_duration};
use seekless::fits::{Reading, Selector};
use seekless::sled::{Plan, Surveyor};
use serde::Serialize;
use std::path::{Path, PathBuf};
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
#[derive(ClapArgs, Debug)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  seekless fits histogram m13.fits counted.fits INDEF,INDEF 1
  seekless fits rebin m13.fits small.fits 4"
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
#[derive(ClapArgs, Debug)]
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
    /// Do nothing if a byte of the file takes longer than this to come, such as one in an archive
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    max_latency: Option<u64>,
    /// Do nothing if all of the file takes longer than this to come
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    max_wait: Option<u64>,
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
    fn input(&self, name: &Path) -> anyhow::Result<(PathBuf, Selector)> {
        let (path, selector) = Selector::split(name);
        self.check_reach(&path)?;
        Ok(match &self.hdu {
            None => (path, selector),
            Some(_) if selector != Selector::FirstImage => {
                anyhow::bail!(
                    "{} names an HDU, and so does --hdu: say it once",
                    output::shown(name)
                )
            }
            Some(hdu) => (path, Selector::parse(hdu)),
        })
    }

    /// Fails if the file is beyond a bound of the user's. It is not opened where that might recall
    /// it. An image lacks no pixels, so that all of it counts.
    fn check_reach(&self, path: &Path) -> anyhow::Result<()> {
        if self.max_latency.is_none() && self.max_wait.is_none() {
            return Ok(());
        }
        let survey = Surveyor::new()?.path(path)?;
        let beyond = |most: Option<u64>, time: Duration| {
            most.filter(|most| time > Duration::from_nanos(*most)).map(format_duration)
        };
        let farthest = survey.sleds.iter().map(|sled| sled.latency).max().unwrap_or_default();
        if let Some(most) = beyond(self.max_latency, farthest) {
            anyhow::bail!(
                "{}: some of it is {} away, more than {most}: nothing was read",
                output::shown(path),
                format_duration(farthest.as_nanos() as u64)
            );
        }
        let wait = survey.delivery_time(Plan::Best, None).high;
        if let Some(most) = beyond(self.max_wait, wait) {
            anyhow::bail!(
                "{}: it takes {} to come, more than {most}: nothing was read",
                output::shown(path),
                format_duration(wait.as_nanos() as u64)
            );
        }
        Ok(())
    }

    /// Prints the report in the form that the user chose: `text`, or JSON.
    fn print(&self, reading: &Reading, report: &impl Serialize, text: &str) -> anyhow::Result<()> {
        if self.stats {
            output::note(&(statistics(reading) + "\n"));
        }
        if self.json { output::json(report) } else { output::text(text) }
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
