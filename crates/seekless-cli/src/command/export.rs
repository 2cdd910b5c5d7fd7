//! `seekless export`: lists what runs need, for tools that prefetch or lay out files themselves.

use crate::interrupt;
use crate::next::{self, Found};
use crate::output::table;
use crate::output::{self, Words};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use seekless::device::units::{counted, format_bytes, parse_bytes};
use seekless::job::roots::Root;
use seekless::start::export::{Exported, Format, Options, Order, Score, export};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// List the files that starts of a program need, for tools that prefetch or lay out files.
///
/// Writes the files that recorded runs read or touched in the form that another tool takes, in the
/// order in which the newest run needed them, then those that older runs add. In prefetch lists,
/// files that most runs need come first, since such a list may be cut; not so for squashfs-sort,
/// erofs, tar and webdataset, which lay files out (--order). nydus and juicefs get the ranges that
/// were needed, the other formats whole files.
///
/// Only files below --root are listed, by their names below it. Links are followed, so that a list
/// names the file itself. Names that a format cannot carry are left out. The summary on standard
/// error counts what was left out, and why.
///
/// With --score, each run is left out in turn and compared with the list that the others make: how
/// many of the bytes that it needs are listed, and how many it does not need.
///
/// soci: the index builder makes the prefetch artifacts from this list, since they name spans of
/// compressed layers. cvmfs-bundle: put the file beside the first file of the list, which is the
/// trigger, as .cvmfsbundle-NAME. erofs: the tar also holds the rest of the root, in name order.
/// webdataset: the files of a sample (one name up to the first dot) lie together, where the first
/// that was needed is; and so they do in a tar whose files are all parts of like samples.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless record -o run.parquet -- python3 app.py
  seekless export run.parquet --format vmtouch -o files.txt
  seekless export runs/*.parquet --format squashfs-sort --root /=rootfs -o sort.txt
  mksquashfs rootfs rootfs.squashfs -sort sort.txt
  seekless export runs/*.parquet --format juicefs --root /jfs --budget 500MB -o warm.txt
  seekless export runs/*.parquet --format tar --root /app --min-runs 2 -o app.tar
  seekless export runs/*.parquet --format nydus --score       how well such a list does")]
pub struct Args {
    /// Traces or profiles, files or objects (s3://BUCKET/KEY); the last run is the newest
    #[arg(required = true, value_name = "TRACE")]
    sources: Vec<PathBuf>,
    /// What to write
    #[arg(long, short_alias = 'f', value_name = "FORMAT", value_parser = format())]
    format: Format,
    /// The folder that the tool serves; only files below it are listed. OLD=NEW: the traces name it
    /// OLD, and it lies at NEW here
    #[arg(long, value_name = "DIR|OLD=NEW", default_value = "/", value_parser = root)]
    root: Root,
    /// List at most this many bytes: the list ends before the first file that does not fit
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    budget: Option<u64>,
    /// Only files that at least N runs need
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_runs: u32,
    /// The order: need is as the newest run needed the files; runs puts files first that most runs
    /// need [default: need for squashfs-sort, erofs, tar and webdataset, runs for the others]
    #[arg(long, value_enum)]
    order: Option<By>,
    /// The files are not here: believe the names and sizes in the traces
    #[arg(long)]
    unchecked: bool,
    /// Rate the list on runs that it was not made from; without -o write no list
    #[arg(long)]
    score: bool,
    /// The file to write; - is standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum By {
    Need,
    Runs,
}

fn format() -> impl TypedValueParser<Value = Format> {
    let value = |format: Format| PossibleValue::new(format.name()).help(format.about());
    PossibleValuesParser::new(Format::ALL.map(value)).try_map(|name| name.parse::<Format>())
}

/// Writes the list, and says what it holds.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = Options {
        root: args.root,
        budget_bytes: args.budget,
        min_runs: args.min_runs,
        order: args.order.map(|by| match by {
            By::Need => Order::Need,
            By::Runs => Order::Runs,
        }),
        unchecked: args.unchecked,
        score: args.score,
        cancel: interrupt::cancel_when_interrupted()?,
        ..Options::new(args.format)
    };
    let word = match (&args.output, args.score) {
        (None, true) => None,
        (word, _) => Some(word.as_deref().unwrap_or(Path::new("-"))),
    };
    let out = word.map(|word| args.force.destination(word));
    let mut progress = output::progress("Writing");
    let exported = export(&args.sources, out.as_ref(), &options, &mut progress);
    drop(progress);
    let Some(exported) = interrupt::finished(exported)? else { return Ok(interrupt::exit_code()) };
    match (args.json, &out) {
        (true, out) => Words::beside(out).json(&exported)?,
        (false, None) => output::text(&report(&exported))?,
        (false, Some(_)) => {
            Words::Error.text(&report(&exported))?;
            let (runs, format) = (exported.runs, exported.format);
            if !args.score {
                next::say(Words::Error, &Found::Exported { traces: &args.sources, runs, format })?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A folder, or where it was and where it is. Traces have canonical names.
fn root(word: &str) -> Result<Root, String> {
    let folder = Path::new(word);
    if word.contains('=') && !folder.is_dir() {
        return word.parse().map_err(|error: seekless::tools::Error| error.to_string());
    }
    let found = folder.canonicalize().or_else(|_| std::path::absolute(folder));
    let found = found.map_err(|error| error.to_string())?;
    let name = found.to_str().ok_or("has a name that is not UTF-8")?.to_owned();
    Ok(Root { old: name.clone(), new: name })
}

fn report(exported: &Exported) -> String {
    let mut text = format!(
        "{} of {}: {}; they needed {} of it\n",
        counted(exported.files, "file"),
        counted(exported.runs, "run"),
        format_bytes(exported.bytes),
        format_bytes(exported.needed_bytes)
    );
    for (why, count) in &exported.left_out {
        let _ = writeln!(text, "left out, {why}: {}", counted(*count, "file"));
    }
    if let (Some(first), true) = (&exported.first, exported.format == "cvmfs-bundle") {
        let _ = writeln!(text, "the trigger is {}", output::shown(first));
    }
    if let Some(score) = &exported.score {
        text += &scores(score);
    }
    text
}

fn scores(score: &Score) -> String {
    let share = |part: u64, whole: u64| percent(part as f64 / whole.max(1) as f64);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in &score.held_out {
        rows.push(vec![
            row.run.to_string(),
            format_bytes(row.needed_bytes),
            share(row.covered_bytes, row.needed_bytes),
            format_bytes(row.listed_bytes),
            format_bytes(row.vain_bytes),
        ]);
    }
    let held_out = table(&["run", "needs", "covered", "listed", "in vain"], rows);
    let learned = score.learned.iter().map(|row| {
        vec![
            row.runs.to_string(),
            percent(row.covered),
            format_bytes(row.listed_bytes),
            format_bytes(row.vain_bytes),
        ]
    });
    let learned = table(&["runs", "covered", "listed", "in vain"], learned.collect());
    format!(
        "\nEach run, on the list that the other runs make:\n{held_out}\n\
         A run that is left out, on lists of the newest others, on average:\n{learned}"
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::start::export::{HeldOut, Learned};

    #[test]
    fn the_report_counts_what_is_listed_and_what_is_not() {
        let score = Score {
            held_out: vec![HeldOut {
                run: 3,
                needed_bytes: 1_000_000,
                covered_bytes: 900_000,
                listed_bytes: 1_200_000,
                vain_bytes: 300_000,
            }],
            learned: vec![Learned {
                runs: 1,
                covered: 0.75,
                listed_bytes: 800_000,
                vain_bytes: 50_000,
            }],
        };
        let exported = Exported {
            format: "cvmfs-bundle",
            runs: 2,
            files: 40,
            bytes: 1_500_000,
            needed_bytes: 1_200_000,
            left_out: [("no longer there", 1)].into(),
            first: Some("bin/app".into()),
            score: Some(score),
        };
        assert_eq!(
            report(&exported),
            "40 files of 2 runs: 1.5 MB; they needed 1.2 MB of it\n\
             left out, no longer there: 1 file\n\
             the trigger is bin/app\n\
             \n\
             Each run, on the list that the other runs make:\n\
             run   needs  covered  listed   in vain\n\
             ──────────────────────────────────────\n\
             \u{20} 3  1.0 MB   90.0 %  1.2 MB  300.0 KB\n\
             \n\
             A run that is left out, on lists of the newest others, on average:\n\
             runs  covered    listed  in vain\n\
             ────────────────────────────────\n\
             \u{20}  1   75.0 %  800.0 KB  50.0 KB\n"
        );
    }
}
