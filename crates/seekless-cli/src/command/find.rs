//! `seekless find`: GNU find, and what each file would cost to read.

use crate::output;
use seekless::gnu::find::{Ended, find};
use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal};
use std::process::ExitCode;

/// Find files as GNU find does, also by what they would cost to read now.
///
/// Paths, tests and actions are GNU find 4.9's, in its order, words and exit codes: names, -regex in all its dialects, types, sizes,
/// times and dates, owners, -perm, -exec, -execdir, -ok, -print0, -printf, -ls, -fprint, -fls, -files0-from, -prune, -delete, -quit,
/// -maxdepth, -mindepth, -depth, -xdev, -H, -L, -newer, -samefile, -empty and the rest of its list. No file is read or recalled to
/// decide, and only a file whose cost is asked is opened. Where it saves time, files are looked at before their turn, by several
/// threads; what is done and shown, and in which order, is the same.
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "seekless find [-H] [-L] [-P] [OPTIONS] [PATH]... [EXPRESSION]",
    after_help = "\
What a file costs is the time until all of it is delivered. Of that, what devices need is what matters where files are picked
to be read soon: what lies in memory counts nothing there.

Tests:
  -latency N     N seconds to deliver all of the file, memory included, in whole units rounded up; +N is more, -N is less.
                 m50, M50, 50ms are 50 milliseconds (not minutes, not MiB); u50, U50, 50us microseconds
  -cost N        the same for what devices need: 0 is nothing to fetch
  -cached [N]    at least N per cent in memory (100 without N); +N is more, -N is less
  -level L       the costliest level with a part of it is hole, memory, device, network, archive or unknown
Directives of -printf:
  %{latency}     the time of -latency in seconds
  %{cost}        the time of -cost in seconds
  %{resident}    per cent in memory
  %{level}       the costliest level
Options, before the first path:
  --cheapest-first         do the actions in the order of -cost, when all files are known; they then count as true
  --unknown=skip|assume    files of whose state nothing tells fail these tests (skip, as is), or lie on their device

Examples:
  seekless find /data -name '*.fits' -latency -m50
  seekless find . -type f -cached -print0 | xargs -0 wc -l
  seekless find /archive --unknown=assume -type f -level archive -prune -o -print
  seekless find --cheapest-first . -name '*.log' -exec gzip {} +
  seekless find . -type f -printf '%{cost} s  %{resident} %%  %p\\n'

Where it differs from GNU find 4.9, and why:
  -D             is read and shows nothing: what it shows is GNU find's inside
  -O             is read; tests are asked in the order of -O2, which is its default
  ( A ) -name B  does A before it asks for B; GNU find may ask first, even where A is an action
  -xtype         with parentheses may complain of other links that lead round: GNU find guesses what costs least in another way
  -printf %Z     writes nothing and does not complain: security contexts are not asked
  -newerXt       takes no date that begins with TZ=\": the time zone belongs to the process
  -L             asks for a file from its folder: links on the way there do not count towards the 40 that the kernel follows,
                 and paths may be longer than it takes at once
  -ok            gives the command an empty standard input; GNU find closes it, by a slip
  -files0-from   names its file in the message of an empty name; GNU find names the file of the message before, by a slip
  -exec ... +    runs for all files that wait; GNU find forgets them after a path that is empty, by a slip
  -fprint FILE   empties the file when all of the command line is right, not before
  ((((...        more than 500 parentheses or ! within one another are refused
  write errors   end it at once, with one message"
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
        Err(error) => {
            eprintln!("find: {error}");
            return ExitCode::FAILURE;
        }
    };
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("find: write error: {}", output::reason(&error));
            ExitCode::FAILURE
        }
    }
}

fn print_help() -> anyhow::Result<()> {
    use clap::Args as _;
    let mut command = Args::augment_args(clap::Command::new("find").bin_name("seekless find"));
    output::text(&command.render_long_help().to_string())
}
