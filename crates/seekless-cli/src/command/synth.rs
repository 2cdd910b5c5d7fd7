//! `seekless synth`: makes a tree with the names and sizes of a trace's files.

use crate::next::{self, Found};
use crate::output::Words;
use crate::{interrupt, output};
use seekless::device::units::{counted, format_bytes, format_count};
use seekless::job::roots::{Root, Roots};
use seekless::tools::synth::{Options, Summary, files_of, synth};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make files with a trace's names and sizes.
///
/// Their content deflates to about 0.55 of its size, and the same path always gets the same
/// content. Absolute paths are placed below DIR without their leading slash. Paths with `..` are
/// refused, and links are not followed. Existing files with the right size stay.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless synth run.parquet /tmp/data
  seekless synth files.csv.gz /tmp/data          a list with the columns path,size")]
pub struct Args {
    /// A trace, or a list of files with the columns path,size; may be compressed.
    #[arg(value_name = "TRACE|LIST")]
    source: PathBuf,
    /// The folder to make them in.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Make files that the trace names below OLD below NEW, in DIR; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Replace files that have another size
    #[arg(long)]
    force: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Makes the files and prints how many.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let files = files_of(&args.source, &Roots::new(args.root))?;
    let mut progress = output::progress("Making files");
    let made =
        synth(&args.directory, &files, &Options { force: args.force, cancel }, &mut progress);
    drop(progress);
    let Some(summary) = interrupt::finished(made)? else { return Ok(interrupt::exit_code()) };
    if args.json {
        output::json(&summary)?;
    } else {
        output::text(&report(&args.directory, &summary))?;
        let (source, directory) = (&args.source, &args.directory);
        next::say(Words::Output, &Found::Made { source, directory })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn report(directory: &Path, summary: &Summary) -> String {
    let (files, bytes) = (counted(summary.files, "file"), format_bytes(summary.bytes));
    let mut text = format!("{}: {files}, {bytes}", output::shown(directory));
    if summary.kept > 0 {
        text += &format!("; there already: {}", format_count(summary.kept));
    }
    if summary.replaced > 0 {
        text += &format!("; replaced, since of another size: {}", format_count(summary.replaced));
    }
    text + "\n"
}
