//! `seekless trace recover`: makes a trace of the spool of a recording that was cut off.

use crate::output::{self, Words};
use anyhow::Context;
use seekless::device::units::{counted, format_bytes};
use seekless::trace::recover::{self, Recovered};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Turn the spool of a recording that was cut off into a trace.
///
/// A recorder that is killed leaves a spool in $XDG_STATE_HOME/seekless/spool (~/.local/state if
/// that is not set). Name the trace that was to be written: its spool is found, all but a torn last
/// batch of it becomes the trace, and the spool is deleted. If the spool is damaged, the rows
/// before the damage become the trace and the spool is kept. A spool that you name itself is kept
/// too.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace recover run.parquet
  seekless trace recover run.parquet -o rescued.parquet
  seekless trace recover moved.spool -o rescued.parquet")]
pub struct Args {
    /// The trace that was to be written, or a spool
    #[arg(value_name = "TRACE")]
    spool: PathBuf,
    /// The trace to write; - is standard output [default: TRACE; of a spool, its name without
    /// .spool]
    #[arg(short, long, value_name = "TRACE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Print what was recovered as JSON
    #[arg(long)]
    json: bool,
}

/// What the trace holds and what the spool lost, as JSON.
#[derive(Serialize)]
struct Figures {
    rows: u64,
    files: u64,
    torn_bytes: u64,
    /// The offset of the first damaged byte of the spool.
    damaged_at: Option<u64>,
}

/// Recovers, and prints how much.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let output = match args.output {
        Some(output) => output,
        None => default_output(&args.spool).context("say with -o which trace to write")?,
    };
    let out = args.force.destination(&output);
    let recovered = recover::recover(&args.spool, &out)?;
    let words = Words::beside([&out]);
    if args.json {
        words.json(&Figures {
            rows: recovered.summary.rows,
            files: recovered.summary.files,
            torn_bytes: recovered.torn_bytes,
            damaged_at: recovered.damaged_at,
        })?;
    } else {
        words.text(&format!("{}: {}\n", output::shown(out.path()), describe(&recovered)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(recovered: &Recovered) -> String {
    let rows = counted(recovered.summary.rows, "row");
    let lost = format_bytes(recovered.torn_bytes);
    let torn = match recovered.damaged_at {
        Some(at) => format!("the last {lost}, from byte {at} on, are damaged and are lost"),
        None if recovered.torn_bytes == 0 => "no batch was torn".to_owned(),
        None => format!("the last {lost} were torn and are lost"),
    };
    format!("{rows} recovered; {torn}")
}

fn default_output(spool: &Path) -> Option<PathBuf> {
    if !spool.exists() {
        return Some(spool.to_owned()); // the name of the trace to make
    }
    (spool.extension()? == "spool").then(|| spool.with_extension(""))
}
