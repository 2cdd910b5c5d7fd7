//! `seekless trace export`: trace to text.

use super::info::note_origin;
use crate::output;
use seekless::trace::{export, open_any};
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a trace as text.
///
/// csv: a header and one access a row, times in nanoseconds, unknown values empty. `seekless trace import` reads it back.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace export run.parquet | head
  seekless trace export --format csv run.parquet -o run.csv")]
pub struct Args {
    /// The trace to read
    trace: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    /// Rows with named columns
    Csv,
}

/// Exports.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Format::Csv = args.format;
    let trace = open_any(&args.trace)?;
    note_origin(&trace);
    let mut progress = output::progress("Exporting");
    match &args.output {
        Some(output) => export::csv_file(&trace, output, &mut progress)?,
        None => export::csv(&trace, &mut std::io::stdout().lock(), &mut |_, _| {})?,
    }
    Ok(ExitCode::SUCCESS)
}
