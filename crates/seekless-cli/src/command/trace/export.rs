//! `seekless trace export`: converts a trace to other formats.

use super::info::note_origin;
use crate::output;
use seekless::trace::export;
use seekless::trace::open_any;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write a trace as text, or for another simulator.
///
/// csv: a header and one access a row. Times are in nanoseconds, unknown values are empty.
/// `seekless trace import` reads it back.
///
/// ozen: a line `r N` or `w N` for each sector of 512 bytes that a read or write touches. The trace
/// must be of one device.
///
/// oracle-general: libCacheSim's records of 24 bytes, one for each load. In a block trace, and in a
/// trace without loads, there is one for each access; of one device, the sector where an access
/// begins is the object. Next accesses are computed.
///
/// lcs1, lcs2, lcs3: the same behind a header; 2 and 3 also hold the operation, 3 has sizes of 64
/// bits.
///
/// fio2, fio3: a log that `fio --read_iolog` replays, of the reads, writes and syncs of one run; 3
/// has a time on each line.
///
/// perfetto: events of one run that `ui.perfetto.dev` opens (JSON): a slice for each call on
/// the track of its thread, an instant for each touch of a mapped file.
///
/// A file whose name ends in .zst is compressed with zstd.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace export run.parquet | head
  seekless trace export --format csv run.parquet -o run.csv
  seekless trace export --format oracle-general blocks.parquet -o blocks.oracleGeneral.zst
  seekless trace export --format fio3 run.parquet -o run.fio
  seekless trace export --format perfetto run.parquet -o run.json")]
pub struct Args {
    /// The trace to read
    trace: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// The file to write; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Format {
    /// Rows with named columns
    Csv,
    /// Sectors of a device, read or written
    Ozen,
    /// Objects for libCacheSim
    OracleGeneral,
    /// Objects for libCacheSim, version 1
    Lcs1,
    /// Objects for libCacheSim, version 2
    Lcs2,
    /// Objects for libCacheSim, version 3
    Lcs3,
    /// A log for fio, version 2
    Fio2,
    /// A log for fio, version 3
    Fio3,
    /// Events for Perfetto's UI
    Perfetto,
}

/// Exports.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let format = match args.format {
        Format::Csv => export::Format::Csv,
        Format::Ozen => export::Format::Ozen,
        Format::OracleGeneral => export::Format::OracleGeneral,
        Format::Lcs1 => export::Format::Lcs(export::LcsVersion::One),
        Format::Lcs2 => export::Format::Lcs(export::LcsVersion::Two),
        Format::Lcs3 => export::Format::Lcs(export::LcsVersion::Three),
        Format::Fio2 => export::Format::Fio(export::FioVersion::Two),
        Format::Fio3 => export::Format::Fio(export::FioVersion::Three),
        Format::Perfetto => export::Format::Perfetto,
    };
    let out = args.force.destination(&args.output);
    out.check(format.content(&out))?;
    let trace = open_any(&args.trace)?;
    note_origin(&args.trace, &trace);
    let mut progress = output::progress("Exporting");
    let mut silent = |_, _| {}; // a bar would be drawn between the rows
    let progress: &mut dyn FnMut(u64, u64) =
        if out.is_standard_output() { &mut silent } else { &mut progress };
    export::to_file(&trace, &out, format, progress)?;
    Ok(ExitCode::SUCCESS)
}
