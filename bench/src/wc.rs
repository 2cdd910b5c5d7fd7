//! `seekless wc` beside GNU's and uutils', on files in the page cache. Rivals take turns, and
//! answers are compared.

use crate::command::{Commands, Field, Ratios};
use crate::folder::Folder;
use crate::rounds::{Rival, alternate, enter, load_average, medians, runs};
use crate::texts::warm;
use anyhow::{Context, ensure};
use seekless::device::units::format_bytes;
use seekless::report;
use seekless_results::{Better, Contender, Table};
use serde::Serialize;
use std::path::Path;

/// From a size where the start of the process is all, to one where memory is all.
const SIZES: [u64; 7] = [1 << 10, 64 << 10, 1 << 20, 16 << 20, 128 << 20, 512 << 20, 2 << 30];

/// The questions: a name, the flags, the locale.
const QUESTIONS: [(&str, &[&str], &str); 3] =
    [("wc -l", &["-l"], "C.UTF-8"), ("wc", &[], "C.UTF-8"), ("wc, LC_ALL=C", &[], "C")];

/// The place of the tools in Debian's package of uutils.
const UUTILS: &str = "/usr/lib/cargo/bin/coreutils/wc";

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Sizes in bytes [default: 1 KiB to 2 GiB]
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    pub(crate) size: Vec<u64>,
    /// Leaves out sizes above 128 MiB
    #[arg(long)]
    pub(crate) quick: bool,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    #[command(flatten)]
    pub(crate) commands: Commands,
}

/// One question about one size.
#[derive(Serialize)]
struct Row {
    question: &'static str,
    bytes: u64,
    /// Bytes in the page cache when the first round began.
    resident_bytes: Option<u64>,
    runs_per_round: u32,
    /// Median seconds of a run, for each rival in order.
    seconds: Vec<f64>,
    #[serde(flatten)]
    ratios: Ratios,
}

#[derive(Serialize)]
struct Report {
    rivals: Vec<String>,
    load_average: [f64; 2],
    rounds: usize,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let sizes = if args.size.is_empty() { &SIZES[..] } else { &args.size };
    let folder = Folder::in_(&args.commands.folder)?;
    let field = field(&args.commands, &folder)?;
    let mut rows = Vec::new();
    let mut table = Table::new("ms", "`wc` of cached text", "what, size", "ms", Better::Lower)
        .contenders([Contender::ours(&field.all[0].name)])
        .under("The start of the process included. Answers are the same.");
    for &bytes in sizes.iter().filter(|&&bytes| !args.quick || bytes <= 128 << 20) {
        let path = folder.text(bytes)?;
        for (question, flags, locale) in QUESTIONS {
            let resident_bytes = warm(&path)?;
            let runs_per_round = runs(bytes);
            let seconds = alternate(&field.all, flags, locale, &path, args.rounds, runs_per_round)
                .with_context(|| format!("{question} of {}", format_bytes(bytes)))?;
            enter(
                &mut table,
                &format!("{question}, {}", format_bytes(bytes)),
                &field.all,
                &seconds,
            );
            let seconds = medians(&seconds);
            let ratios = field.ratios(&seconds);
            rows.push(Row { question, bytes, resident_bytes, runs_per_round, seconds, ratios });
        }
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    let names = field.all.iter().map(|rival| rival.name.clone()).collect();
    let report =
        Report { rivals: names, load_average: [before, load_average()], rounds: args.rounds, rows };
    match args.commands.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => println!("{}", words(&field, &report)),
    }
    Ok(vec![table])
}

fn field(commands: &Commands, folder: &Folder) -> anyhow::Result<Field> {
    let (ours, older) = commands.rivals(folder, "wc")?;
    let gnu = Rival::new("GNU", Path::new("/usr/bin/wc"), &[]);
    let uutils = Rival::installed("uutils", "wc", UUTILS);
    Ok(Field::new(ours, [gnu].into_iter().chain(uutils).collect(), older))
}

fn words(field: &Field, report: &Report) -> String {
    let mut header = vec!["question", "file", "cached"];
    header.extend(field.header());
    let rows = report.rows.iter().map(|row| {
        let cached = match row.resident_bytes {
            Some(resident) => {
                format!(
                    "{:.0} %",
                    resident as f64 * 100.0 / row.bytes.next_multiple_of(4096) as f64
                )
            }
            None => "unknown".to_owned(),
        };
        let mut cells = vec![row.question.to_owned(), format_bytes(row.bytes), cached];
        cells.extend(row.seconds.iter().map(|&seconds| duration(seconds)));
        cells.extend(row.ratios.cells());
        cells
    });
    let [before, after] = report.load_average;
    format!(
        "{}\nMedians of {} rounds that alternate, after one discarded, process start included; ratio: the best rival's time \
         over ours; load average {before} before and {after} after.",
        report::table(&header, rows.collect()),
        report.rounds
    )
}

pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 0.01 => format!("{:.0} µs", short * 1e6),
        _ => format!("{:.1} ms", seconds * 1e3),
    }
}
