//! `seekless cool`: drops files from the page cache.

use crate::next::{self, Found};
use crate::output::Words;
use crate::{interrupt, output};
use seekless::device::units::counted;
use seekless::tools::cool::{Cooled, cool};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Drop files from the page cache, to try a cold start.
///
/// The opposite of `seekless warm`, and no root is needed. Pages that a program has mapped stay,
/// and so do names and inodes. What programs wrote to the files and the device does not have yet is
/// written first. The status is 1 if something of the files stayed cached.
///
/// With --everything (root) all caches of the machine are dropped, names and inodes too.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless cool ~/game && time ~/game/start
  seekless cool /usr/lib/python3
  sudo seekless cool --everything .")]
pub struct Args {
    /// Files, and folders with all below them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Drop all caches of the machine, names and inodes too (root)
    #[arg(long)]
    everything: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Drops the files, and prints what that came to.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::cancel_when_interrupted()?;
    let cooled = cool(&args.paths, args.everything, &cancel);
    let Some(cooled) = interrupt::finished(cooled)? else {
        return Ok(interrupt::exit_code());
    };
    match args.json {
        true => output::json(&cooled)?,
        false => {
            output::text(&report(&cooled))?;
            next::say(Words::Output, &Found::Cooled)?;
        }
    }
    Ok(ExitCode::from(u8::from(!cooled.coldness.is_cold())))
}

fn report(cooled: &Cooled) -> String {
    let mut text = format!("{}\n", cooled.coldness);
    for path in &cooled.coldness.could_not_drop_examples {
        let _ = writeln!(text, "still cached, at least in part: {}", output::line(path));
    }
    for (why, count) in &cooled.left_out {
        let _ = writeln!(text, "left out, {why}: {}", counted(*count, "time"));
    }
    text
}
