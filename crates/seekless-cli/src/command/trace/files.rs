//! `seekless trace files`: shows which files a program used, and how.

use super::info::note_origin;
use crate::output;
use crate::output::table;
use clap::builder::PossibleValuesParser;
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::trace::open_any;
use seekless::trace::summary::files::{FileCount, FileUse, SortBy, When, by_folder};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show which files were used, and how.
///
/// order is the file's place among all files by its first read, map or load. opened and read count
/// successful calls, failed counts failed opens and stats. bytes are those that reads returned;
/// unique counts each byte of the file once. waited is the time that all calls for the file took
/// together. first and last are the times of its first and last access, from its run's start.
///
/// Several traces are taken together: files are joined by name, and runs are numbered on. A
/// recording that is still running, or was cut off, counts as far as it goes.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace files run.parquet
  seekless trace files run.parquet --sort latency --top 20     what cost the most waiting
  seekless trace files run.parquet --sort failed               what was looked for in vain
  seekless trace files run.parquet --depth 3                   by folder
  seekless trace files monday.parquet tuesday.parquet --sort order --json")]
pub struct Args {
    /// The traces
    #[arg(required = true, value_name = "RUN")]
    traces: Vec<PathBuf>,
    /// Sort by this: amounts from the largest down, others from the first on
    #[arg(long, default_value = "read", value_name = "KEY", value_parser = PossibleValuesParser::new(SortBy::NAMES))]
    sort: String,
    /// Sort the other way round
    #[arg(long)]
    reverse: bool,
    /// Show the first N only [default: 40; all with --json]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Add up the files of each folder, N folders deep
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
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
    let key: SortBy = args.sort.parse().map_err(anyhow::Error::msg)?;
    key.sort(&mut files);
    if args.reverse {
        files.reverse();
    }
    let top = args.top.unwrap_or(if args.json { files.len() } else { TOP }).min(files.len());
    if args.json {
        output::json(&Figures { count: files.len(), files: &files[..top] })?;
    } else {
        output::text(&report(&files, top, args.depth.is_some()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(all: &[FileUse], top: usize, folders: bool) -> String {
    let runs = all.iter().any(|file| file.last.run > 0);
    let when = |when: When| match runs {
        true => format!("{}: {}", when.run, format_duration(when.time_ns)),
        false => format_duration(when.time_ns),
    };
    let mut header = vec![
        "order", "opened", "missing", "stats", "read", "bytes", "unique", "size", "waited",
        "first", "last",
    ];
    let errors = all[..top].iter().any(|file| !file.errors.is_empty());
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
    let mut text = table(&header, all[..top].iter().map(row).collect());
    let left = all.len() - top;
    if left > 0 {
        let what = counted(left as u64, if folders { "more folder" } else { "more file" });
        text += &format!("\nand {what}: --top {} shows all\n", all.len());
    }
    text
}
