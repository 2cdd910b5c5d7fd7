//! `seekless advise`: where the wait of a cold start goes, and what would help; or what a trace
//! shows of either.

mod page;
mod recorded;
mod traced;
mod words;

use crate::command::foreign::input;
use crate::command::record::trace_file;
use crate::interrupt;
use crate::output::{self, Words};
use anyhow::{Context, bail};
use clap::ArgGroup;
use seekless::device::DeviceSpec;
use seekless::device::units::parse_duration;
use seekless::sys::inherited::empty_standard_input;
use seekless::tools::advise::{Options, advise};
use seekless::tools::device::named;
use std::ffi::OsString;
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
/// What it tries of a program: `run` and `warm` (its files brought in beside it), a pack of its
/// files (`run --mount auto`), a `layout` in the order of need, another readahead of the device,
/// and shorter search paths: PATH, PYTHONPATH, LD_LIBRARY_PATH, include folders, node_modules. From
/// traces also a pack whose list of loads is known. Of a container image: a layer in order, and a
/// list for a lazy layer (eStargz, nydus, SOCI). Of a cache: its size, policy, write-back and
/// readahead.
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
/// --once is for a program that must not run several times. It is recorded once, as you would start
/// it: nothing is dropped, its input and its exit status are its own (125 to 127 are as `record`
/// has them). Its wait is estimated from the recording, as if nothing had been cached.
///
/// --service records a program that runs already, as `record --pid` does, until --for or Ctrl-C;
/// then it runs on. The advice is on its files, as of a trace, and on the page cache that serves
/// its reads: LRU's knee, policies, write-back and readahead.
///
/// With traces instead of a program, no program is run. For traces of a program's files the wait is
/// estimated from what they hold, on the device that --device names. For traces of blocks, objects
/// or a service with few large files, and with --cache, the advice is about a cache: where the knee
/// of LRU's miss ratios is, what twice the cache would hit, and which policy hits most; beside it
/// stands what the second half of the requests gains from a choice on the first half. It goes to
/// standard output.
///
/// Time in calls is measured. A touch of a mapped file that had to wait is counted, and taken to
/// wait for one request. What neither explains is a row of its own.
#[derive(clap::Args, Debug)]
#[command(
    group = ArgGroup::new("recording").args(["once", "service"]),
    after_help = "\
Examples:
  seekless advise -- python3 -c 'import numpy'
  sudo seekless advise --verify -- git -C ~/src/linux status
  seekless advise --runs 5 --budget 2min -- make -j2
  seekless advise --html start.html -- python3 -c 'import numpy'
  seekless advise --json -- ls 2> advice.json
  seekless advise --once -- make -j2
  sudo seekless advise --service 1234 --for 1min
  seekless advise monday.parquet tuesday.parquet --device iops=500,bandwidth=150MB/s
  seekless advise blocks.oracleGeneral.zst --cache 1GiB"
)]
pub struct Args {
    /// Traces to look at instead of a program: Parquet, or any format that `trace import` reads,
    /// compressed or not, also in object storage (s3://BUCKET/KEY); - is standard input
    #[arg(required_unless_present_any = ["command", "service"], conflicts_with_all = ["command", "runs", "budget", "verify", "recording"], value_name = "TRACE", value_parser = input())]
    traces: Vec<PathBuf>,
    /// Record the program once, as you would start it, and estimate its wait: for a program that
    /// must not run several times
    #[arg(long, requires = "command", conflicts_with_all = ["runs", "budget", "verify"])]
    once: bool,
    /// Record a program that runs already, by its process, and advise on its files and its cache
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with_all = ["command", "runs", "budget", "verify", "format", "columns", "binary", "unit", "unit_weights"])]
    service: Option<i32>,
    /// How long to record a service, unless Ctrl-C ends it before
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, default_value = "30s", conflicts_with_all = ["command", "traces"])]
    time_ns: u64,
    /// Keep the recording of --once or --service in this file
    #[arg(short, long, value_name = "TRACE", value_parser = trace_file())]
    output: Option<PathBuf>,
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
    #[command(flatten)]
    html: output::HtmlFile,
    #[command(flatten)]
    force: output::Force,
    /// Print all figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    traced: traced::TracedArgs,
    /// The program and its arguments
    #[arg(last = true, conflicts_with_all = ["cache", "policy", "unit", "unit_weights", "format", "columns", "binary"], value_name = "CMD")]
    command: Vec<OsString>,
}

/// Finds out, and prints the advice.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.command.is_empty() && args.html.is_standard_output() {
        bail!("--html -: standard output is the program's; name a file, such as --html start.html");
    }
    if args.output.is_some() && !args.once && args.service.is_none() {
        bail!("-o keeps the recording of --once or --service: give one of them");
    }
    match args.service {
        Some(pid) => recorded::service(&args, pid),
        None if args.once => recorded::once(&args),
        None if args.command.is_empty() => traced::run(&args),
        None => timed(&args),
    }
}

/// Starts the program several times, and prints the advice.
fn timed(args: &Args) -> anyhow::Result<ExitCode> {
    // What may not be written is known before the program runs.
    let html = args.html.begin(args.force)?;
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
    let advice = advise(&args.command, &options, &mut |what| args.tell(what));
    let Some(advice) = interrupt::finished(advice)? else {
        return Ok(interrupt::exit_code());
    };
    match args.json {
        true => Words::Error.json(&advice)?,
        false => Words::Error.text(&words::report(&advice))?,
    }
    if let Some(html) = html {
        html.write(page::page(&advice), page::found(&advice))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Says what is done now, but for programs that read JSON.
    fn tell(&self, what: &str) {
        if !self.json {
            output::say(format_args!("{what} …"));
        }
    }
}

/// The command that users call, which stands beside the one that runs.
fn launcher(own: &std::path::Path) -> PathBuf {
    let beside = own.with_file_name("seekless");
    if beside.is_file() { beside } else { own.to_owned() }
}
