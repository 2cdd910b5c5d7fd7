//! `seekless warm`: brings what programs will read into the page cache, before they start.

use crate::{interrupt, output};
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_duration, parse_bytes};
use seekless::tools::device::named;
use seekless::tools::roots::{Root, Roots};
use seekless::tools::warm::{Options, Warmed, warm};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bring what recorded runs needed into the page cache.
///
/// Asks only for the ranges that the runs read or touched, what the newest run needed first taken
/// first. Ranges are joined where reading the gap between them costs less than another request. So
/// a program that maps large libraries and touches a tenth of them waits for that tenth only. What
/// is cached already costs nothing.
///
/// SOURCE is a trace of `seekless record`, or any trace that `seekless trace import` takes; or a
/// list of files, one path a line, which are brought in whole, as `vmtouch -b` does. A file that
/// has another size than when it was recorded is left out, since its ranges are no longer true.
/// Only regular files that you may read are opened.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless record -o start.parquet -- python3 -c 'import numpy'
  seekless warm start.parquet
  seekless warm start.parquet --dry-run            how much, how many requests, how long
  seekless warm runs/*.parquet --within /usr --budget 500MB
  seekless warm files.txt                          a list of files, whole")]
pub struct Args {
    /// Traces, the last being the newest, or lists of files
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Say what would be brought in, and bring nothing in
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Only files below this folder; may be given several times
    #[arg(long, value_name = "DIR")]
    within: Vec<PathBuf>,
    /// Files that a trace names below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Bring in at most so much
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    budget: Option<u64>,
    /// What the device charges: a name that `seekless devices` lists, iops=N,bandwidth=RATE, or a
    /// TOML file [default: as `seekless probe` measured it]
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Brings files in and prints what that took.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = Options {
        roots: Roots::new(args.root),
        within: args.within,
        budget_bytes: args.budget,
        costs: args.device.map(|device| device.costs()),
        dry_run: args.dry_run,
        cancel: interrupt::cancel_when_interrupted()?,
    };
    let mut progress = output::counting("Bringing in", "file");
    let warmed = warm(&args.sources, &options, &mut progress);
    drop(progress);
    let Some(warmed) = interrupt::finished(warmed)? else { return Ok(interrupt::exit_code()) };
    if args.json {
        output::json(&warmed)?;
    } else {
        output::text(&report(&warmed, args.dry_run))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(warmed: &Warmed, dry: bool) -> String {
    let mut text =
        format!("{}: {} needed", counted(warmed.files, "file"), format_bytes(warmed.needed_bytes));
    if warmed.asked_bytes > warmed.needed_bytes {
        let _ = write!(text, ", {} with the gaps worth reading", format_bytes(warmed.asked_bytes));
    }
    match warmed.cached_bytes {
        Some(cached) => {
            let missing = warmed.asked_bytes.saturating_sub(cached);
            let _ = write!(text, "; {} cached already", format_bytes(cached));
            let _ = write!(text, "\n{} in ", format_bytes(missing));
        }
        None => text += "; how much is cached the kernel does not tell\nall in ",
    }
    let _ = write!(text, "{}", counted(warmed.requests, "request"));
    let expected = format_duration((warmed.expected_s * 1e9) as u64);
    let costs = if warmed.assumed {
        " (costs of the device assumed: `seekless probe` measures them)"
    } else {
        ""
    };
    match dry {
        true => {
            let _ = writeln!(text, ", some {expected} one at a time{costs}");
        }
        false => {
            let took = format_duration((warmed.seconds * 1e9) as u64);
            let _ = writeln!(text, ", in {took}");
        }
    }
    for (why, count) in &warmed.left_out {
        let _ = writeln!(text, "left out, {why}: {}", counted(*count, "file"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_what_was_needed_and_what_it_took() {
        let warmed = Warmed {
            files: 39,
            needed_bytes: 200_000_000,
            asked_bytes: 300_000_000,
            cached_bytes: Some(100_000_000),
            requests: 400,
            expected_s: 2.5,
            seconds: 1.25,
            assumed: true,
            left_out: [("no longer there", 1)].into(),
        };
        assert_eq!(
            report(&warmed, false),
            "39 files: 200.0 MB needed, 300.0 MB with the gaps worth reading; 100.0 MB cached already\n\
             200.0 MB in 400 requests, in 1.25 s\nleft out, no longer there: 1 file\n"
        );
        assert_eq!(
            report(&Warmed { left_out: [].into(), ..warmed }, true),
            "39 files: 200.0 MB needed, 300.0 MB with the gaps worth reading; 100.0 MB cached already\n\
             200.0 MB in 400 requests, some 2.50 s one at a time (costs of the device assumed: \
             `seekless probe` measures them)\n"
        );
    }
}
