//! Unchanged programs read from cold, alone and under `seekless run --readahead`, in
//! turn: backward, strided, forward and at random, in C and Python, and programs of the system.
//! Beside them the simplest rival: the whole file is read first. At 200 requests a second, and as
//! fast as the disk is; then once more with all cached, to see what watching costs.

use crate::command::{Commands, succeed};
use crate::folder::Folder;
use crate::rounds::load_average;
use anyhow::{Context, ensure};
use seekless::measure::{Dropping, Slowed, make_cold};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Bytes of the file that is read.
const FILE_BYTES: usize = 64 << 20;
const NO_LIMIT: u64 = 1 << 40;
const WAYS: [&str; 3] = ["seekless run --readahead", "plain", "read whole first"];

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Only these programs, by a part of their names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Requests a second of the slow disk
    #[arg(long, default_value_t = 200)]
    iops: u64,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    commands: Commands,
}

/// A program, and the file that it reads.
struct Case {
    name: &'static str,
    words: Vec<String>,
    file: PathBuf,
}

/// What runs of one program took, by way.
#[derive(Default)]
struct Runs {
    seconds: [Vec<f64>; 3],
    requests: [Vec<f64>; 3],
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.commands.folder)?;
    let seekless = args.commands.ours()?;
    let is_asked = |case: &Case| {
        args.only.is_empty() || args.only.iter().any(|only| case.name.contains(&**only))
    };
    let cases: Vec<Case> = cases(folder.path())?.into_iter().filter(is_asked).collect();
    ensure!(!cases.is_empty(), "--only names no program");
    let slow = |what| format!("{what}, from cold at {} requests/s", args.iops);
    let mut tables = [
        made("slow", &slow("Unchanged programs"), "s"),
        made("requests", &slow("The same: requests"), ""),
        made("fast", "The same without a limit", "ms"),
        made("cached", "The same, all cached", "ms"),
    ];
    for case in &cases {
        let slowed = Slowed::new(&[&case.file], args.iops, NO_LIMIT)?;
        let free = Slowed::new(&[&case.file], NO_LIMIT, NO_LIMIT);
        let slow = turns(case, &seekless, args.rounds, Some(&slowed), true)?;
        drop(slowed);
        let free = turns(case, &seekless, args.rounds, free.as_ref().ok(), true)?;
        let cached = turns(case, &seekless, args.rounds, None, false)?;
        for (way, name) in WAYS.iter().enumerate() {
            let ms = |all: &[f64]| all.iter().map(|seconds| seconds * 1e3).collect::<Vec<_>>();
            tables[0].set(case.name, name, Figure::of_rounds(&slow.seconds[way]));
            tables[1].set(case.name, name, Figure::of_rounds(&slow.requests[way]));
            tables[2].set(case.name, name, Figure::of_rounds(&ms(&free.seconds[way])));
            tables[3].set(case.name, name, Figure::of_rounds(&ms(&cached.seconds[way])));
        }
        eprintln!("bench: {} done", case.name);
    }
    tables.iter().for_each(show);
    println!("Load average {before} before and {} after.", load_average());
    Ok(tables.into())
}

fn made(name: &str, title: &str, unit: &str) -> Table {
    let contenders =
        [Contender::ours(WAYS[0]), Contender::rival(WAYS[1]), Contender::rival(WAYS[2])];
    Table::new(name, title, "program", unit, Better::Lower).contenders(contenders).under(
        "A file of 64 MiB, read 16 KiB at a time by the first six; time from before the start of \
         the command to its end.",
    )
}

fn show(saved: &Table) {
    let header: Vec<&str> = ["program"].into_iter().chain(WAYS).collect();
    let cells = saved.rows.iter().map(|row| {
        let figure = |figure: &Option<Figure>| {
            let value = figure.as_ref().and_then(Figure::decisive);
            value.map_or(String::new(), |value| format!("{value:.3} {}", saved.unit))
        };
        [row.case.clone()].into_iter().chain(row.figures.iter().map(figure)).collect()
    });
    println!("{}\n{}\n", saved.title, table(&header, cells.collect()));
}

/// Runs a program in all ways, in turn.
fn turns(
    case: &Case,
    seekless: &Path,
    rounds: usize,
    slowed: Option<&Slowed>,
    cold: bool,
) -> anyhow::Result<Runs> {
    let mut runs = Runs::default();
    let mut answer: Option<Vec<u8>> = None;
    for round in 0..=rounds {
        for (way, name) in WAYS.iter().enumerate() {
            if cold {
                make_cold([&case.file], Dropping::Files)?;
            } else {
                std::fs::read(&case.file)?;
            }
            let started = Instant::now();
            let (printed, requests) = match slowed {
                None => (once(case, seekless, way)?, 0),
                Some(slowed) => {
                    let (printed, served) = slowed.during(|| once(case, seekless, way))?;
                    (printed?, served.requests)
                }
            };
            let seconds = started.elapsed().as_secs_f64();
            let first = answer.get_or_insert_with(|| printed.clone());
            ensure!(*first == printed, "{}: {} printed something else", case.name, name);
            if round > 0 {
                runs.seconds[way].push(seconds);
                runs.requests[way].push(requests as f64);
            }
        }
    }
    Ok(runs)
}

/// Runs a program in one way; what it printed.
fn once(case: &Case, seekless: &Path, way: usize) -> anyhow::Result<Vec<u8>> {
    if way == 2 {
        std::fs::read(&case.file)?;
    }
    let mut command = match way {
        0 => {
            let mut command = Command::new(seekless);
            command
                .args(["run", "--no-record", "--readahead", "streams", "--"])
                .arg(&case.words[0]);
            command
        }
        _ => Command::new(&case.words[0]),
    };
    command.args(&case.words[1..]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot run {}", case.words[0]))?;
    ensure!(output.status.success(), "{} failed", case.name);
    Ok(output.stdout)
}

/// All programs that this machine has.
fn cases(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let numbers = folder.join("numbers");
    std::fs::write(&numbers, content())?;
    let script = folder.join("reads.py");
    std::fs::write(&script, PYTHON)?;
    let mut all = Vec::new();
    let source = folder.join("reads.c");
    std::fs::write(&source, C)?;
    let program = folder.join("reads");
    if succeed(Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(&source)).is_ok() {
        for (name, how) in [
            ("C, backward", "backward"),
            ("C, strided", "strided"),
            ("C, forward", "forward"),
            ("C, at random", "random"),
        ] {
            all.push(case(name, &[&text(&program), how], &numbers));
        }
    }
    for (name, how) in [("Python, backward", "backward"), ("Python, strided", "strided")] {
        all.push(case(name, &["python3", &text(&script), how], &numbers));
    }
    let lines = folder.join("lines");
    std::fs::write(&lines, log())?;
    all.push(case("tac", &["tac"], &lines));
    let database = folder.join("database");
    if succeed(Command::new("sqlite3").arg(&database).arg(TABLE)).is_ok() {
        let mut scan = case("sqlite3, scan of a table", &["sqlite3"], &database);
        scan.words.push("SELECT count(*), sum(length(v)) FROM t".to_owned());
        all.push(scan);
        let mut scan = case("sqlite3, the newest first", &["sqlite3"], &database);
        scan.words.push("SELECT max(length(v)) FROM (SELECT v FROM t ORDER BY k DESC)".to_owned());
        all.push(scan);
    } else {
        eprintln!("bench: no sqlite3: left out");
    }
    if let Some(pack) = repository(&folder.join("repository"))? {
        let place = text(&folder.join("repository"));
        // gc writes the same pack again, under the same name.
        for (name, verb) in [("git fsck", ["fsck", "--no-progress"]), ("git gc", ["gc", "--quiet"])]
        {
            let words = [&["git", "-C", &*place][..], &verb].concat();
            all.push(Case { name, words: owned(&words), file: pack.clone() });
        }
    }
    Ok(all)
}

fn case(name: &'static str, words: &[&str], file: &Path) -> Case {
    let mut words = owned(words);
    words.push(text(file));
    Case { name, words, file: file.to_owned() }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A repository with one pack, whose path is returned; `None` where there is no git.
fn repository(folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    const FILES: usize = 400;
    std::fs::create_dir(folder)?;
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
        succeed(&mut git)
    };
    if git(&["init", "-q"]).is_err() {
        eprintln!("bench: no git: left out");
        return Ok(None);
    }
    let bytes = content();
    for (number, part) in bytes.chunks(FILE_BYTES / FILES).enumerate() {
        std::fs::write(folder.join(format!("file-{number}")), part)?;
    }
    git(&["add", "."])?;
    git(&["commit", "-q", "-m", "all"])?;
    git(&["repack", "-q", "-a", "-d"])?;
    let packs = std::fs::read_dir(folder.join(".git/objects/pack"))?;
    let mut packs = packs.flatten().map(|entry| entry.path());
    Ok(packs.find(|path| path.extension().is_some_and(|end| end == "pack")))
}

/// Bytes that no compression makes smaller.
fn content() -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(FILE_BYTES).collect()
}

fn log() -> String {
    let line =
        |number: usize| format!("{number:08} a line of a log, as long as most of them are\n");
    (0..FILE_BYTES / 59).map(line).collect()
}

const TABLE: &str = "PRAGMA page_size=4096; CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB); \
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<30000) \
    INSERT INTO t SELECT i, randomblob(2000) FROM n;";

const PYTHON: &str = "\
import os, sys
how, name = sys.argv[1:]
file = os.open(name, os.O_RDONLY)
size, step = os.fstat(file).st_size, 16384
places = range(size - step, -1, -step) if how == 'backward' else range(0, size, 8 * step)
print(sum(os.pread(file, step, place)[0] for place in places))
";

const C: &str = "\
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char bytes[16384];
int main(int count, char **words) {
    int file = open(words[2], O_RDONLY);
    struct stat about;
    fstat(file, &about);
    long size = about.st_size, step = sizeof bytes, sum = 0;
    unsigned long state = 1;
    switch (words[1][0]) {
    case 'b':
        for (long at = size - step; at >= 0; at -= step) sum += pread(file, bytes, step, at) + bytes[9];
        break;
    case 's':
        for (long at = 0; at < size; at += 8 * step) sum += pread(file, bytes, step, at) + bytes[9];
        break;
    case 'r':
        for (int read = 0; read < 500; read++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            sum += pread(file, bytes, step, (long)((state >> 33) % (size / step)) * step) + bytes[9];
        }
        break;
    default:
        while (read(file, bytes, step) > 0) sum += bytes[9];
    }
    printf(\"%ld\\n\", sum);
}
";
