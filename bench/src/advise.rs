//! Is the advice true? `seekless advise --verify` of some programs, on the disk itself, with its
//! requests limited, and behind a slow FUSE file system: the start that it expects of its best
//! measure, beside the one that it then measures. Needs root.

mod programs;

use crate::command::Commands;
use crate::folder::Folder;
use crate::programs::cases::{Case, Places};
use crate::rounds::load_average;
use anyhow::{Context, ensure};
use programs::{ALL, Making};
use seekless::device::DeviceSpec;
use seekless::measure::Slowed;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use seekless_testing::{Delayed, Delays};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;
use std::time::Duration;

/// A figure is right if it is off by less than this share of what was measured, or these seconds.
const OFF_SHARE: f64 = 0.2;
const OFF_S: f64 = 0.05;
/// What is offered gains at least this share of a start, and these seconds.
const GAIN_SHARE: f64 = 0.05;
const GAIN_S: f64 = 0.02;
/// The measure put first is the best if it takes at most so many times the best one's start.
const BEST: f64 = 1.1;
/// Where nothing is offered, nothing may gain this share.
const LARGE_SHARE: f64 = 0.15;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only these programs, by a part of their names
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Where to measure: `none` is the disk itself, limits slow it, `fuse=MS` is a FUSE file system
    /// that takes these milliseconds for each read, 64 at once
    #[arg(
        long,
        value_name = "DEVICE",
        value_delimiter = ';',
        default_value = "none;iops=500,bandwidth=150MB;fuse=2"
    )]
    devices: Vec<Device>,
    /// A folder of Python packages, for imports (`pip install --target DIR pandas matplotlib`)
    #[arg(long, value_name = "DIR")]
    packages: Option<PathBuf>,
    /// The Python to start
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Rows of sqlite3's table, of 1 KB each
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Starts of each kind
    #[arg(long, default_value_t = 3)]
    runs: usize,
    #[command(flatten)]
    commands: Commands,
}

/// Reads that the FUSE file system serves at once.
const AT_ONCE: u16 = 64;

/// Where programs are measured.
#[derive(Clone, Debug, PartialEq)]
enum Device {
    Disk,
    Limited { words: String, iops: u64, bytes_per_second: u64 },
    Fuse { delay_ms: f64 },
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::Disk);
        }
        if let Some(delay_ms) = text.strip_prefix("fuse=") {
            let delay_ms: Option<f64> = delay_ms.parse().ok();
            let delay_ms = delay_ms.filter(|it| it.is_finite() && *it >= 0.0);
            return Ok(Self::Fuse {
                delay_ms: delay_ms.ok_or("fuse=MS: milliseconds, 0 or more")?,
            });
        }
        match text.parse().map_err(|error| format!("{error}"))? {
            DeviceSpec::Volume { iops, bytes_per_second } => {
                Ok(Self::Limited { words: text.to_owned(), iops, bytes_per_second })
            }
            _ => Err("expected none, iops=N,bandwidth=RATE or fuse=MS".into()),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Disk => out.write_str("the disk itself"),
            Self::Limited { words, .. } => out.write_str(words),
            Self::Fuse { delay_ms } => write!(out, "FUSE, {delay_ms} ms a read"),
        }
    }
}

/// What was expected and measured of one program on one device, in seconds.
#[derive(Serialize)]
struct Row {
    program: String,
    device: String,
    cold: f64,
    cached: f64,
    /// With the best measure, if one is offered that can be tried.
    expected: Option<f64>,
    measured: Option<f64>,
    measure: Option<String>,
    /// Whether the measure that is expected to be best is so as measured, within a tenth; of a
    /// program for which nothing is offered, whether `run` gains less than 15 %.
    best: Option<bool>,
    /// The share of the wait that is not explained.
    unexplained: f64,
}

impl Row {
    /// Whether the wait came out as expected.
    fn is_right(&self) -> Option<bool> {
        let (expected, measured) = (self.expected? - self.cached, self.measured? - self.cached);
        Some((expected - measured).abs() <= OFF_S.max(OFF_SHARE * measured.max(0.0)))
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.runs > 0, "--runs: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.commands.folder)?;
    let place = folder.path().canonicalize()?;
    let (seen, written) = (place.join("seen"), place.join("written"));
    std::fs::create_dir(&seen)?;
    std::fs::create_dir_all(written.join("classes"))?;
    let ours = args.commands.ours()?.canonicalize()?;
    let making = Making {
        places: Places { made: &seen, seen: &seen, written: &written },
        ours: &ours,
        packages: args.packages.as_deref(),
        python: &args.python,
        rows: args.rows,
    };
    let mut rows = Vec::new();
    let chosen = |name: &str| args.only.as_ref().is_none_or(|only| name.contains(&**only));
    for (program, _) in ALL.iter().filter(|(_, name)| chosen(name)) {
        let Some(case) = program.case(&making)? else { continue };
        for (number, device) in args.devices.iter().enumerate() {
            let state = place.join(format!("state-{number}"));
            let mut advise = command(args, &ours, &case, &state);
            let output = on(device, &place, &mut advise)?;
            rows.push(row(&case.name, device, &output)?);
            eprintln!("bench: {} on {device} done", case.name);
        }
    }
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!("{}", words(&rows));
        println!("\nLoad average {before} before and {} after.", load_average());
    }
    Ok(tables(args, &rows))
}

fn command(args: &Args, ours: &Path, case: &Case, state: &Path) -> Command {
    let mut command = Command::new(ours);
    command.args(["advise", "--json", "--verify", "--runs", &args.runs.to_string(), "--"]);
    command.args(&case.start).current_dir("/");
    command.envs(case.environment.iter().map(|(name, value)| (name, value)));
    command.env("XDG_STATE_HOME", state);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Asks for advice where the programs' files, which lie in `seen` in `place`, are on this device.
fn on(device: &Device, place: &Path, advise: &mut Command) -> anyhow::Result<Output> {
    let seen = place.join("seen");
    match *device {
        Device::Disk => Ok(advise.output()?),
        Device::Limited { iops, bytes_per_second, .. } => {
            Ok(Slowed::new(&[&seen], iops, bytes_per_second)?.during(|| advise.output())?.0?)
        }
        Device::Fuse { delay_ms } => {
            // The programs are to see their files where these always are.
            let behind = place.join("behind");
            std::fs::rename(&seen, &behind)?;
            std::fs::create_dir(&seen)?;
            let read = Duration::from_secs_f64(delay_ms / 1e3);
            let delays = Delays { read, at_once: AT_ONCE, ..Delays::default() };
            let output = Delayed::of(&behind, &seen, delays).and_then(|delayed| {
                let output = advise.output();
                drop(delayed);
                Ok(output?)
            });
            std::fs::remove_dir(&seen)?;
            std::fs::rename(&behind, &seen)?;
            output
        }
    }
}

fn row(program: &str, device: &Device, output: &Output) -> anyhow::Result<Row> {
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} on {device}: {text}");
    // The program's own errors come before it.
    let json = text.find("\n{").map_or(&*text, |at| &text[at..]);
    let advice: Value = serde_json::from_str(json.trim_start()).context("no advice")?;
    let number = |value: &Value| value.as_f64().context("a figure is missing");
    let cold = number(&advice["starts"]["cold_median_s"])?;
    let tried: Vec<Tried> =
        advice["verified"].as_array().into_iter().flatten().filter_map(Tried::of).collect();
    let first = tried.iter().min_by(|one, other| one.expected.total_cmp(&other.expected));
    let offered = first.filter(|first| cold - first.expected >= GAIN_S.max(GAIN_SHARE * cold));
    let best = first.map(|first| match offered {
        Some(_) => {
            let starts = tried.iter().map(|it| it.measured).chain([first.alone]);
            first.measured <= BEST * starts.fold(f64::MAX, f64::min)
        }
        None => first.measured >= (1.0 - LARGE_SHARE) * first.alone,
    });
    let parts = advice["parts"].as_array().context("no parts")?;
    let unexplained = parts.iter().find(|part| part["cause"] == "unexplained");
    let wait = number(&advice["wait_s"])?;
    Ok(Row {
        program: program.to_owned(),
        device: device.to_string(),
        cold,
        cached: number(&advice["starts"]["cached_median_s"])?,
        expected: offered.map(|it| it.expected),
        measured: offered.map(|it| it.measured),
        measure: offered.map(|it| it.what.clone()),
        best,
        unexplained: unexplained.and_then(|it| it["wait_s"].as_f64()).unwrap_or(0.0)
            / wait.max(1e-9),
    })
}

/// A measure that was tried: the starts expected and measured, and those alone in turn with it.
struct Tried {
    what: String,
    expected: f64,
    measured: f64,
    alone: f64,
}

impl Tried {
    fn of(verified: &Value) -> Option<Self> {
        let median = |starts: &Value| {
            let mut starts: Vec<f64> =
                starts.as_array()?.iter().filter_map(Value::as_f64).collect();
            (!starts.is_empty()).then(|| crate::rounds::median(&mut starts))
        };
        Some(Self {
            what: verified["what"].as_str()?.to_owned(),
            expected: verified["expected_start_s"].as_f64()?,
            measured: median(&verified["with_s"])?,
            alone: median(&verified["plain_s"])?,
        })
    }
}

fn words(rows: &[Row]) -> String {
    let yes_or_no =
        |is: Option<bool>| is.map_or("-", |it| if it { "yes" } else { "NO" }).to_owned();
    let seconds = |value: Option<f64>| value.map_or("-".to_owned(), |it| format!("{it:.2}"));
    let cells = rows.iter().map(|row| {
        vec![
            row.program.clone(),
            row.device.clone(),
            seconds(Some(row.cold)),
            seconds(Some(row.cached)),
            seconds(row.expected),
            seconds(row.measured),
            row.measure.as_ref().map_or("none", |it| it.split(':').next().unwrap_or(it)).to_owned(),
            yes_or_no(row.is_right()),
            yes_or_no(row.best),
            format!("{:.0} %", 100.0 * row.unexplained),
        ]
    });
    let header = [
        "program",
        "device",
        "cold",
        "cached",
        "expected",
        "measured",
        "first",
        "right",
        "best",
        "unexplained",
    ];
    let of = Count::of(rows);
    table(&header, cells.collect())
        + &format!(
            "\nThe wait is within 20 % or 50 ms of the expected one in {} of {} that were tried; \
             nothing was offered in {}. What is put first is the best in {} of {}, or nothing is \
             offered and `run` gains less than 15 %.\n",
            of.right,
            of.tried,
            rows.len() - of.tried,
            of.best,
            rows.len()
        )
}

/// How often the advice came true.
struct Count {
    tried: usize,
    right: usize,
    best: usize,
}

impl Count {
    fn of(rows: &[Row]) -> Self {
        let judged: Vec<bool> = rows.iter().filter_map(Row::is_right).collect();
        Count {
            tried: judged.len(),
            right: judged.iter().filter(|right| **right).count(),
            best: rows.iter().filter(|row| row.best == Some(true)).count(),
        }
    }
}

fn tables(args: &Args, rows: &[Row]) -> Vec<Table> {
    let under = format!(
        "`seekless advise --verify --runs {}`, as root; seconds from exec to exit, medians. Expected \
         before it was tried; a gap: nothing was offered that can be tried.",
        args.runs
    );
    let mut found = Table::new(
        "starts",
        "Starts of programs: alone, as expected with the best measure, and measured with it",
        "program, device",
        "s",
        Better::Neither,
    )
    .contenders(["expected", "measured"].map(Contender::ours))
    .under(&under);
    found.decimals = Some(3);
    for row in rows {
        let case = format!("{}, {}", row.program, row.device);
        let median = |value| Figure::median(value, args.runs);
        found.set(&case, "cold, alone", median(row.cold));
        found.set(&case, "cached", median(row.cached));
        if let Some((expected, measured)) = row.expected.zip(row.measured) {
            found.set(&case, "expected", median(expected));
            found.set(&case, "measured", median(measured));
        }
    }
    vec![found, counted(args, rows)]
}

fn counted(args: &Args, rows: &[Row]) -> Table {
    let under = format!("The starts above: `seekless advise --verify --runs {}`.", args.runs);
    let title = "How often the advice came true";
    let mut found = Table::new("counted", title, "advice", "", Better::Neither).under(&under);
    found.decimals = Some(0);
    let of = Count::of(rows);
    let lines = [
        ("starts", rows.len()),
        ("something was offered and tried", of.tried),
        ("its wait came within 20 % or 50 ms of the expected one", of.right),
        ("first is the best of all tried, or nothing offered where run gains under 15 %", of.best),
    ];
    for (what, count) in lines {
        found.set(what, "starts", Figure::exact(count as f64));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_the_disk_or_limits_or_fuse() {
        assert_eq!("none".parse(), Ok(Device::Disk));
        assert_eq!("fuse=2.5".parse(), Ok(Device::Fuse { delay_ms: 2.5 }));
        let limited = Device::from_str("iops=500,bandwidth=150MB").unwrap();
        assert_eq!(limited.to_string(), "iops=500,bandwidth=150MB");
        for wrong in ["fuse=-1", "fuse=", "hdd", "iops=0"] {
            assert!(Device::from_str(wrong).is_err(), "{wrong}");
        }
    }
}
