//! `seekless trace anonymise`: makes a trace fit to be given away.

use crate::output::{self, Words};
use seekless::device::units::counted;
use seekless::tools::anonymise::{Key, anonymise};
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a trace fit to be given away.
///
/// The name of each file and folder becomes a keyed hash (HMAC-SHA-256 of its path, 20 digits).
/// Without --key, the key is random and is not kept, so names cannot be tried out. With --key, the
/// same path has the same name in every trace that is made with this key; keep the key secret.
///
/// Kept are times from each run's start, sizes, offsets, operations, errors and latencies; of names
/// the depth, and an ending of up to 8 letters and digits; of runs the kernel, the clock, the
/// duration and the exit status. Processes and threads are numbered anew. Devices, inodes,
/// commands, folders, hosts and dates are dropped. From sizes and order, somebody who knows the
/// program may still recognise it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace anonymise run.parquet -o public.parquet
  head -c 32 /dev/urandom | base64 > secret.key
  seekless trace anonymise monday.parquet --key secret.key -o m.parquet
  seekless trace anonymise tuesday.parquet --key secret.key -o t.parquet")]
pub struct Args {
    /// The trace to read
    trace: PathBuf,
    /// The file whose content is the key [default: a random key]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The trace to write; - is standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

/// Anonymises, and prints the result.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let key = args.key.as_deref().map_or_else(Key::random, Key::read)?;
    let out = args.force.destination(&args.output);
    let mut progress = output::progress("Anonymising");
    let done = anonymise(&args.trace, &out, &key, &mut progress)?;
    drop(progress);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&done)?;
    } else {
        let (rows, files) = (counted(done.rows, "row"), counted(done.files, "file"));
        words.text(&format!("{}: {rows}, {files}\n", output::shown(out.path())))?;
    }
    Ok(ExitCode::SUCCESS)
}
