//! `seekless trace files`: shows which files a program used, and how.

use super::info::note_origin;
use crate::output;
use crate::output::table;
use clap::builder::PossibleValuesParser;
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::trace::open_any;
use seekless::trace::summary::files::{FileCount, FileUse, SortBy, When, by_folder};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Show which files were used, and how.
///
/// waited is the time that all calls for the file took together; bytes are those that reads
/// returned. Files in the working folder are shown by their names there. With --all-columns: order
/// is the file's place among all files by its first read, map or load. opened and read count
/// successful calls, missing counts opens and stats of what is not there. unique counts each byte
/// of the file once. first and last are the times of its first and last access, from its run's
/// start.
///
/// Several traces are taken together: files are joined by name, and runs are numbered on. A
/// recording that is still running, or was cut off, counts as far as it goes.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace files run.parquet
  seekless trace files run.parquet --top 20                    what cost the most waiting
  seekless trace files run.parquet --sort read --all-columns   what was read most
  seekless trace files run.parquet --sort failed               what was looked for in vain
  seekless trace files run.parquet --depth 3                   by folder
  seekless trace files monday.parquet tuesday.parquet --sort order --json")]
pub struct Args {
    /// The traces
    #[arg(required = true, value_name = "RUN")]
    traces: Vec<PathBuf>,
    /// Sort by this: amounts from the largest down, others from the first on [default: latency, or
    /// read if the traces have no latencies]
    #[arg(long, value_name = "KEY", value_parser = PossibleValuesParser::new(SortBy::NAMES))]
    sort: Option<String>,
    /// Sort the other way round
    #[arg(long)]
    reverse: bool,
    /// Show the first N only [default: 40; all with --json]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Add up the files of each folder, N folders deep
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Show all that is known of each file
    #[arg(long)]
    all_columns: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

const TOP: usize = 40;

/// The output of `--json`.
#[derive(Serialize)]
struct Figures<'a> {
    /// How many files or folders there are; fewer may be shown.
    count: usize,
    files: &'a [FileUse],
}

/// Counts and prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut count = FileCount::default();
    let mut progress = output::progress("Counting");
    for path in &args.traces {
        let trace = open_any(path)?;
        note_origin(path, &trace);
        count.add(&trace, &mut progress)?;
    }
    drop(progress);
    let mut files = count.finish();
    if let Some(depth) = args.depth {
        files = by_folder(&files, depth);
    }
    let key: SortBy = match &args.sort {
        Some(word) => word.parse().map_err(anyhow::Error::msg)?,
        None if files.iter().any(|file| file.latency_ns > 0) => SortBy::Latency,
        None => SortBy::Read,
    };
    key.sort(&mut files);
    if args.reverse {
        files.reverse();
    }
    let top = args.top.unwrap_or(if args.json { files.len() } else { TOP }).min(files.len());
    if args.json {
        output::json(&Figures { count: files.len(), files: &files[..top] })?;
    } else {
        let folders = args.depth.is_some();
        let shown = match args.all_columns {
            true => all_columns(&files[..top], folders),
            false => few_columns(&files[..top], folders),
        };
        output::text(&(shown + &left_out(files.len(), top, folders)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What most users look for.
fn few_columns(files: &[FileUse], folders: bool) -> String {
    let here = std::env::current_dir().ok();
    let header = ["waited", "bytes", "opened", if folders { "folder" } else { "file" }];
    let row = |file: &FileUse| {
        let below = here.as_ref().and_then(|here| Path::new(&file.path).strip_prefix(here).ok());
        let below = below.and_then(Path::to_str).filter(|path| !path.is_empty());
        vec![
            format_duration(file.latency_ns),
            format_bytes(file.read_bytes),
            format_count(file.opens),
            below.unwrap_or(&file.path).to_owned(),
        ]
    };
    table(&header, files.iter().map(row).collect())
}

fn all_columns(all: &[FileUse], folders: bool) -> String {
    let runs = all.iter().any(|file| file.last.run > 0);
    let when = |when: When| match runs {
        true => format!("{}: {}", when.run, format_duration(when.time_ns)),
        false => format_duration(when.time_ns),
    };
    let mut header = vec![
        "order", "opened", "missing", "stats", "read", "bytes", "unique", "size", "waited",
        "first", "last",
    ];
    let errors = all.iter().any(|file| !file.errors.is_empty());
    if errors {
        header.push("other errors");
    }
    if folders {
        header.push("files");
    }
    header.push(if folders { "folder" } else { "file" });
    let row = |file: &FileUse| {
        let mut row = vec![
            file.order.map_or("-".to_owned(), format_count),
            format_count(file.opens),
            format_count(file.missing),
            format_count(file.stats + file.failed_stats),
            format_count(file.reads),
            format_bytes(file.read_bytes),
            format_bytes(file.unique_bytes),
            file.file_bytes.map_or("-".to_owned(), format_bytes),
            format_duration(file.latency_ns),
            when(file.first),
            when(file.last),
        ];
        if errors {
            let each = file.errors.iter().map(|(name, n)| format!("{name} {}", format_count(*n)));
            row.push(each.collect::<Vec<_>>().join(", "));
        }
        if folders {
            row.push(format_count(file.files));
        }
        row.push(file.path.clone());
        row
    };
    table(&header, all.iter().map(row).collect())
}

fn left_out(count: usize, top: usize, folders: bool) -> String {
    let left = (count - top) as u64;
    if left == 0 {
        return String::new();
    }
    let what = counted(left, if folders { "more folder" } else { "more file" });
    format!("\nand {what}: --top {count} shows all\n")
}
