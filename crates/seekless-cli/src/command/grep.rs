//! `seekless grep`: GNU grep, cheapest bytes first.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "prints as GNU grep does, which quotes names in its own way"
)]

mod asked;
mod flags;

use crate::{getopt, output};
use asked::Wrong;
use clap::{Arg, ArgAction, Command};
use flags::FLAGS;
use seekless::device::units::counted;
use seekless::gnu::grep::{Report, Search, run};
use seekless::sys::output::StandardOutput;
use seekless::sys::reason;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

/// GNU grep's code for a search without a selected line.
const NO_MATCH: u8 = 1;
/// GNU grep's code for anything wrong.
const FAILURE: u8 = 2;
/// GNU grep's code for a word that no option takes.
const BAD_ARGUMENT: u8 = 1;

const ABOUT: &str = "Find lines, the cheapest bytes first";
const LONG_ABOUT: &str = "\
Find lines, the cheapest bytes first

Prints what GNU grep 3.8 prints. The cached part of a file is searched before the rest is read, and
reading the rest does not push it out; lines still come in the order of the files. -q, -l and -L
stop at any line that decides.";
const USAGE: &str = "seekless grep [OPTION]... PATTERNS [FILE]...";
const AFTER: &str = "\
Without FILE, or where FILE is -, standard input is searched; with -r the folder one is in.

Where it differs from GNU grep 3.8
  The automata are others, with newer tables: \\b \\B \\< \\> in UTF-8 take marks and joiners for
  parts of words, classes of characters follow a newer Unicode, and numbers beyond Unicode's
  (F4 90 and on) are no characters.
  glibc misses matches in a repeated group; GNU shows that in -o, -w and colours.
  -P is PCRE2 10.4x whatever the system has. With 10.42, \\S \\W \\D miss characters beyond ASCII,
  {,N} is no interval, \\x may have no digits, and \\p{Lu} is no small letter with -i.
  Patterns of more than 20,000 nested groups are refused; GNU's limit depends on its stack.
  With -z, -b counts and -B shows what GNU forgets of long runs of NULs, by a slip.
  -q may stop before it names what is wrong with files before the one that decides.
  -m with a negative number and -v shows no context either. -x with -o shows nothing of an empty
  line. -x makes -w mean nothing, also in colours and beside anchors that are repeated.
  -X knows no awk. A range in -i is of capitals.
  A line takes at most 48 MiB (24 to be printed, 16 with -B), so that memory is bounded.
  Encodings other than UTF-8 are read as bytes of the C locale.
  In a pipe, how the writer cuts the text decides which lines before a NUL are shown; GNU cuts
  the text in other places.

Exit code: 0 a line was selected, 1 none, 2 an error or something skipped (with -q, 0 wins).

Examples:
  seekless grep -q ERROR big.log         from memory if it can be decided there
  seekless grep -rn --include='*.rs' todo src
  seekless grep --cached-only -c ERROR *.log";

/// What the help, the man page and the completions are made of.
#[must_use]
pub fn command() -> Command {
    let command = Command::new("grep")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_help(AFTER)
        .override_usage(USAGE);
    let patterns =
        Arg::new("patterns").value_name("PATTERNS").help("What to find, unless -e or -f says it");
    let files = Arg::new("files").value_name("FILE").help("Where").action(ArgAction::Append);
    getopt::described(command, FLAGS).args([patterns, files])
}

/// Searches as `words` (the command line after the verb) say.
#[must_use]
pub fn main(words: Vec<OsString>) -> ExitCode {
    let posix = std::env::var_os("POSIXLY_CORRECT").is_some();
    let parsed = getopt::parse(words, FLAGS, posix);
    let wrong = match asked::asked(parsed, asked::read) {
        Ok(asked) => return search(asked),
        Err(wrong) => wrong,
    };
    match wrong {
        Wrong::Usage => usage(FAILURE),
        Wrong::Help => finished(output::text(&getopt::help(command(), "seekless grep"))),
        Wrong::Version => {
            finished(output::text(concat!("seekless-grep ", env!("CARGO_PKG_VERSION"), "\n")))
        }
        Wrong::Message(message) => {
            say(&message);
            ExitCode::from(FAILURE)
        }
        Wrong::Option(message) => {
            say(message.as_bytes());
            usage(FAILURE)
        }
        Wrong::Argument(message) => {
            say(&message);
            usage(BAD_ARGUMENT)
        }
    }
}

/// Reads a command line, takes the name of a file for what it holds, and searches nothing for what
/// the line asks: whether it makes sense. For the fuzz targets.
#[doc(hidden)]
#[must_use]
pub fn makes_sense(words: Vec<OsString>) -> bool {
    let parsed = getopt::parse(words, FLAGS, false);
    let Ok(asked) = asked::asked(parsed, |name| Ok(name.as_bytes().to_vec())) else { return false };
    let search = Search { operands: vec!["/dev/null".into()], ..Search::default() };
    let report = run(&asked.options, &search, &mut io::sink(), &mut io::sink(), &mut |_, _| {});
    report.is_ok_and(|report| !report.failed)
}

fn say(message: &[u8]) {
    let _ = io::stderr().write_all(&[b"grep: ", message, b"\n"].concat());
}

fn search(mut asked: asked::Asked) -> ExitCode {
    let quiet = asked.options.quiet;
    // If the output is discarded, only the first line of each file has to be found.
    asked.options.discard = asked::stdout_is_null();
    let shows = io::stdout().is_terminal();
    let mut progress = output::progress("Searching");
    let mut report_progress = |done: u64, total: u64| {
        if !shows && total > 0 {
            progress(done, total);
        }
    };
    let (mut out, mut err) = (StandardOutput, io::stderr());
    match run(&asked.options, &asked.search, &mut out, &mut err, &mut report_progress) {
        Ok(report) => {
            if asked.statistics {
                print_statistics(&report);
            }
            ExitCode::from(code(&report, quiet))
        }
        Err(error) => {
            eprintln!("grep: write error: {}", reason(&error));
            ExitCode::from(FAILURE)
        }
    }
}

fn code(report: &Report, quiet: bool) -> u8 {
    match (report.matched, report.failed) {
        (true, true) if quiet => 0,
        (_, true) => FAILURE,
        (true, false) => 0,
        (false, false) => NO_MATCH,
    }
}

fn usage(code: u8) -> ExitCode {
    eprintln!(
        "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information."
    );
    ExitCode::from(code)
}

fn finished(printed: anyhow::Result<()>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("grep: write error: {}", output::reason(&error));
            ExitCode::from(FAILURE)
        }
    }
}

fn print_statistics(report: &Report) {
    let read = report.statistics;
    let held = if read.held_bytes > 0 {
        format!(", {} B of them held", read.held_bytes)
    } else {
        String::new()
    };
    eprintln!(
        "grep: {} B searched in {}; {} B resident at the start{held}; {} B read from devices, {} B of them past the cache",
        read.bytes,
        counted(read.chunks, "piece"),
        read.resident_bytes,
        read.device_bytes,
        read.bypassed_bytes
    );
}
