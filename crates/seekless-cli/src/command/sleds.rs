//! `seekless sleds`: shows what each range of a file costs to read now.

mod bar;
mod figures;
mod words;

use crate::{exit, output};
use anyhow::Context;
use figures::{Figures, FolderFigures, Shown};
use seekless::device::units::parse_duration;
use seekless::engine::ObjectName;
use seekless::io::DiskCacheSettings;
use seekless::sled::{Config, Devices, Server, ServerOptions, Surveyor, Turnover};
use seekless::tools::sleds::{object, sum_up};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Show what each range of a file costs to read now: where it is, the latency to its first byte,
/// the bandwidth from then on.
///
/// For a folder, the bytes of all files below it are added up by level, with the time to deliver
/// them. Links are not followed. Files that cannot be examined are reported and left out.
///
/// This reads no data and recalls nothing from an archive. The times are for delivering the whole
/// file: linearly from its first byte to its last, and in the best order, cached data first. They
/// are ranges if the state is unknown, or if a linear reader might push out cached data before it
/// gets there.
///
/// Of an object in object storage, the disk cache may have a part; the rest costs a request. What
/// that costs is seen from a few requests, unless `seekless probe` has measured it.
///
/// A device's costs come from the device table (`seekless probe PATH`), otherwise they are assumed.
/// Mounts, archives, cache files and other machines are described in
/// $XDG_CONFIG_HOME/seekless/sleds.toml; see docs/reference/sleds.md.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless sleds film.mkv
  seekless sleds ~/photos                                how much of it is cached
  seekless sleds --json *.fits | jq '.[] | {file, best: .total_s.best.high}'
  seekless sleds s3://bucket/data.zip                    what the disk cache has of it
  seekless sleds --watch film.mkv                        again every second
  seekless sleds --serve 10.0.0.5:7007 --root /export    answer other machines
  seekless sleds --mock demo/tape.bin                    as demo/tape.bin.sleds.toml says

Exit status: 0, or 2 if a file could not be asked about.")]
pub struct Args {
    /// Files and folders to examine, or objects as s3://BUCKET/KEY, gs://, az:// or https://
    #[arg(value_name = "FILE", required_unless_present = "serve")]
    files: Vec<PathBuf>,
    /// Print the figures as JSON, one document (with --watch, one a line)
    #[arg(long)]
    json: bool,
    /// Repeat after this time, until interrupted
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "1s", value_parser = interval)]
    watch: Option<Duration>,
    /// Take SLEDs from FILE.sleds.toml if it exists, to try levels that this machine lacks
    #[arg(long)]
    mock: bool,
    /// Use this configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use this device table
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Serve other machines, at this address and port, the SLEDs of files below --root
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["files", "json", "watch"], requires = "root")]
    serve: Option<String>,
    /// A folder whose files, at any depth, --serve may report
    #[arg(long, value_name = "DIR", requires = "serve")]
    root: Vec<PathBuf>,
}

fn interval(text: &str) -> Result<Duration, String> {
    let nanos = parse_duration(text).map_err(|error| error.to_string())?;
    match nanos {
        0 => Err("the time must be above 0, such as 1s".to_owned()),
        nanos => Ok(Duration::from_nanos(nanos)),
    }
}

/// Examines the files and prints, or serves.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut surveyor = surveyor(&args)?;
    if let Some(address) = &args.serve {
        return serve(address, &args.root, surveyor);
    }
    let Some(interval) = args.watch else {
        let seen = look(&args, &mut surveyor, None);
        let failed = seen.iter().any(|seen| match seen {
            Ok(Shown::Folder(folder)) => folder.unreadable > 0,
            Ok(Shown::File(_)) => false,
            Err(_) => true,
        });
        print(&args, &seen)?;
        return Ok(ExitCode::from(if failed { exit::ERROR } else { 0 }));
    };
    let mut earlier = None;
    loop {
        let started = Instant::now();
        let seen = look(&args, &mut surveyor, earlier.as_ref());
        earlier = Turnover::look().ok();
        if !args.json && output::is_shown() {
            output::clear()?;
        }
        print(&args, &seen)?;
        std::thread::sleep(interval.saturating_sub(started.elapsed()));
    }
}

fn surveyor(args: &Args) -> anyhow::Result<Surveyor> {
    let mut config = match &args.config {
        Some(path) => Config::read(path)?,
        None => Config::load()?,
    };
    config.mock_files |= args.mock;
    let devices = match &args.table {
        Some(path) => Devices::read(path)?,
        None => Devices::load()?,
    };
    Ok(Surveyor::with(config, devices))
}

/// The figures of a file or folder, or the message of an error.
type Seen = Result<Shown, String>;

fn look(args: &Args, surveyor: &mut Surveyor, earlier: Option<&Turnover>) -> Vec<Seen> {
    let now = Turnover::look().ok();
    let room = now.map(|now| now.room_bytes);
    let residence = now.and_then(|now| now.residence(earlier));
    let cache = DiskCacheSettings::none().on_trouble(|words: &str| output::say(words));
    let mut look = |path: &PathBuf| {
        if ObjectName::is_meant(path) {
            let survey = object(path, &cache, surveyor);
            let survey = survey.map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
            return Ok(Shown::File(Figures::new(path, survey, room, residence)));
        }
        if path.is_dir() {
            let mut progress = output::progress("Asking");
            let mut complain = |why: String| complain(why);
            let sum = sum_up(path, surveyor, room, &mut complain, &mut progress);
            return Ok(Shown::Folder(FolderFigures::new(path, sum, room, residence)));
        }
        let survey = surveyor.path(path).map_err(|error| error.to_string())?;
        Ok(Shown::File(Figures::new(path, survey, room, residence)))
    };
    args.files.iter().map(&mut look).collect()
}

fn complain(why: impl std::fmt::Display) {
    let why = why.to_string();
    output::say(&why);
    exit::hint(&why);
}

fn print(args: &Args, seen: &[Seen]) -> anyhow::Result<()> {
    for error in seen.iter().filter_map(|seen| seen.as_ref().err()) {
        complain(error);
    }
    let figures: Vec<&Shown> = seen.iter().flatten().collect();
    match (args.json, args.watch) {
        (true, None) => output::json(&figures),
        (true, Some(_)) => output::json_line(&figures),
        _ => {
            let colour = output::is_shown() && std::env::var_os("NO_COLOR").is_none();
            let texts: Vec<String> =
                figures.iter().map(|figures| words::report(figures, colour)).collect();
            output::coloured(&texts.join("\n"))
        }
    }
}

fn serve(address: &str, roots: &[PathBuf], surveyor: Surveyor) -> anyhow::Result<ExitCode> {
    let options = ServerOptions { roots: roots.to_vec(), ..ServerOptions::default() };
    let server = Server::bind(address, options, surveyor)
        .with_context(|| format!("cannot serve at {address}"))?;
    output::text(&format!("serving at {}\n", server.address()?))?;
    server.run()?;
    Ok(ExitCode::SUCCESS)
}
