//! `seekless pack`: packs a folder into an ordered Zip, or checks an existing Zip.

use crate::interrupt;
use crate::output::{self, Words};
use anyhow::{Context, bail};
use clap::ValueEnum;
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_count, parse_bytes};
use seekless::tools::device::named;
use seekless::tools::order::DEVICE;
use seekless::tools::pack::{Codec, Options, OrderBy, Summary, check, pack, pack_for_runs};
use seekless::tools::roots::{Root, Roots};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Build an archive with its files in the order they are read.
///
/// The archive is a plain Zip that any tool opens. Files that the order does not name follow by
/// name. A link is packed as its target, which must lie in the folder too. The archive appears
/// whole or not at all.
///
/// A pack cannot hold pipes, sockets, devices, links that lead nowhere or out of the folder, and
/// names that are not UTF-8 or not allowed in an archive. They are left out with a message; with
/// --strict they are an error.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless pack data -o data.zip --order order.txt
  seekless pack data -o data.zip --trace monday.parquet tuesday.parquet --verify
  seekless pack data -o data.zip --trace runs/*.parquet --device s3
  seekless pack data -o data.zip                 by name
  seekless pack data -o data.zip --trace run.parquet --root /home/me/data=data --exclude '*.tmp'
  seekless pack --check data.zip                 is an archive whole?")]
pub struct Args {
    /// The folder to pack.
    #[arg(value_name = "DIR", required_unless_present = "check", requires = "output")]
    directory: Option<PathBuf>,
    /// The archive to write; - is standard output
    #[arg(short, long, value_name = "ZIP", requires = "directory")]
    output: Option<PathBuf>,
    /// The order of the files, one path a line, relative to DIR or as recorded
    #[arg(long, value_name = "FILE", conflicts_with = "trace")]
    order: Option<PathBuf>,
    /// Order them by these runs, the last being the newest
    #[arg(long, num_args = 1.., value_name = "RUN")]
    trace: Vec<PathBuf>,
    /// How the order is made from the runs
    #[arg(long, value_enum, default_value_t, requires = "trace")]
    method: Method,
    /// The device from which the archive will be read: a name that `seekless devices` lists,
    /// iops=N,bandwidth=RATE, or a TOML file [default: iops=500,bandwidth=150MB/s]
    #[arg(long, value_name = "DEVICE", value_parser = named, requires = "trace")]
    device: Option<DeviceSpec>,
    /// For greedy: a cache of this size, emptied at each run's start, absorbs repeated loads
    /// [default: unlimited]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, requires = "trace")]
    cache: Option<u64>,
    /// Leave out files that match: '*.tmp' at any depth, 'art/**/*.psd' from the folder on; may be
    /// given several times
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Refuse a folder with things that do not fit into a pack, rather than leave them out
    #[arg(long)]
    strict: bool,
    /// Files that the traces name below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// How files are stored; auto deflates those that shrink by 3 % or more
    #[arg(long, value_enum, default_value_t)]
    codec: CodecName,
    /// Read the archive back and check every entry before it appears
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    force: output::Force,
    /// Check every entry of an existing archive instead
    #[arg(long, value_name = "ZIP", conflicts_with_all = ["directory", "order", "trace", "exclude", "strict", "root", "verify", "force"])]
    check: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum CodecName {
    #[default]
    Auto,
    Stored,
    Deflate,
}

impl From<CodecName> for Codec {
    fn from(name: CodecName) -> Self {
        match name {
            CodecName::Auto => Codec::Auto,
            CodecName::Stored => Codec::Stored,
            CodecName::Deflate => Codec::Deflate,
        }
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Method {
    /// What loads fastest from the device, judged on runs that the order was not made from
    #[default]
    Best,
    /// By name, not by the runs
    Name,
    /// As the newest run loaded them, then as the run before
    Recent,
    /// Chains of files that followed each other
    Greedy,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::Name => "name",
            Self::Recent => "recent",
            Self::Greedy => "greedy",
        }
    }
}

/// Packs or checks, and prints the result.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match (&args.check, &args.directory, &args.output) {
        (Some(archive), _, _) => check_archive(archive, args.json),
        (None, Some(directory), Some(output)) => pack_folder(directory, output, &args),
        _ => bail!("name the folder to pack and, with -o, the archive to write"),
    }
}

fn pack_folder(directory: &Path, out: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let options = Options {
        codec: args.codec.into(),
        verify: args.verify,
        roots: Roots::new(args.root.clone()),
        exclude: args.exclude.clone(),
        strict: args.strict,
        cancel,
    };
    let out = args.force.destination(out);
    let mut progress = output::progress("Packing");
    let packed = if args.trace.is_empty() {
        pack(directory, &out, &order(args)?, &options, &mut progress)
    } else {
        let how = OrderBy {
            method: args.method.name().to_owned(),
            cache: args.cache,
            device: args.device.clone().unwrap_or(DEVICE),
        };
        pack_for_runs(directory, &out, &args.trace, &how, &options, &mut progress)
    };
    drop(progress);
    let Some(summary) = interrupt::finished(packed)? else { return Ok(interrupt::exit_code()) };
    warn(&summary, args);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&summary)?;
    } else {
        words.text(&report(out.path(), &summary))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The paths of `--order`. If there are none, files lie by name. Bytes that are not UTF-8 are
/// replaced: no name in a pack matches such a path.
fn order(args: &Args) -> anyhow::Result<Vec<String>> {
    let Some(file) = &args.order else { return Ok(Vec::new()) };
    let bytes =
        std::fs::read(file).with_context(|| format!("cannot read the order {}", file.display()))?;
    Ok(String::from_utf8_lossy(&bytes)
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}

/// Warns of things in the archive that the user may not expect.
fn warn(summary: &Summary, args: &Args) {
    if summary.order.given == 0 && !args.trace.is_empty() {
        eprintln!(
            "seekless: the runs load no file, so the files lie by name (see `seekless trace info`)"
        );
    }
    let left_out = &summary.left_out;
    if left_out.count > 0 {
        eprintln!(
            "seekless: left out {} that a pack cannot hold:",
            counted(left_out.count, "thing")
        );
        left_out.examples.iter().for_each(|example| eprintln!("  {example}"));
        if left_out.count > left_out.examples.len() as u64 {
            eprintln!("  ...");
        }
    }
}

fn report(out: &Path, summary: &Summary) -> String {
    let mut text = String::new();
    let folders = match summary.directories {
        0 => String::new(),
        folders => format!(" and {}", counted(folders, "empty folder")),
    };
    let _ = writeln!(
        text,
        "{}: {}{folders}, {} in {} ({} deflated, {} stored){}",
        out.display(),
        counted(summary.stored + summary.deflated, "file"),
        format_bytes(summary.bytes),
        format_bytes(summary.archive_bytes),
        format_count(summary.deflated),
        format_count(summary.stored),
        if summary.verified { ", read back and whole" } else { "" }
    );
    if summary.excluded > 0 {
        let _ = writeln!(text, "{} excluded", format_count(summary.excluded));
    }
    let order = &summary.order;
    text += &order.moved.as_ref().map(output::moved).unwrap_or_default();
    if order.given > 0 {
        let _ = writeln!(text, "{} of them are placed by the order", format_count(order.placed));
    }
    if let Some(example) = &order.missing_example {
        let _ = writeln!(
            text,
            "{} paths that the order gives are not in the folder, such as {example}",
            format_count(order.missing)
        );
    }
    text
}

/// The output of `--check --json`.
#[derive(Serialize)]
struct Checked {
    entries: u64,
    bytes: u64,
    coded_bytes: u64,
}

fn check_archive(archive: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let mut progress = output::progress("Checking");
    let found = check(archive, &mut progress);
    drop(progress);
    let found = found?;
    if json {
        output::json(&Checked {
            entries: found.entries,
            bytes: found.bytes,
            coded_bytes: found.coded_bytes,
        })?;
    } else {
        let (entries, bytes) = (counted(found.entries, "entry"), format_bytes(found.bytes));
        output::text(&format!("{}: {entries} with {bytes}, all whole\n", archive.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
