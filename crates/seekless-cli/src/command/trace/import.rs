//! `seekless trace import`: converts other formats to a trace.

use crate::command::foreign::{Foreign, Selected, input, kinds};
use crate::next::{self, Found};
use crate::output::{self, Words};
use seekless::device::units::counted;
use seekless::trace::import::{self, MALFORMED, Report};
use std::path::{Path, PathBuf};
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
/// lcs: libCacheSim's records behind a header of 8192 bytes, versions 1 to 8. Operations, tenants,
/// lifetimes and features are left out.
///
/// strace: the text of `strace -f -ttt -T -y -o FILE`; fewer options give fewer columns. fio: logs
/// of version 2 or 3. dxt: what darshan-dxt-parser prints. fiu-files: FIU's traces of files.
///
/// blkparse, blktrace, vscsi, msr, alibaba, tencent, spc, systor, fiu-blocks: block traces, as
/// their tools and collections have them. Of blkparse and blktrace the queued accesses are taken,
/// or the issued ones if the first is one. Files NAME.blktrace.0, NAME.blktrace.1, ... that are
/// given one after the other are one run.
///
/// binary: records of one length, whose fields --binary names.
///
/// twitter, cachelib, lrb, meta-cdn, ibm-objectstore, wiki, tencent-photo: traces of caches of
/// objects. Reads and writes of an entry are loads, and deletes are left out; --ops delete=remove
/// keeps them. meta-storage: reads and writes inside of the blocks of a store. arc: block traces
/// of ARC's authors, blocks of 512 bytes.
///
/// Without --format the format is guessed: lcs, blktrace and most formats of text from the first
/// bytes; oracle-general, lcs, csv and arc from the ending of the name (.oracleGeneral,
/// .oracleGeneral.bin, .lcs, .csv, .lis, perhaps followed by .zst, .gz, .xz or .lzma); the others
/// from their beginning.
///
/// Files may be plain or compressed with gzip, xz, lzma or zstd. Each file becomes one run, in the
/// order given; the last is the newest. A csv with a run column keeps its runs.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace import monday.csv.gz tuesday.csv.gz -o runs.parquet
  seekless trace import --format csv log.csv -o run.parquet --columns time:ms=ts,path=name,bytes:KiB=len
  seekless trace import --format csv log.tsv -o run.parquet --delimiter tab --no-header --columns path=#1,size=#2
  seekless trace import kv.csv -o kv.parquet --columns key=key,op=op,bytes=key_size+size
  seekless trace import ids.bin -o ids.parquet --binary u32:time,u64:key,u32:bytes,i64:next
  seekless trace import cluster12.csv --format twitter --where op=get --sample 1% -o gets.parquet
  seekless trace import --format ids web.txt.xz -o web.parquet
  seekless trace import --format ozen SequentialCopyGrep.txt.lzma -o copygrep.parquet
  seekless trace import cloudphysics.oracleGeneral.zst -o cloudphysics.parquet
  strace -f -ttt -T -y -o app.strace app && seekless trace import app.strace -o app.parquet
  seekless trace import sda.blktrace.* -o sda.parquet")]
pub struct Args {
    /// The files to import; - is standard input
    #[arg(required = true, value_name = "FILE", value_parser = input())]
    files: Vec<PathBuf>,
    /// The trace to write; - is standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
    #[command(flatten)]
    foreign: Foreign,
    #[command(flatten)]
    selected: Selected,
    /// Print what was imported as JSON
    #[arg(long)]
    json: bool,
}

/// Imports, and prints the result.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = args.selected.of(args.foreign.options()?);
    let out = args.force.destination(&args.output);
    let mut progress = output::counting("Importing", "rows");
    let report = import::any(&args.files, &out, &options, &mut progress)?;
    drop(progress);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&report)?;
    } else {
        words.text(&describe(&report, &output::shown(out.path())))?;
        if out.path() != Path::new("-") {
            next::say(words, &Found::Imported(out.path()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(report: &Report, output: &str) -> String {
    let (rows, runs) = (counted(report.rows, "row"), counted(report.runs.into(), "run"));
    let mut text = format!("{output}: {rows}, {runs}, {}\n", counted(report.files, "file"));
    if let Some(first) = &report.first_skipped {
        text += &format!(
            "skipped {}, the first: {}\n",
            counted(report.skipped, "malformed line"),
            output::line(first)
        );
    }
    let mut others = report.left_out.clone();
    others.remove(MALFORMED);
    if !others.is_empty() {
        text += &format!("left out: {}\n", kinds(&others));
    }
    if !report.ignored_columns.is_empty() {
        text += &format!(
            "no place in a trace for the columns {}\n",
            output::line(&report.ignored_columns.join(", "))
        );
    }
    text
}
