//! `seekless trace merge`: joins several traces into one.

use crate::output::{self, Words};
use seekless::device::units::counted;
use seekless::trace::merge;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Join traces into one.
///
/// Runs are numbered in the order given; the last is the newest. Files are joined by name. A single
/// trace is sorted, which helps if another tool has mixed its rows.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace merge monday.parquet tuesday.parquet -o week.parquet")]
pub struct Args {
    /// The traces to join
    #[arg(required = true)]
    traces: Vec<PathBuf>,
    /// The trace to write; - is standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

/// What the trace holds, as JSON.
#[derive(Serialize)]
struct Merged {
    rows: u64,
    files: u64,
}

/// Merges, and prints the result.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let out = args.force.destination(&args.output);
    let mut progress = output::progress("Merging");
    let summary = merge::merge(&args.traces, &out, &mut progress)?;
    drop(progress);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&Merged { rows: summary.rows, files: summary.files })?;
    } else {
        let (rows, files) = (counted(summary.rows, "row"), counted(summary.files, "file"));
        words.text(&format!("{}: {rows}, {files}\n", output::shown(out.path())))?;
    }
    Ok(ExitCode::SUCCESS)
}
