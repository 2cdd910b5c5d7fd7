//! `seekless probe`: measures what a device costs, once, and keeps the figures; with `--inside` or
//! `--save`, what it is inside, and as a device model.

mod inside;
mod object;

use crate::next::{self, Found};
use crate::output::table;
use crate::output::{self, Words};
use seekless::device::units::{format_bytes, format_duration};
use seekless::device::{DeviceSpec, Origin};
use seekless::engine::ObjectName;
use seekless::sled::Devices;
use seekless::tools::device::named;
use seekless::tools::probe::{Options, Probe, known, probe, probe_memory};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Measure what a device costs: the latency to the first byte, and the bandwidth from then on.
///
/// Reads at most 1 GiB in at most three seconds, past the page cache (O_DIRECT), from PATH: a block
/// device, a large file, or the largest files below a folder. Never writes to the device. The
/// figures go to the user's device table ($XDG_STATE_HOME/seekless/devices.toml), or with --system
/// to the machine's (/etc/seekless/devices.toml); the user's takes precedence. `seekless sleds` and
/// all tools that read the cheapest bytes first use them. A device that is in the table is shown
/// and not measured again, unless --refresh is given. A device that the control group throttles
/// counts as another device. Figures in $XDG_CONFIG_HOME/seekless/sleds.toml take precedence over
/// measured ones.
///
/// Where the data of PATH spans at least 4 GiB of the device, the bandwidth is measured at five
/// places. If it differs by more than the reads of one place differ, as on a disk, whose outer
/// tracks are faster, the table gets zones, and `sleds` uses the zone in which each extent lies.
///
/// Without PATH, shows all measured devices.
///
/// --save FILE.toml measures the latency of reads by size (4 KiB to 1 MiB) and by how many run at
/// once (1 to 32), the rate of sequential reads, and how reads are answered: whether a cache behind
/// the device has what was read, whether it reads ahead, and whether a limit of bytes a second
/// holds. This takes about fifteen seconds and at most 4 GB. The file is a device that --device
/// takes everywhere.
///
/// --inside finds out what the timing of single reads shows: of a disk its rotation, tracks, skews,
/// heads, zones, seek curve and cache (about 20,000 reads of one sector and some tens of MB; two to
/// ten minutes); of a flash drive its page, chunk, the number of planes that work at once, and its
/// channels (about 50,000 reads and 2 GB; under a minute). PATH is a block device, or a file that
/// lies in one piece of at least 32 MiB. Each figure comes with the number of standard errors that
/// speak for it. A figure with fewer than three is called unidentifiable, with the reason. Behind a
/// host's cache or a cloud volume's limits all are; then the latencies are measured as with --save.
///
/// Of an object in object storage (s3://BUCKET/KEY, gs://, az://, https://) the time to the first
/// byte is measured, the bandwidth of one stream, and how many requests run at once: some 300
/// requests and 40 MB. The first two are kept in the device table as those of its bucket, for
/// `seekless sleds`.
///
/// Nothing is written, unless --destroy-data says so. Then PATH is a regular file with nothing of
/// value in it, or an unmounted block device, and its data is lost. Writes show how a flash drive
/// maps pages, and how long writes take. Refused are folders, links, files that a process has open,
/// and devices that are mounted, have mounted partitions, or are part of another device.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless probe /data
  seekless probe /data/film.mkv --refresh
  sudo seekless probe --system /data  for all users of this machine
  seekless probe --memory            what reading cached data costs
  seekless probe /data/film.mkv --save drive.toml
  seekless sim run.parquet --device drive.toml
  seekless probe s3://bucket/data.zip --save mine.toml
  seekless probe /dev/sdb --inside --save sdb.toml --picture sdb.svg
  seekless probe --inside --device t7k250 --noise 3   try it on a model
  seekless probe --json | jq '.[] | {device, latency_s, bandwidth}'")]
pub struct Args {
    /// A large file, a folder with large files below it, or an object in object storage
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Measure again a device that is in the table
    #[arg(long)]
    refresh: bool,
    /// Measure the page cache
    #[arg(long, conflicts_with = "path")]
    memory: bool,
    /// Keep the figures in this device table
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Keep the figures in the machine's table, for all its users (root)
    #[arg(long, conflicts_with_all = ["table", "inside", "save", "picture", "device"])]
    system: bool,
    /// Find out what the device is inside
    #[arg(long, conflicts_with_all = ["memory", "refresh", "table"])]
    inside: bool,
    /// Keep the device as a model in this file, .toml
    #[arg(long, value_name = "FILE", conflicts_with_all = ["memory", "refresh", "table"])]
    save: Option<PathBuf>,
    /// Draw each curve into this file, .svg or .png; - is standard output
    #[arg(long, value_name = "FILE", value_parser = output::picture_file, conflicts_with_all = ["memory", "refresh", "table"])]
    picture: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Write too: the data of PATH is lost
    #[arg(long, requires = "path", conflicts_with_all = ["memory", "refresh", "table", "device"])]
    destroy_data: bool,
    /// Time that --inside may take on the device
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Probe this device model in virtual time, instead of PATH
    #[arg(long, value_name = "DEVICE", value_parser = named, conflicts_with_all = ["path", "memory", "refresh", "table"])]
    device: Option<DeviceSpec>,
    /// With --device: the error with which times are read, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, requires = "device", value_parser = percent)]
    noise: f64,
    /// Choose places by this number, not by the clock
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Measures the device or looks it up, and prints its figures.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = args.path.as_deref().filter(|path| ObjectName::is_meant(path)) {
        return object::run(path, &args);
    }
    let models = args.inside || args.save.is_some() || args.picture.is_some();
    if models || args.destroy_data || args.device.is_some() {
        return inside::run(&args);
    }
    let table = table_of(&args);
    let options = Options { refresh: args.refresh, table, ..Options::default() };
    let probed = if args.memory {
        probe_memory(&options)?
    } else if let Some(path) = &args.path {
        let mut progress = output::progress("Measuring");
        let probed = probe(path, &options, &mut progress);
        drop(progress);
        probed?
    } else {
        return list(&args);
    };
    if args.json {
        output::json(&probed)?;
    } else {
        output::text(&report(&probed))?;
        next::say(Words::Output, &Found::Probed)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The device table that the words name. `None`: the user's.
fn table_of(args: &Args) -> Option<PathBuf> {
    let machine = args.system.then(|| Devices::machine_path().to_owned());
    args.table.clone().or(machine)
}

/// Parses a share in percent.
fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("write a number from 0 to 100".to_owned()),
    }
}

/// A row of the list of devices.
#[derive(Serialize)]
struct Known<'a> {
    device: &'a str,
    latency_s: f64,
    bandwidth: u64,
    origin: Origin,
    measured_unix_s: u64,
    conditions: &'a str,
}

fn list(args: &Args) -> anyhow::Result<ExitCode> {
    let (path, devices) = known(table_of(args).as_deref())?;
    let rows: Vec<Known<'_>> = devices
        .entries()
        .map(|(device, entry)| Known {
            device,
            latency_s: entry.row.at(0).latency_ns as f64 / 1e9,
            bandwidth: entry.row.at(0).bytes_per_second,
            origin: entry.row.origin,
            measured_unix_s: entry.measured_unix_s,
            conditions: &entry.conditions,
        })
        .collect();
    if args.json {
        output::json(&rows)?;
    } else if rows.is_empty() {
        output::text(&format!(
            "nothing measured yet ({}): seekless probe PATH\n",
            output::shown(&path)
        ))?;
    } else {
        let cells = rows.iter().map(|row| {
            vec![
                row.device.to_owned(),
                seconds(row.latency_s),
                rate(row.bandwidth),
                word(row.origin).to_owned(),
                ago(row.measured_unix_s),
            ]
        });
        output::text(&table(
            &["device", "latency", "bandwidth", "from", "measured"],
            cells.collect(),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(probed: &Probe) -> String {
    let mut text = format!("{}\n", output::line(&probed.device));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<11} {}", output::line(&value));
    };
    let late = probed
        .latency_p90_s
        .map_or(String::new(), |late| format!("  (9 of 10 within {})", seconds(late)));
    line("latency", seconds(probed.latency_s) + &late);
    line("bandwidth", rate(probed.bandwidth));
    for zone in &probed.zones {
        let from = format_bytes(zone.from_byte);
        line("zone", format!("{} from {from} on", rate(zone.bytes_per_second)));
    }
    line("figures", word(probed.origin).to_owned());
    if let Some(when) = probed.measured_unix_s {
        line("measured", ago(when));
    }
    line("conditions", probed.conditions.clone());
    if let Some(calibration) = &probed.calibration {
        line("first byte", format_duration(calibration.first_byte_ns));
        line("one at once", rate(calibration.single_bytes_per_second));
        if let Some(several) = calibration.parallel_bytes_per_second {
            line(&format!("{} at once", calibration.depth), rate(several));
        }
    }
    line("kept in", output::shown(&probed.table).into_owned());
    if let Some(calibration) = &probed.calibration {
        let rows = calibration.sizes.iter().map(|size| {
            let (median, late) = (format_duration(size.median_ns), format_duration(size.p90_ns));
            vec![kib(size.bytes), size.reads.to_string(), median, late]
        });
        text.push('\n');
        text += &table(&["read of", "times", "median", "9 of 10"], rows.collect());
    }
    text
}

fn kib(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

fn seconds(seconds: f64) -> String {
    format_duration((seconds * 1e9).round() as u64)
}

fn rate(bytes_per_second: u64) -> String {
    format!("{}/s", format_bytes(bytes_per_second))
}

fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Calibrated => "measured",
        Origin::Refined => "measured, and corrected by reads since",
        Origin::Given => "yours",
        _ => "assumed",
    }
}

fn ago(unix_s: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match now.saturating_sub(unix_s) {
        0..120 => "just now".to_owned(),
        seconds if seconds < 7200 => format!("{} min ago", seconds / 60),
        seconds if seconds < 172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}
