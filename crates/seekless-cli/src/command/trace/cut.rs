//! `seekless trace cut`: cuts a part out of a trace.

use crate::output::{self, Words};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use seekless::device::units::{counted, parse_duration};
use seekless::tools::cut::{Cut, cut};
use seekless::trace::Op;
use std::path::PathBuf;
use std::process::ExitCode;

/// Cut a part out of a trace.
///
/// A row is kept if it fits every option given. An option that is given several times fits any of
/// its values. Times count from each run's start, and stay as they are. Runs that --run keeps are
/// numbered anew, from 0.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace cut run.parquet --to 3s -o start.parquet
  seekless trace cut run.parquet --path '/usr/lib/**' --op read --op fault -o libs.parquet
  seekless trace cut run.parquet --exclude '*.log' --pid 4711 -o one.parquet
  seekless trace cut week.parquet --run 5 --run 6 -o weekend.parquet")]
pub struct Args {
    /// The trace to cut
    trace: PathBuf,
    /// From this time on, such as 1.5s
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    from: Option<u64>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    to: Option<u64>,
    /// Only files that match; a folder stands for all below it, and a glob without / in front
    /// matches at any depth
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,
    /// No files that match
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Only this run
    #[arg(long, value_name = "N")]
    run: Vec<u32>,
    /// Only this operation
    #[arg(long, value_name = "OP", value_parser = op())]
    op: Vec<Op>,
    /// Only this process
    #[arg(long, value_name = "N")]
    pid: Vec<u32>,
    /// Only this thread
    #[arg(long, value_name = "N")]
    tid: Vec<u32>,
    /// The trace to write; - is standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
    /// Print what was kept as JSON
    #[arg(long)]
    json: bool,
}

fn op() -> impl TypedValueParser<Value = Op> {
    PossibleValuesParser::new(Op::ALL.map(Op::as_str)).try_map(|word| word.parse::<Op>())
}

/// Cuts, and prints what was kept.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let rule = Cut {
        time_ns: args.from.unwrap_or(0)..args.to.unwrap_or(u64::MAX),
        paths: args.path,
        exclude: args.exclude,
        runs: args.run,
        ops: args.op,
        pids: args.pid,
        tids: args.tid,
    };
    let out = args.force.destination(&args.output);
    let mut progress = output::progress("Cutting");
    let kept = cut(&args.trace, &out, &rule, &mut progress)?;
    drop(progress);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&kept)?;
    } else {
        let (rows, files) = (counted(kept.rows, "row"), counted(kept.files, "file"));
        let left = counted(kept.left_out, "row");
        words
            .text(&format!("{}: {rows}, {files}; left out {left}\n", output::shown(out.path())))?;
    }
    Ok(ExitCode::SUCCESS)
}
