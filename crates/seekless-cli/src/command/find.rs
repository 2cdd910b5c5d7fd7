//! `seekless find`: GNU find, and what each file would cost to read.

use crate::output;
use seekless::tools::find::{Ended, find};
use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal};
use std::process::ExitCode;

/// Find files as GNU find does, also by what they would cost to read now.
///
/// Paths, tests and actions are GNU find's: names, -regex in all its dialects, types, sizes, times, owners, -perm, -exec,
/// -execdir, -ok, -print0, -printf, -ls, -fprint, -fls, -files0-from, -prune, -delete, -quit, -maxdepth, -mindepth, -depth,
/// -xdev, -H, -L, -newer, -samefile, -empty and the rest of its list, but -D and, in -newerXt,
/// dates in other words than `2026-11-21 09:30`, `@SECONDS`, `yesterday`, `3 days ago` and the like. No file is
/// read or recalled to decide, and only a file whose cost is asked is opened. Where it saves time, files are looked at before their
/// turn, by several threads; what is done and shown, and in which order, is the same.
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "seekless find [-H] [-L] [-P] [OPTIONS] [PATH]... [EXPRESSION]",
    after_help = "\
What a file costs is the time that devices need to deliver it; what lies in memory counts nothing.

Tests:
  -latency N     N seconds, in whole units rounded up; +N is more, -N is less, 0 is nothing to fetch.
                 m50, M50, 50ms are 50 milliseconds (not minutes, not MiB); u50, U50, 50us microseconds
  -cached [N]    at least N per cent in memory (100 without N); +N is more, -N is less
  -level L       the costliest level with a part of it is hole, memory, device, network, archive or unknown
Directives of -printf:
  %{latency}     the time in seconds
  %{resident}    per cent in memory
  %{level}       the costliest level
Options, before the first path:
  --cheapest-first         do the actions in the order of cost, when all files are known; they then count as true
  --unknown=skip|assume    files of whose state nothing tells fail these tests (skip, as is), or lie on their device

Examples:
  seekless find /data -name '*.fits' -latency -m50
  seekless find . -type f -cached -print0 | xargs -0 wc -l
  seekless find /archive --unknown=assume -type f -level archive -prune -o -print
  seekless find --cheapest-first . -name '*.log' -exec gzip {} +
  seekless find . -type f -printf '%{latency} s  %{resident} %%  %p\\n'"
)]
pub struct Args {
    /// GNU find's paths and expression
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Finds, and ends as GNU find does: 1 if anything went wrong.
#[must_use]
pub fn main(words: Vec<OsString>) -> ExitCode {
    let standard = std::io::stdout();
    let terminal = standard.is_terminal();
    let mut out = BufWriter::with_capacity(64 << 10, standard.lock());
    let ended = find(&words, &mut out, &mut std::io::stderr(), terminal);
    drop(out);
    let told = match ended {
        Ok(Ended::Well) => return ExitCode::SUCCESS,
        Ok(Ended::Badly) => return ExitCode::FAILURE,
        Ok(Ended::Help) => print_help(),
        Ok(Ended::Version) => output::text(concat!("seekless-find ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(error) => Err(error.into()),
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("find: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print_help() -> anyhow::Result<()> {
    use clap::Args as _;
    let mut command = Args::augment_args(clap::Command::new("find").bin_name("seekless find"));
    output::text(&command.render_long_help().to_string())
}
