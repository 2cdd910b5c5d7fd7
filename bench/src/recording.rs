//! What recording adds to the processor time of whole programs: each method, and strace, in turn
//! with the plain run. The recorder's own time counts, and that of everything that it starts.

use crate::command::{Commands, succeed};
use crate::folder::Folder;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::report::table;
use seekless::sys::usage::cpu_of_children_ns;
use seekless_results::{Better, Contender, Figure, Table, number};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The Python that starts, reads small files and asks SQLite
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Programs to record
    #[arg(long, value_enum, value_delimiter = ',', default_value = "start,make,small,sqlite")]
    programs: Vec<Program>,
    /// Small files
    #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
    files: u32,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    #[command(flatten)]
    commands: Commands,
}

/// A program to record.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Program {
    /// Python imports json, email, http.client and sqlite3
    Start,
    /// make compiles 50 small C files
    Make,
    /// Python reads small files three times
    Small,
    /// Python looks up 20,000 random rows in SQLite
    Sqlite,
}

const START: &str = "import json, email, http.client, sqlite3";
const SMALL: &str = "import os, sys\nnames = [e.path for e in os.scandir(sys.argv[1])]\n\
    for _ in range(3):\n    for name in names:\n        with open(name, 'rb') as f: f.read()";
const MAKE_ROWS: &str = "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\n\
    c.execute('create table t(k integer primary key, v blob)')\n\
    c.executemany('insert into t values(?, ?)', ((i, bytes(100)) for i in range(200000)))\n\
    c.commit()";
const SQLITE: &str = "import sqlite3, sys, random\nc = sqlite3.connect(sys.argv[1])\n\
    c.execute('pragma cache_size = 10'); random.seed(1)\nfor _ in range(20000):\n    \
    c.execute('select v from t where k = ?', (random.randrange(200000),)).fetchone()";
const SOURCES: u32 = 50;

/// The way in which nothing is recorded.
const PLAIN: &str = "nothing";

/// How a program is run.
struct Way {
    name: &'static str,
    words: Vec<String>,
}

/// The figures of one program run in one way.
#[derive(Serialize)]
struct Row {
    program: Program,
    way: &'static str,
    cpu_ms: f64,
    of_plain: f64,
    /// In which the median of such measurements lies 19 times in 20.
    interval: [f64; 2],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.commands.folder)?;
    let ways = ways(&args.commands.ours()?, folder.path())?;
    let mut rows = Vec::new();
    for &program in &args.programs {
        let words = prepare(program, args, folder.path())?;
        rows.extend(measure(program, &words, &ways, args.rounds)?);
    }
    let saved = of_plain(args, &rows);
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(vec![saved]);
    }
    let cells = rows.iter().map(|row| {
        vec![
            format!("{:?}", row.program).to_lowercase(),
            row.way.to_owned(),
            format!("{:.1}", row.cpu_ms),
            format!("{:.2}", row.of_plain),
            format!("{:.2} to {:.2}", row.interval[0], row.interval[1]),
        ]
    });
    println!(
        "{}",
        table(&["program", "recorded by", "CPU ms", "of plain", "95 %"], cells.collect())
    );
    println!(
        "\nProcessor time of all processes, recorder and program; medians of {} rounds that \
         alternate, after one discarded, and of their ratios; load average {before} before and {} \
         after.",
        args.rounds,
        load_average()
    );
    Ok(vec![saved])
}

/// The names of our ways in the table of results; the others are rivals.
const OURS: [(&str, &str); 6] = [
    ("learning", "learning (root)"),
    ("learning without root", "learning without root"),
    ("ebpf", "eBPF (root)"),
    ("notify, files", "notify, files only"),
    ("notify", "notify"),
    ("ptrace", "ptrace"),
];

/// Processor time of program and recorder, by program and way.
fn of_plain(args: &Args, rows: &[Row]) -> Table {
    let title = "Processor time of program and recorder, of the plain run's";
    let mut table = Table::new("cpu", title, "program", "×", Better::Lower)
        .contenders(OURS.map(|(_, name)| Contender::ours(name)))
        .under("Medians of the ratios of rounds in turn, with 95 % intervals.");
    for row in rows.iter().filter(|row| row.way != PLAIN) {
        let known = OURS.iter().find(|(way, _)| *way == row.way);
        let name = known.map_or(row.way, |(_, name)| name);
        let figure = Figure::within(row.of_plain, row.interval, args.rounds);
        table.set(&row.program.words(args), name, figure);
    }
    table
}

impl Program {
    /// The program in the table of results.
    fn words(self, args: &Args) -> String {
        match self {
            Self::Start => "python3 imports json, email, http.client, sqlite3".to_owned(),
            Self::Make => format!("make of {SOURCES} small C files"),
            Self::Small => format!(
                "{} small files read three times from Python",
                number(f64::from(args.files), Some(0))
            ),
            Self::Sqlite => "20,000 random rows from SQLite".to_owned(),
        }
    }
}

/// Plain first. eBPF is left out where it does not work, strace where it is not installed.
fn ways(seekless: &Path, folder: &Path) -> anyhow::Result<Vec<Way>> {
    let seekless = seekless.to_str().context("a path in UTF-8")?;
    let output = folder.join("out");
    let output = output.to_str().context("a path in UTF-8")?;
    let record = |name, flags: &[&str]| {
        let words = [&[seekless, "record", "--quiet", "--force", "-o", output], flags, &["--"]];
        Way { name, words: words.concat().into_iter().map(str::to_owned).collect() }
    };
    let strace = |name, flags: &[&str]| {
        let words = [&["strace", "-f", "-qq", "-o", output], flags];
        Way { name, words: words.concat().into_iter().map(str::to_owned).collect() }
    };
    let mut ways = vec![
        Way { name: PLAIN, words: Vec::new() },
        record("ptrace", &["--method", "ptrace"]),
        record("notify", &["--method", "notify"]),
        record("notify, files", &["--method", "notify", "--grain", "files"]),
    ];
    ways.push(learning("learning without root", seekless, folder, true)?);
    if let Ok(()) = seekless::record::ebpf_works() {
        ways.push(learning("learning", seekless, folder, false)?);
    }
    match seekless::record::ebpf_works() {
        Ok(()) => ways.push(record("ebpf", &["--method", "ebpf"])),
        Err(why) => eprintln!("bench: no eBPF, left out: {why}"),
    }
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_ok() {
        ways.push(strace("strace -f", &[]));
        ways.push(strace("strace --seccomp-bpf", &["--seccomp-bpf"]));
    } else {
        eprintln!("bench: no strace: left out");
    }
    Ok(ways)
}

/// The first start of a program: what it needs is recorded and becomes its profile.
fn learning(
    name: &'static str,
    seekless: &str,
    folder: &Path,
    unprivileged: bool,
) -> anyhow::Result<Way> {
    const BEGIN: &str = "rm -f \"$1\"; p=$1; shift; exec ";
    const WITHOUT: &str = "setpriv --bounding-set -all --inh-caps -all --no-new-privs ";
    let profile = folder.join("profile");
    let profile = profile.to_str().context("a path in UTF-8")?;
    let without = if unprivileged { WITHOUT } else { "" };
    let script = format!("{BEGIN}{without}{seekless} run --record --profile \"$p\" -- \"$@\"");
    Ok(Way { name, words: ["sh", "-c", &script, "sh", profile].map(str::to_owned).into() })
}

/// Makes what a program needs. Returns its words.
fn prepare(program: Program, args: &Args, folder: &Path) -> anyhow::Result<Vec<String>> {
    let place = folder.join(format!("{program:?}").to_lowercase());
    std::fs::create_dir(&place)?;
    let word = place.to_str().context("a path in UTF-8")?.to_owned();
    let python = args.python.to_str().context("a path in UTF-8")?.to_owned();
    let script = |text: &str, argument| vec![python.clone(), "-c".into(), text.into(), argument];
    Ok(match program {
        Program::Start => script(START, word),
        Program::Small => {
            for number in 0..args.files {
                let bytes = 100 + number as usize % 1000;
                std::fs::write(place.join(number.to_string()), vec![b'.'; bytes])?;
            }
            script(SMALL, word)
        }
        Program::Sqlite => {
            let file = format!("{word}/rows");
            let [make, ask] = [MAKE_ROWS, SQLITE].map(|text| script(text, file.clone()));
            succeed(Command::new(&make[0]).args(&make[1..]))?;
            ask
        }
        Program::Make => {
            for number in 0..SOURCES {
                let text = format!(
                    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                     int of_{number}(int n) {{ char b[99]; snprintf(b, 99, \"%d\", n); \
                     return (int)strlen(b) + {number}; }}\n"
                );
                std::fs::write(place.join(format!("{number}.c")), text)?;
            }
            let objects: String = (0..SOURCES).map(|number| format!(" {number}.o")).collect();
            std::fs::write(place.join("Makefile"), format!("all:{objects}\n"))?;
            ["make", "-s", "-B", "-j2", "-C", &word].map(str::to_owned).into()
        }
    })
}

fn measure(
    program: Program,
    words: &[String],
    ways: &[Way],
    rounds: usize,
) -> anyhow::Result<Vec<Row>> {
    let mut times = vec![Vec::new(); ways.len()];
    for round in 0..=rounds {
        for (way, times) in ways.iter().zip(&mut times) {
            let ns = cpu_ns(way, words)?;
            if round > 0 {
                times.push(ns as f64);
            }
        }
    }
    let plain = times[0].clone();
    let row = |(way, mut times): (&Way, Vec<f64>)| {
        let mut ratios: Vec<f64> = times.iter().zip(&plain).map(|(one, of)| one / of).collect();
        Row {
            program,
            way: way.name,
            cpu_ms: median(&mut times) / 1e6,
            of_plain: median(&mut ratios),
            interval: interval(&mut ratios),
        }
    };
    Ok(ways.iter().zip(times).map(row).collect())
}

/// The processor time of one run.
fn cpu_ns(way: &Way, words: &[String]) -> anyhow::Result<u64> {
    let all: Vec<&String> = way.words.iter().chain(words).collect();
    let before = cpu_of_children_ns();
    succeed(Command::new(all[0]).args(&all[1..]).stdin(Stdio::null()).stdout(Stdio::null()))?;
    Ok(cpu_of_children_ns() - before)
}

/// The values between which the median lies in 19 cases of 20, by their ranks.
fn interval(values: &mut [f64]) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let half = 0.98 * (count as f64).sqrt();
    let low = ((count as f64 / 2.0 - half).floor().max(1.0) as usize).min(count);
    [values[low - 1], values[count - low]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_of_the_middle_ranks() {
        let mut values: Vec<f64> = (1..=15).rev().map(f64::from).collect();
        assert_eq!(interval(&mut values), [3.0, 13.0]);
        assert_eq!(interval(&mut [7.0]), [7.0, 7.0]);
        assert_eq!(interval(&mut [2.0, 1.0, 3.0]), [1.0, 3.0]);
    }
}
