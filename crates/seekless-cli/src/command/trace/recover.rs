//! `seekless trace recover`: the spool of a recording that was cut off, as a trace.

use super::counted;
use crate::output;
use anyhow::Context;
use seekless::device::units::format_bytes;
use seekless::trace::recover;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Turn the spool of a recording that was cut off into a trace.
///
/// A recorder that is killed leaves `run.parquet.spool`. All of it but a torn last batch becomes the trace; the spool stays.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace recover run.parquet.spool
  seekless trace recover run.parquet.spool -o rescued.parquet")]
pub struct Args {
    /// The spool
    spool: PathBuf,
    /// The trace to write [default: the spool's name without .spool]
    #[arg(short, long, value_name = "TRACE")]
    output: Option<PathBuf>,
}

/// Recovers, and says how much.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let output = match args.output {
        Some(output) => output,
        None => without_extension(&args.spool).context("say with -o which trace to write")?,
    };
    let recovered = recover::recover(&args.spool, &output)?;
    let rows = counted(recovered.summary.rows, "row");
    let torn = match recovered.torn_bytes {
        0 => "no batch was torn".to_owned(),
        torn => format!("the last {} were torn and are lost", format_bytes(torn)),
    };
    output::text(&format!("{}: {rows} recovered; {torn}\n", output.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn without_extension(spool: &Path) -> Option<PathBuf> {
    (spool.extension()? == "spool").then(|| spool.with_extension(""))
}
