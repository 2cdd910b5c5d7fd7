//! `seekless advise`: where the wait of a cold start goes, and what would help; or what a trace
//! shows of either.

mod page;
mod traced;
mod words;

use crate::command::foreign::input;
use crate::interrupt;
use crate::output::{self, Words};
use anyhow::Context;
use seekless::device::DeviceSpec;
use seekless::device::units::parse_duration;
use seekless::sys::inherited::empty_standard_input;
use seekless::sys::output::Content;
use seekless::tools::advise::{Options, advise, quoted};
use seekless::tools::device::named;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Find out why a program starts slowly, and what would help.
///
/// The program is started cold and with its files cached, in turn. The difference is its wait for
/// files: where that goes is shown by cause and by folder. What would help is simulated by the code
/// that would do it, with the costs of the device as reads of the program's files show them now.
/// The best comes first, with the commands that do it. What gains less than 5 % or 20 ms is not
/// offered.
///
/// The program runs 2 × --runs times, and two or three times more to be recorded. While a pack is
/// tried, its files lie twice on the disk. Its standard
/// input is empty; its own output goes where it always goes, and the advice, also with --json, to
/// standard error. Give a program that ends by itself, and that may run several times.
///
/// As root, all caches of the machine are dropped before each cold start, names and inodes too.
/// Other users drop the program's own files: names stay cached, so waiting for these is not seen.
///
/// --verify carries out the measures that change nothing, and times them cold, in turn with the
/// plain start. A layout moves files, so it is left to you.
///
/// With traces instead of a program, no program is run. For traces of a program's files the wait is
/// estimated from what they hold, on the device that --device names. For traces of blocks, objects
/// or a service with few large files, and with --cache, the advice is about a cache: where the knee
/// of LRU's miss ratios is, what twice the cache would hit, and which policy hits more in the
/// second half of the requests, having been chosen on the first. It goes to standard output.
///
/// Time in calls is measured. A touch of a mapped file that had to wait is counted, and taken to
/// wait for one request. What neither explains is a row of its own.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless advise -- python3 -c 'import numpy'
  sudo seekless advise --verify -- git -C ~/src/linux status
  seekless advise --runs 5 --budget 2min -- make -j2
  seekless advise --html start.html -- python3 -c 'import numpy'
  seekless advise --json -- ls 2> advice.json
  seekless advise monday.parquet tuesday.parquet --device iops=500,bandwidth=150MB/s
  seekless advise blocks.oracleGeneral.zst --cache 1GiB")]
pub struct Args {
    /// Traces to look at instead of a program: Parquet, or any format that `trace import` reads,
    /// compressed or not; - is standard input
    #[arg(required_unless_present = "command", conflicts_with_all = ["command", "runs", "budget", "verify"], value_name = "TRACE", value_parser = input())]
    traces: Vec<PathBuf>,
    #[command(flatten)]
    traced: traced::TracedArgs,
    /// Cold starts to time, and as many cached ones
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// Begin no further pair of starts after this time, such as 2min
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<u64>,
    /// Carry out the measures that change nothing, and time them
    #[arg(long)]
    verify: bool,
    /// The device's costs: a name that `seekless devices` lists, iops=N,bandwidth=RATE, or a TOML
    /// file [default: measured by reads of the program's files]
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// Write a page to look at: bars, a timeline of the start, folders and files; of a cache's
    /// trace, its curve
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Print all figures as JSON
    #[arg(long)]
    json: bool,
    /// The program and its arguments
    #[arg(last = true, conflicts_with_all = ["cache", "policy", "unit", "unit_weights", "format", "columns", "binary"], value_name = "CMD")]
    command: Vec<OsString>,
}

/// Starts the program several times, and prints the advice.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.command.is_empty() {
        return traced::run(&args);
    }
    // What may not be written is known before the program runs.
    let html = args.html.as_deref().map(|path| args.force.destination(path));
    let html = html.map(|destination| destination.create(Content::Text)).transpose()?;
    empty_standard_input().context("the program cannot be given an empty input")?;
    let own = std::env::current_exe().context("cannot find the running command")?;
    let options = Options {
        runs: args.runs as usize,
        budget: args.budget.map(Duration::from_nanos),
        costs: args.device.as_ref().map(DeviceSpec::costs),
        verify: args.verify,
        command: launcher(&own),
        cancel: interrupt::cancel_when_interrupted()?,
    };
    let mut tell = |what: &str| {
        if !args.json {
            output::say(format_args!("{what} …"));
        }
    };
    let advice = advise(&args.command, &options, &mut tell);
    let Some(advice) = interrupt::finished(advice)? else {
        return Ok(interrupt::exit_code());
    };
    if let Some(mut html) = html {
        let written = html.write_all(page::page(&advice, &repeated()).as_bytes());
        written.with_context(|| format!("cannot write {}", output::shown(html.path())))?;
        html.publish()?;
    }
    match args.json {
        true => Words::Error.json(&advice)?,
        false => Words::Error.text(&words::report(&advice))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The command line that repeats this.
fn repeated() -> String {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    format!("seekless {}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// The command that users call, which stands beside the one that runs.
fn launcher(own: &std::path::Path) -> PathBuf {
    let beside = own.with_file_name("seekless");
    if beside.is_file() { beside } else { own.to_owned() }
}
