//! How complete and how exact a recording is. The files lie on an ext4 of their own whose device
//! reads nothing ahead, so that after a cold start its page cache holds what the start needed and
//! no more. A recording of another cold start is held against that. Needs root.

use crate::command::{Commands, succeed};
use crate::folder::Folder;
use crate::image::Image;
use anyhow::{Context, ensure};
use seekless::device::units::format_bytes;
use seekless::report::table;
use seekless::sys::residency;
use seekless::trace::{Needs, Trace, unescape_path};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PAGE_BYTES: u64 = 4096;

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The files, of which an image is made
    root: PathBuf,
    /// A start, as a shell takes it; {} stands for the place of the files. May be given several
    /// times
    #[arg(long, required = true, value_name = "COMMAND")]
    start: Vec<String>,
    /// Further words for `seekless record`, divided by blanks, such as a method
    #[arg(long, default_value = "", value_name = "WORDS", allow_hyphen_values = true)]
    record: String,
    #[command(flatten)]
    commands: Commands,
}

/// The pages of the files below a folder.
type PagesOf = BTreeSet<(PathBuf, u64)>;

#[derive(Serialize)]
struct Row {
    start: String,
    needed_bytes: u64,
    recorded_bytes: u64,
    /// Of the pages that were needed, the share that the recording names.
    recall: f64,
    /// How many times the needed pages the recording names.
    times: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    let folder = Folder::in_(&args.commands.folder)?;
    let image = Image::of(&args.root, folder.path(), 0, 0)?;
    let ours = args.commands.ours()?;
    let mut rows = Vec::new();
    for start in &args.start {
        let script = start.replace("{}", &image.mounted().to_string_lossy());
        // What a first start makes outside of the image is there for the others.
        succeed(&mut shell(&script))?;
        image.cool()?;
        succeed(&mut shell(&script))?;
        let needed = resident(image.mounted())?;
        image.cool()?;
        let recording = folder.path().join("run.parquet");
        let mut record = Command::new(&ours);
        record.args(["record", "--force", "-o"]).arg(&recording);
        record.args(args.record.split_whitespace()).args(["--", "sh", "-c", &script]);
        succeed(record.stdin(Stdio::null()).stdout(Stdio::null()))?;
        let recorded = recorded(&recording, image.mounted())?;
        ensure!(!needed.is_empty(), "{start}: needs nothing of {}", args.root.display());
        let found = needed.intersection(&recorded).count();
        rows.push(Row {
            start: start.clone(),
            needed_bytes: needed.len() as u64 * PAGE_BYTES,
            recorded_bytes: recorded.len() as u64 * PAGE_BYTES,
            recall: found as f64 / needed.len() as f64,
            times: recorded.len() as f64 / needed.len() as f64,
        });
    }
    if args.commands.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(tables(&rows));
    }
    let cells = rows.iter().map(|row| {
        vec![
            row.start.clone(),
            format_bytes(row.needed_bytes),
            format!("{:.4}", row.recall),
            format_bytes(row.recorded_bytes),
            format!("{:.2}", row.times),
        ]
    });
    let header = ["start", "needed", "recall", "recorded", "times the needed"];
    println!("{}", table(&header, cells.collect()));
    println!(
        "\nNeeded: what of the files the page cache holds after a cold start of its own, without \
         readahead. Recall: the share of it that a recording names."
    );
    Ok(tables(&rows))
}

/// The share of the needed pages, and the bytes that are named, by start.
fn tables(rows: &[Row]) -> Vec<Table> {
    let table = |id, title, unit, better| {
        Table::new(id, title, "start", unit, better)
            .contenders([Contender::ours("seekless record")])
            .under("Cold, a file system without readahead.")
    };
    let title = "Pages in the cache after a cold start that another start's recording names";
    let mut pages = table("pages", title, "of these pages", Better::Higher);
    let title = "The same: bytes that the recording names";
    let mut bytes = table("bytes", title, "of those in the cache", Better::Lower);
    for row in rows {
        pages.set(&row.start, "seekless record", Figure::exact(row.recall));
        bytes.set(&row.start, "seekless record", Figure::exact(row.times));
    }
    vec![pages, bytes]
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("PYTHONDONTWRITEBYTECODE", "1");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// What is in the page cache of the files below a folder.
fn resident(folder: &Path) -> anyhow::Result<PagesOf> {
    let (mut pages, mut folders) = (PagesOf::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir()? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let file = File::open(entry.path())?;
                let bytes = file.metadata()?.len();
                let runs = residency::runs(file.as_fd(), 0..bytes, PAGE_BYTES)?;
                let runs = runs.context("the kernel does not tell what is cached")?;
                for run in runs.into_iter().filter(|run| run.resident) {
                    let range = run.range.start / PAGE_BYTES..run.range.end.div_ceil(PAGE_BYTES);
                    pages.extend(range.map(|page| (entry.path(), page)));
                }
            }
        }
    }
    Ok(pages)
}

/// What a recording names of the files below a folder.
fn recorded(recording: &Path, folder: &Path) -> anyhow::Result<PagesOf> {
    let needs = Needs::of(&Trace::open(recording)?)?;
    let paths: Vec<PathBuf> = needs
        .names
        .iter()
        .map(|name| PathBuf::from(OsString::from_vec(unescape_path(name))))
        .collect();
    let mut pages = PagesOf::new();
    for need in needs.runs.iter().flatten() {
        let path = &paths[need.file as usize];
        if path.starts_with(folder) {
            let end = (need.offset + need.bytes).div_ceil(PAGE_BYTES);
            pages.extend((need.offset / PAGE_BYTES..end).map(|page| (path.clone(), page)));
        }
    }
    Ok(pages)
}
