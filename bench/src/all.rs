//! Runs the benches one after another, and reads the results of each.

use crate::list::{APART, ENTRIES, Entry, Quick};
use crate::remote;
use anyhow::{Context, ensure};
use seekless_results::{Output, Results, data_folder};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Options of the run.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Gives each bench little work, to see that all of it runs; the figures mean nothing
    #[arg(long)]
    quick: bool,
    /// The folder for the results [default: a new one for temporary files, whose name is printed]
    #[arg(long, value_name = "DIR", conflicts_with = "save")]
    into: Option<PathBuf>,
    /// Only these benches
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
}

pub(crate) fn run(args: &Args, output: &Output) -> anyhow::Result<()> {
    ensure!(output.results.is_none(), "--results names one file; name a folder with --into");
    ensure!(!(args.quick && output.save), "the figures of --quick are not for docs/measured");
    let unknown = args.only.iter().find(|only| ENTRIES.iter().all(|entry| entry.name != **only));
    ensure!(unknown.is_none(), "there is no bench {unknown:?}; ./run bench lists them");
    let folder = match &args.into {
        Some(folder) => folder.clone(),
        None => tempfile::Builder::new().prefix("seekless-bench.").tempdir()?.keep(),
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let data = data_folder(None).join("0ad");
    let mut failed = Vec::new();
    let is_asked =
        |entry: &&Entry| args.only.is_empty() || args.only.iter().any(|only| only == entry.name);
    for entry in ENTRIES.iter().filter(is_asked) {
        if entry.needs_data() && !data.exists() {
            println!("{:14} left out: {} is not there", entry.name, data.display());
            continue;
        }
        if args.quick && entry.name == "remote" && !remote::is_there() {
            println!("{:14} left out: ./run bench remote builds what it needs", entry.name);
            continue;
        }
        let words = match (&entry.quick, args.quick) {
            (Quick::No, _) => {
                println!("{:14} left out: what it needs must be named", entry.name);
                continue;
            }
            (Quick::Words(words), true) => words,
            (Quick::Words(_), false) => "",
        };
        let file = (!output.save).then(|| folder.join(format!("{}.json", entry.name)));
        let started = Instant::now();
        match one(entry.name, words, file.as_deref(), args.quick) {
            Ok(tables) => {
                let seconds = started.elapsed().as_secs_f64();
                println!("{:14} ok  {seconds:6.1} s  {tables} tables", entry.name);
            }
            Err(error) => {
                println!("{:14} FAILED: {error:#}", entry.name);
                failed.push(entry.name);
            }
        }
    }
    if !output.save {
        println!("results: {}", folder.display());
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// Runs a bench. Returns how many tables it wrote to `file`; without one it writes into the
/// checkout.
fn one(name: &str, words: &str, file: Option<&Path>, quick: bool) -> anyhow::Result<usize> {
    // `./run` builds what is missing, and the rivals; a quick run takes what is there.
    let mut command = if quick && !APART.contains(&name) {
        Command::new(std::env::current_exe()?)
    } else {
        let mut run = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../run"));
        run.arg("bench");
        run
    };
    command.arg(name).args(words.split_whitespace()).stdin(Stdio::null());
    match file {
        Some(file) => command.arg("--results").arg(file),
        None => command.arg("--save"),
    };
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}", said.trim());
    match file {
        Some(file) => {
            let tables = Results::read(file)?.tables.len();
            ensure!(tables > 0, "{}: no tables", file.display());
            Ok(tables)
        }
        None => Ok(0),
    }
}
