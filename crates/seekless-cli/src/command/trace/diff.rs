//! `seekless trace diff`: shows what only one of two traces reads.

use crate::output::table;
use crate::output::{self, shown};
use seekless::device::units::{counted, format_bytes, parse_bytes};
use seekless::job::roots::{Root, Roots};
use seekless::tools::diff::{Change, Diff, Row, diff};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the files and bytes that only one of two traces reads.
///
/// Bytes are those of pages that were read, touched or loaded, each counted once, over all runs of
/// a trace. A file that is gone from one folder and has arrived in another with the same name and
/// size has moved; bytes of it that both read are not new.
///
/// Exits with 0 if the traces could be compared. With --fail-on-new it exits with 1 if the new
/// trace reads more than this many bytes that the old one does not, so that a build can stop where
/// a start has grown.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace diff before.parquet after.parquet
  seekless trace diff before.parquet after.parquet --fail-on-new 5MB
  seekless trace diff before.parquet after.parquet --root /opt/app-1.2=/opt/app-1.3 --json")]
pub struct Args {
    /// The trace to compare with
    old: PathBuf,
    /// The trace that may read more
    new: PathBuf,
    /// Exit with 1 if the new trace reads more bytes than this that the old one does not
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    fail_on_new: Option<u64>,
    /// Files that the old trace names below OLD are below NEW in the new one; may be given several
    /// times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Show the first N files only [default: 40; all with --json]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

const TOP: usize = 40;
/// Exit code 1 is a negative result.
const TOO_MUCH_IS_NEW: u8 = 1;

/// The output of `--json`.
#[derive(Serialize)]
struct Figures<'a> {
    #[serde(flatten)]
    diff: &'a Diff,
    /// Whether more is new than may be, if there is a limit.
    too_much_is_new: Option<bool>,
}

/// Compares and prints.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut diff = diff(&args.old, &args.new, &Roots::new(args.root))?;
    let failed = args.fail_on_new.map(|limit| diff.only_new_bytes > limit);
    let all = diff.rows.len();
    let top = args.top.unwrap_or(if args.json { all } else { TOP });
    diff.rows.truncate(top);
    if args.json {
        output::json(&Figures { diff: &diff, too_much_is_new: failed })?;
    } else {
        output::text(&report(&diff, all))?;
    }
    if failed != Some(true) {
        return Ok(ExitCode::SUCCESS);
    }
    output::say(format_args!(
        "{} reads {} that {} does not, and --fail-on-new allows {}",
        shown(&args.new),
        format_bytes(diff.only_new_bytes),
        shown(&args.old),
        format_bytes(args.fail_on_new.unwrap_or_default())
    ));
    Ok(ExitCode::from(TOO_MUCH_IS_NEW))
}

fn report(diff: &Diff, all: usize) -> String {
    let mut text = format!(
        "only the old one reads {}, only the new one {}; both read {}\n",
        format_bytes(diff.only_old_bytes),
        format_bytes(diff.only_new_bytes),
        format_bytes(diff.common_bytes)
    );
    let mut counts = vec![format!("{} read alike", counted(diff.same_files, "file"))];
    counts.extend(diff.changes.iter().map(|(change, files)| format!("{files} {}", word(*change))));
    let _ = writeln!(text, "{}", counts.join(", "));
    if diff.rows.is_empty() {
        return text;
    }
    let size = |bytes: Option<u64>| bytes.map_or("-".to_owned(), format_bytes);
    let row = |row: &Row| {
        let path = match &row.was {
            Some(was) => format!("{} (was {})", shown(&row.path), shown(was)),
            None => row.path.clone(),
        };
        let (old, new) = (format_bytes(row.old_bytes), format_bytes(row.new_bytes));
        let sizes = (size(row.old_file_bytes), size(row.new_file_bytes));
        vec![old, new, sizes.0, sizes.1, word(row.change).to_owned(), path]
    };
    let header = ["only old", "only new", "old size", "new size", "change", "file"];
    let _ = write!(text, "\n{}", table(&header, diff.rows.iter().map(row).collect()));
    if all > diff.rows.len() {
        let left = counted((all - diff.rows.len()) as u64, "more file");
        let _ = write!(text, "\nand {left}: --top {all} shows all\n");
    }
    text
}

fn word(change: Change) -> &'static str {
    match change {
        Change::New => "new",
        Change::Gone => "gone",
        Change::Moved => "moved",
        Change::Grown => "grown",
        Change::Shrunk => "shrunk",
        Change::Ranges => "other ranges",
    }
}
