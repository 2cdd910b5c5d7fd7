//! `seekless find`: GNU find, and what each file would cost to read.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "prints as GNU find does, which quotes names in its own way"
)]

use crate::{getopt, output};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command};
use seekless::gnu::find::{Ended, WORDS, find};
use seekless::sys::output::StandardOutput;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufWriter, IsTerminal};
use std::process::ExitCode;

const ABOUT: &str = "Find files as GNU find does, also by what they would cost to read now";
const LONG_ABOUT: &str = "\
Find files as GNU find does, also by what they would cost to read now

Paths, tests and actions are GNU find 4.9's, in its order, words and exit codes. No file is read or
recalled to decide, and only a file whose cost is asked for is opened. Where it saves time, files
are examined before their turn, by several threads; the actions and their order stay the same.";
const USAGE: &str = "seekless find [-H] [-L] [-P] [OPTIONS] [PATH]... [EXPRESSION]";
const AFTER: &str = "\
N is exactly this, +N more, -N less. A file's cost is the time until all of it is delivered, in
whole units rounded up. To pick files that will be read soon, use -cost, the part of it that devices
need: memory counts nothing there.

Directives of -printf beside GNU find's:
  %{latency}     the time of -latency in seconds
  %{cost}        the time of -cost in seconds
  %{resident}    per cent in memory
  %{level}       the costliest level

Examples:
  seekless find /data -name '*.fits' -latency -m50
  seekless find . -type f -cached -print0 | xargs -0 wc -l
  seekless find /archive --unknown=assume -type f -level archive -prune -o -print
  seekless find --cheapest-first . -name '*.log' -exec gzip {} +
  seekless find . -type f -printf '%{cost} s  %{resident} %%  %p\\n'

Where it differs from GNU find 4.9, and why:
  -D             is read and shows nothing: it is about GNU find's inside
  -O             is read; tests are asked in the order of -O2, which is its default
  ( A ) -name B  does A before it asks for B; GNU find may ask first, even where A is an action
  A -name B -name C -o D  asks for D last; GNU find may ask for it first, even where A is an action
  -xtype         with parentheses may complain of other links that lead round: GNU find guesses
                 the cheapest test in another way
  -printf %Z     writes nothing and does not complain: security contexts are not asked
  -newerXt       takes no date that begins with TZ=\": the time zone belongs to the process
  -L             asks for a file from its folder: links on the way there do not count towards the
                 40 that the kernel follows, and paths may be longer than it takes at once
  -ok            gives the command an empty standard input; GNU find closes it, by a slip
  -files0-from   names its file in the message of an empty name; GNU find names the file of the
                 message before, by a slip
  -exec ... +    runs for all files that wait; GNU find forgets them after an empty path, by a slip
  -fprint FILE   empties the file when all of the command line is right, not before, and is written
                 out before a command runs: GNU find may hold its last 4 KiB back
  ((((...        more than 20,000 parentheses or ! within one another are refused
  write errors   end it at once, with one message";
/// Room for a word and what follows it; longer ones stand on a line of their own.
const COLUMN: usize = 26;

/// What the help, the man page and the completions are made of.
#[must_use]
pub fn command() -> Command {
    let names = WORDS.iter().flat_map(|word| word.names).filter(|name| name.starts_with('-'));
    let words = Arg::new("arguments")
        .value_name("ARGUMENT")
        .help("Paths, and the words of an expression")
        .action(ArgAction::Append)
        .value_parser(PossibleValuesParser::new(names))
        .hide_possible_values(true);
    let command = Command::new("find").about(ABOUT).long_about(LONG_ABOUT).override_usage(USAGE);
    let command = command.after_help(format!("{}\n{AFTER}", listed()));
    command.disable_help_flag(true).disable_version_flag(true).arg(words)
}

/// All words, under their headings.
fn listed() -> String {
    let mut text = String::new();
    let mut group = "";
    for word in WORDS.iter().filter(|word| !word.doc.is_empty()) {
        if word.group != group {
            let _ = writeln!(text, "{}{}:", if group.is_empty() { "" } else { "\n" }, word.group);
            group = word.group;
        }
        let names = word.names.join(", ");
        let joint =
            if word.argument.is_empty() || word.argument.starts_with('=') { "" } else { " " };
        let shown = format!("  {names}{joint}{}", word.argument);
        match shown.len() < COLUMN {
            true => _ = writeln!(text, "{shown:COLUMN$} {}", word.doc),
            false => _ = writeln!(text, "{shown}\n{:COLUMN$} {}", "", word.doc),
        }
    }
    text
}

/// Reads a command line and does nothing: whether it makes sense. For the fuzz targets.
#[doc(hidden)]
#[must_use]
pub fn makes_sense(words: &[OsString]) -> bool {
    seekless::gnu::find::makes_sense(words)
}

/// Finds, and ends as GNU find does: 1 if anything went wrong.
#[must_use]
pub fn main(words: Vec<OsString>) -> ExitCode {
    let terminal = std::io::stdout().is_terminal();
    let mut out = BufWriter::with_capacity(64 << 10, StandardOutput);
    let ended = find(&words, &mut out, &mut std::io::stderr(), terminal);
    drop(out);
    let told = match ended {
        Ok(Ended::Well) => return ExitCode::SUCCESS,
        Ok(Ended::Badly) => return ExitCode::FAILURE,
        Ok(Ended::Help) => output::text(&getopt::help(command(), "seekless find")),
        Ok(Ended::Version) => {
            output::text(concat!("seekless-find ", env!("CARGO_PKG_VERSION"), "\n"))
        }
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
