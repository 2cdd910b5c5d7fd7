//! `seekless trace blocks`: maps the accesses of a trace to the blocks of the device.

use crate::output::table;
use crate::output::{self, Words, shown};
use seekless::device::units::{counted, format_bytes, format_count};
use seekless::job::roots::{Root, Roots};
use seekless::tools::blocks::{Options, Report, Why, blocks};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Map the accesses of a trace to the blocks of the device, as if there were no page cache.
///
/// Each read, write and first touch of a file becomes a row for each piece of it that lies together
/// on the device, in whole sectors of 512 bytes, at the time of the access. FIEMAP shows where
/// files lie now, so map a trace soon after it was recorded; `seekless record --block` looks while
/// the program runs, and so also knows files that are deleted meanwhile. The device is the whole
/// disk: its name is the path of the rows, and a partition's files have the offsets of the disk.
///
/// Accesses that reach no device are left out and counted: holes and space that is reserved and
/// unwritten (reads of zeros), data within inodes, compressed and encrypted data, data that has no
/// place yet, file systems without a block device (tmpfs, overlay, btrfs, a network), and files
/// that are gone. Accesses to a block device itself stay where they are.
///
/// With --ozen the rows are those of Ozen's collector: for each read or write call a row for every
/// 512 bytes, from its first byte to the byte behind its last, so that an aligned access of 4096
/// bytes has nine; −1 is the offset of a row that is on no device.
/// `seekless trace export --format ozen` writes them as his text.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless trace blocks run.parquet -o blocks.parquet
  seekless trace blocks run.parquet --sync -o blocks.parquet      new files get their places first
  seekless trace blocks run.parquet --root /old/place=/new/place -o blocks.parquet
  seekless trace blocks run.parquet --ozen -o lines.parquet
  seekless sim blocks.parquet --policy lru,2q,arc --capacity 10000pages")]
pub struct Args {
    /// The trace of files to map
    trace: PathBuf,
    /// Where a traced tree lies now; may be given again
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Keep the accesses of this device alone, such as sda
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Write files back that have no places yet, which takes the time of the writes
    #[arg(long)]
    sync: bool,
    /// A row for each sector, and one more, as Ozen's collector writes them
    #[arg(long)]
    ozen: bool,
    /// The block trace to write; - is standard output
    #[arg(short, long, value_name = "TRACE")]
    output: PathBuf,
    #[command(flatten)]
    force: output::Force,
    /// Print what was written and left out as JSON
    #[arg(long)]
    json: bool,
}

/// Maps, and prints what was written and left out.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let out = args.force.destination(&args.output);
    let options = Options {
        ozen: args.ozen,
        sync: args.sync,
        roots: Roots::new(args.root),
        device: args.device,
    };
    let mut progress = output::progress("Mapping");
    let report = blocks(&args.trace, &out, None, &options, &mut progress)?;
    drop(progress);
    let words = Words::beside([&out]);
    if args.json {
        words.json(&report)?;
    } else {
        words.text(&said(&report, &shown(out.path())))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many names of a list are shown.
const NAMES_SHOWN: usize = 5;

/// The report in words.
pub(in crate::command) fn said(report: &Report, output: &str) -> String {
    let (rows, accesses) = (counted(report.rows, "row"), counted(report.accesses, "access"));
    let mut text = format!("{output}: {rows} of {accesses}\n\n");
    let row = |device: &seekless::tools::blocks::OnDevice| {
        vec![
            device.name.clone(),
            format_count(device.rows),
            format_bytes(device.read_bytes),
            format_bytes(device.written_bytes),
        ]
    };
    let rows = report.devices.iter().map(row).collect();
    text += &table(&["device", "rows", "read", "written"], rows);
    for (why, sum) in &report.left_out {
        let (parts, bytes) = (counted(sum.parts, "part"), format_bytes(sum.bytes));
        let _ = writeln!(text, "left out: {parts}, {bytes}, {}", reason(*why));
    }
    names(&mut text, "gone", report.gone.iter().map(|name| shown(name).into_owned()));
    let moved = report.moved.iter().map(|(old, new)| format!("{} -> {}", shown(old), shown(new)));
    names(&mut text, "moved", moved);
    names(
        &mut text,
        "another file has its name now",
        report.replaced.iter().map(|it| shown(it).into_owned()),
    );
    if report.refused > 0 {
        let _ = writeln!(text, "not looked up while it ran: {}", counted(report.refused, "file"));
    }
    text
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Hole => "in holes, which read as zeros",
        Why::Unwritten => "in reserved space that was never written, which reads as zeros",
        Why::Inline => "within inodes or among other data",
        Why::Encoded => "compressed or encrypted",
        Why::Delayed => "not written back: deleted before, or --sync was not given",
        Why::Unknown => "whose place the file system does not give",
        Why::NoDevice => "on no block device (tmpfs, overlay, btrfs, a network)",
        Why::Gone => "in files that are gone",
        Why::Unreadable => "in things that are no files, or may not be opened",
        Why::TooMany => "in files with too many extents",
    }
}

/// A line of some names, if there are any.
fn names(text: &mut String, what: &str, names: impl ExactSizeIterator<Item = String>) {
    let more = names.len().saturating_sub(NAMES_SHOWN);
    let shown: Vec<String> = names.take(NAMES_SHOWN).collect();
    if !shown.is_empty() {
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(text, "{what}: {}{more}", shown.join(", "));
    }
}
