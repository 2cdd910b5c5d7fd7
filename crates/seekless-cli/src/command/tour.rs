//! `seekless tour`: all steps on a sample workload, with a before-and-after table.

use super::compare::{draw, rivals_table, times};
use crate::output::{self, Picture, Words, shown};
use crate::{interrupt, launch};
use anyhow::Context;
use seekless::device::DeviceSpec;
use seekless::report::{BarRow, bars};
use seekless::tools::advise;
use seekless::tools::device::named;
use seekless::tools::tour::{Event, Options, Step, Tour, room_for, tour};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// See all steps on a program of this machine and on a sample: advise, record, pack, compare.
///
/// Begins with a program that is here (Python, Perl, git or the shell), starts it a few times, cold
/// and with its files cached, on the real disk, and says what it waits for; nothing is changed.
///
/// Then makes a tree of some 3,000 small files, like those of a game, and records a small reader in
/// five runs of about 300 loads. Packs the files in an order made from four of the runs. Then loads
/// the fifth, from which that order was not made, on a modelled disk: from the loose files, from
/// the pack, and from packs in simple orders. Each step shows the command that you would type.
/// Takes a minute and 500 MB of disk, needs no root, and removes what it made. The modelled disk's
/// waits are counted but skipped (see `seekless compare --help`, --clock).
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless tour
  seekless tour --keep sample
  seekless tour --device iops=500,bandwidth=150MB/s --json")]
pub struct Args {
    /// Work in this folder, new or empty, and leave everything there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The modelled device that the last step loads on: a name that `seekless devices` lists,
    /// iops=N,bandwidth=RATE, or a TOML file
    #[arg(long, default_value = "iops=120,bandwidth=150MB/s", value_name = "DEVICE", value_parser = named)]
    device: DeviceSpec,
    /// Draw the before-and-after picture into this file: .svg or .png
    #[arg(long, value_name = "FILE", value_parser = output::picture_file)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    /// A tenth of the files, one round: for tests
    #[arg(long, hide = true)]
    small: bool,
}

/// Cold starts of a program of this machine, and as many cached ones; none begins after the budget.
const START_PAIRS: usize = 2;
const START_BUDGET: Duration = Duration::from_secs(4);

const PICTURE_TITLE: &str =
    "A game's start: its files, and the same files in a pack ordered by other runs";

/// Runs all steps in a temporary folder, or in the folder of `--keep`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = options(&args)?;
    let picture = Picture::begin(args.picture.as_deref(), args.force)?;
    match &args.keep {
        Some(directory) => {
            prepare(directory)?;
            walk(directory, &options, &args, picture)?;
        }
        None => {
            let parent = room_for(&options)?;
            let directory =
                tempfile::Builder::new().prefix("seekless-tour-").tempdir_in(&parent)?;
            let removal = interrupt::remove_when_interrupted(directory.path())?;
            removal.unless_begun(walk(directory.path(), &options, &args, picture))?;
            directory.close().context("cannot remove the tour's temporary folder")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn options(args: &Args) -> anyhow::Result<Options> {
    let program = std::env::current_exe()
        .context("cannot find the running command, which the tour records")?;
    let advise = advise::Options {
        runs: if args.small { 1 } else { START_PAIRS },
        budget: Some(START_BUDGET),
        costs: None,
        verify: false,
        command: launch::called(&program),
        cancel: Arc::default(),
    };
    let reader: Vec<OsString> = vec![program.into(), "__tour-reader".into()];
    let base = if args.small { Options::small(reader) } else { Options::full(reader) };
    Ok(Options { device: args.device.clone(), advise: Some(advise), ..base })
}

fn prepare(directory: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", shown(directory)))?;
    let mut entries =
        directory.read_dir().with_context(|| format!("cannot look into {}", shown(directory)))?;
    anyhow::ensure!(
        entries.next().is_none(),
        "{} is not empty: give --keep a new or empty folder",
        shown(directory)
    );
    Ok(())
}

fn walk(
    directory: &Path,
    options: &Options,
    args: &Args,
    picture: Option<Picture>,
) -> anyhow::Result<()> {
    let words = Words::beside(picture.as_ref().map(Picture::destination));
    if !args.json {
        words.text(&welcome(directory, args.keep.is_some()))?;
    }
    let progress = Box::new(output::stages());
    let mut teller = Teller { words: (!args.json).then_some(words), steps: 0, progress };
    let done = tour(directory, options, &mut |event| teller.tell(event))?;
    if let Some(picture) = picture {
        draw(picture, PICTURE_TITLE, &done.comparison)?;
    }
    if args.json {
        words.json(&done)
    } else {
        words.text(&ending(&done, directory, args.keep.is_some()))
    }
}

/// Prints each step when it is done, and a progress bar while a step takes long.
struct Teller {
    /// Where to print; `None` prints nothing.
    words: Option<Words>,
    steps: u32,
    progress: Box<dyn FnMut(&'static str, u64, u64)>,
}

impl Teller {
    fn tell(&mut self, event: Event<'_>) {
        match event {
            Event::Progress { what, done, total } => (self.progress)(what, done, total),
            Event::Step(step) => {
                self.progress = Box::new(output::stages());
                self.steps += 1;
                if let Some(words) = self.words {
                    // If the reader of our output is gone, the report at the end notices it.
                    let _ = words.text(&step_text(self.steps, step));
                }
            }
        }
    }
}

fn welcome(directory: &Path, keep: bool) -> String {
    let fate = if keep { "stays there" } else { "is removed at the end; --keep DIR keeps it" };
    format!(
        "First a program of this machine starts. Then a game loads its files, and loads them from\n\
         a pack in the order it reads them. All of it happens in {} and {fate}.\n",
        shown(directory)
    )
}

fn step_text(number: u32, step: &Step) -> String {
    // A long command goes on in further lines.
    let lines = |command: &String| command.lines().map(output::line).collect::<Vec<_>>().join("\n");
    let commands: String =
        step.commands.iter().map(|command| format!("   $ {}\n", lines(command))).collect();
    format!("\n{number}. {}\n{commands}   {}\n", step.title, output::line(&step.found))
}

fn ending(done: &Tour, directory: &Path, keep: bool) -> String {
    let rivals = &done.comparison.rivals;
    let rows: Vec<BarRow> = rivals
        .iter()
        .map(|rival| BarRow {
            label: rival.name.clone(),
            value: rival.median_ns as f64,
            figure: times(rival.ratio),
        })
        .collect();
    let kept =
        if keep { format!("Everything is in {}.\n", shown(directory)) } else { String::new() };
    format!(
        "\nBefore and after: a run that the order was not made from, on {}\n\n{}\n{}\n{kept}\
         Next, with your own program:\n   \
         $ seekless advise -- YOUR PROGRAM\n   \
         $ seekless record -o run.parquet -- YOUR PROGRAM\n   \
         $ seekless pack DIR -o data.zip --trace run.parquet\n   \
         $ seekless compare DIR data.zip --trace run.parquet\n",
        done.comparison.device.as_deref().unwrap_or("this disk"),
        rivals_table(rivals),
        bars(&rows, 40),
    )
}
