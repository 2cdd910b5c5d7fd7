//! Is the advice true? `seekless advise --verify` of some programs, on the disk itself and with its
//! requests limited: the start that it expects of its best measure, beside the one that it then
//! measures. Needs root.

mod programs;

use crate::command::Commands;
use crate::folder::Folder;
use crate::rounds::load_average;
use anyhow::{Context, ensure};
use programs::Program;
use seekless::device::DeviceSpec;
use seekless::measure::Slowed;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use serde_json::Value;
use std::process::{Command, Stdio};

/// A figure is right if it is off by less than this share of what was measured, or these seconds.
const OFF_SHARE: f64 = 0.2;
const OFF_S: f64 = 0.05;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only these programs, by a part of their names
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// The limits behind which to measure; `none` is the disk itself
    #[arg(
        long,
        value_name = "DEVICE",
        value_delimiter = ';',
        default_value = "none;iops=500,bandwidth=150MB"
    )]
    devices: Vec<String>,
    /// Starts of each kind
    #[arg(long, default_value_t = 3)]
    runs: usize,
    #[command(flatten)]
    commands: Commands,
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
    let chosen = |program: &Program| {
        args.only.as_ref().is_none_or(|name| program.name.contains(name.as_str()))
    };
    let mut rows = Vec::new();
    for program in programs::all(&folder)?.into_iter().filter(chosen) {
        for device in &args.devices {
            rows.push(advised(args, &folder, &program, device)?);
            eprintln!("bench: {} on {device} done", program.name);
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

fn advised(args: &Args, folder: &Folder, program: &Program, device: &str) -> anyhow::Result<Row> {
    let mut command = Command::new(args.commands.ours()?);
    command.args(["advise", "--json", "--verify", "--runs", &args.runs.to_string(), "--"]);
    command.args(&program.words).current_dir(&program.folder);
    command.env("XDG_STATE_HOME", folder.path().join("state"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut advise = || Ok::<_, anyhow::Error>(command.output()?);
    let output = match device {
        "none" => advise()?,
        limits => match limits.parse::<DeviceSpec>()? {
            DeviceSpec::Volume { iops, bytes_per_second } => {
                Slowed::new(&[folder.path()], iops, bytes_per_second)?.during(advise)?.0?
            }
            _ => anyhow::bail!("{limits}: expected iops=N,bandwidth=RATE"),
        },
    };
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {text}", program.name);
    // The program's own errors come before it.
    let json = text.find("\n{").map_or(&*text, |at| &text[at..]);
    row(program, device, &serde_json::from_str(json.trim_start()).context("no advice")?)
}

fn row(program: &Program, device: &str, advice: &Value) -> anyhow::Result<Row> {
    let number = |value: &Value| value.as_f64().context("a figure is missing");
    // The best of those that were tried comes first.
    let best = advice["measures"]
        .as_array()
        .and_then(|all| all.iter().find(|it| it["found"] == "measured"));
    let none = Value::Null;
    let verified = advice["verified"].as_array().into_iter().flatten();
    let verified =
        verified.into_iter().find(|it| Some(&it["what"]) == best.map(|best| &best["what"]));
    let verified = verified.unwrap_or(&none);
    let with = verified["with_s"].as_array().map(|values| {
        let mut values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
        crate::rounds::median(&mut values)
    });
    let parts = advice["parts"].as_array().context("no parts")?;
    let unexplained = parts.iter().find(|part| part["cause"] == "unexplained");
    let wait = number(&advice["wait_s"])?;
    Ok(Row {
        program: program.name.to_owned(),
        device: if device == "none" { "the disk itself" } else { device }.to_owned(),
        cold: number(&advice["starts"]["cold_median_s"])?,
        cached: number(&advice["starts"]["cached_median_s"])?,
        expected: verified["expected_start_s"].as_f64(),
        measured: with,
        measure: verified["what"].as_str().map(str::to_owned),
        unexplained: unexplained.and_then(|it| it["wait_s"].as_f64()).unwrap_or(0.0)
            / wait.max(1e-9),
    })
}

fn words(rows: &[Row]) -> String {
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
            row.is_right().map_or("-", |right| if right { "yes" } else { "NO" }).to_owned(),
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
        "best",
        "right",
        "unexplained",
    ];
    let judged: Vec<bool> = rows.iter().filter_map(Row::is_right).collect();
    let right = judged.iter().filter(|right| **right).count();
    table(&header, cells.collect())
        + &format!(
            "\nThe wait is within 20 % or 50 ms of the expected one in {right} of {} that were \
             tried; nothing was offered in {}.\n",
            judged.len(),
            rows.len() - judged.len()
        )
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
        Better::Lower,
    )
    .contenders(["expected", "measured"].map(Contender::ours))
    .under(&under);
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
    vec![found]
}
