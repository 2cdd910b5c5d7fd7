//! `seekless trace import`: converts other formats to a trace.

use crate::output::{self, Words};
use anyhow::bail;
use seekless::device::units::counted;
use seekless::trace::import::{self, Columns, Options, Report};
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a trace of text, or of another simulator's trace.
///
/// csv: one access a row. If the header has known names, no --columns is needed: time_s time_ms
/// time_us time_ns path size bytes offset op pid tid run latency_us error device inode and similar
/// ones. Without an op column each row is the load of a whole file, whose size is `size`.
///
/// ids: one id a line, as in the traces of caching papers. Each is a load of weight 1.
///
/// ozen: a block trace. Each line `r N` or `w N` is an access to a sector of 512 bytes of a device;
/// other lines are ignored. If the first line is the heading of a post-cache trace, N counts pages
/// of 4096 bytes.
///
/// oracle-general: libCacheSim's records of 24 bytes (time, object, size, next access). The result
/// is a trace of ids with sizes.
///
/// Files may be plain or compressed with gzip, xz, lzma or zstd; their content tells. Each file
/// becomes one run, in the order given; the last is the newest. A csv with a run column keeps its
/// runs.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace import --format csv monday.csv.gz tuesday.csv.gz -o runs.parquet
  seekless trace import --format csv log.csv -o run.parquet --columns time:ms=ts,path=name,bytes:KiB=len
  seekless trace import --format csv log.tsv -o run.parquet --delimiter tab --no-header --columns path=#1,size=#2
  seekless trace import --format ids web.txt.xz -o web.parquet
  seekless trace import --format ozen SequentialCopyGrep.txt.lzma -o copygrep.parquet
  seekless trace import --format oracle-general cloudphysics.oracleGeneral.zst -o cloudphysics.parquet")]
pub struct Args {
    /// The format of the files
    #[arg(long, value_enum)]
    format: Format,
    /// The files to import
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The trace to write; - is standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
    /// Which column holds which field: FIELD[:UNIT]=COLUMN,... where COLUMN is a name of the header
    /// or #1, #2, ...
    #[arg(long, value_name = "LIST")]
    columns: Option<Columns>,
    /// The character between columns, or `tab`
    #[arg(long, default_value = ",", value_name = "CHAR", value_parser = delimiter)]
    delimiter: u8,
    /// The first line is a row, not a header
    #[arg(long, requires = "columns")]
    no_header: bool,
    /// Skip malformed lines and count them
    #[arg(long)]
    lenient: bool,
    /// Print what was imported as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq)]
enum Format {
    /// Rows with named columns
    Csv,
    /// One id a line
    Ids,
    /// Sectors of a device, read or written
    Ozen,
    /// Objects of libCacheSim
    OracleGeneral,
}

/// Imports, and prints the result.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.format != Format::Csv && args.columns.is_some() {
        bail!("--columns is for --format csv: the other formats have no columns");
    }
    let options = Options {
        lenient: args.lenient,
        columns: args.columns,
        delimiter: args.delimiter,
        header: !args.no_header,
    };
    let out = args.force.destination(&args.output);
    let mut progress = output::progress("Importing");
    let (files, told) = (&args.files, &mut progress);
    let report = match args.format {
        Format::Csv => import::csv(files, &out, &options, told),
        Format::Ids => import::ids(files, &out, &options, told),
        Format::Ozen => import::ozen(files, &out, &options, told),
        Format::OracleGeneral => import::oracle_general(files, &out, &options, told),
    }?;
    drop(progress);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&report)?;
    } else {
        words.text(&describe(&report, &out.path().display().to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" => Ok(b'\t'),
        [b'"' | b'\n' | b'\r'] => Err("has another meaning in CSV".to_owned()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character, or `tab`".to_owned()),
    }
}

fn describe(report: &Report, output: &str) -> String {
    let (rows, runs) = (counted(report.rows, "row"), counted(report.runs.into(), "run"));
    let mut text = format!("{output}: {rows}, {runs}, {}\n", counted(report.files, "file"));
    if let Some(first) = &report.first_skipped {
        text +=
            &format!("skipped {}, the first: {first}\n", counted(report.skipped, "malformed line"));
    }
    if !report.ignored_columns.is_empty() {
        text +=
            &format!("no place in a trace for the columns {}\n", report.ignored_columns.join(", "));
    }
    text
}
