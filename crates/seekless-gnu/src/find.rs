//! `find`: GNU find's walk and expressions, and what a file would cost to read as one more thing to
//! ask (Van Meter and Gao 2000, sections 3.2 and 4.3: `-latency`).
//!
//! No file is read or recalled to decide. `stat` answers first; a file is opened only for tests of
//! its latency.

mod ahead;
mod answer;
mod compare;
mod cost;
mod date;
mod entry;
mod evaluate;
mod exec;
mod expression;
mod folder;
mod foresee;
mod interpret;
mod latency;
mod list;
mod mode;
mod mounts;
mod output;
mod parse;
mod printf;
mod quote;
mod rank;
mod roots;
mod time;
mod walk;

use crate::deep::with_stack;
use ahead::{Ahead, Shared};
pub use cost::Unknown;
use evaluate::Evaluator;
pub use parse::words::{WORDS, Word};
use parse::{Opening, Parsed, Stop};
use quote::say;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use walk::Walk;

/// GNU find's exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything was visited, and every command of `-exec … +` succeeded.
    Well,
    /// The expression makes no sense, something could not be visited, or a command failed.
    Badly,
    /// Nothing was visited: help was asked for.
    Help,
    /// As for help: which version this is.
    Version,
}

/// Writes a message as find's.
fn tell(messages: &mut dyn Write, message: &[u8]) -> std::io::Result<()> {
    messages.write_all(&say!("find: ", message, "\n"))
}

/// Reads a command line, opens no file for writing and does nothing: whether it makes sense. For
/// the fuzz targets.
#[doc(hidden)]
#[must_use]
pub fn makes_sense(arguments: &[OsString]) -> bool {
    let utf8 = crate::clib::locale::use_environments_locale();
    with_stack(levels(arguments), || parse::parse(arguments, utf8, Opening::Nothing).plan.is_ok())
}

/// The most levels that the expression can have: each is a parenthesis or a `!`.
fn levels(arguments: &[OsString]) -> usize {
    let nests = |word: &&OsString| matches!(word.as_bytes(), b"(" | b"!" | b"-not");
    arguments.iter().filter(nests).count()
}

/// Runs `find` with GNU's arguments (without the program's name) and ours. `terminal` says whether
/// `out` is one: names are then shown without control characters.
///
/// # Errors
/// `out` could not be written; everything else is reported in `messages`, in GNU's words, and by
/// the answer.
pub fn find(
    arguments: &[OsString],
    out: &mut dyn Write,
    messages: &mut dyn Write,
    terminal: bool,
) -> std::io::Result<Ended> {
    let levels = levels(arguments);
    with_stack(levels, || find_within(arguments, out, messages, terminal, levels))
}

/// The same, on a stack with room for the levels of the expression.
fn find_within(
    arguments: &[OsString],
    out: &mut dyn Write,
    messages: &mut dyn Write,
    terminal: bool,
    levels: usize,
) -> std::io::Result<Ended> {
    let utf8 = crate::clib::locale::use_environments_locale();
    let Parsed { warnings, plan } = parse::parse(arguments, utf8, Opening::Files);
    for warning in warnings {
        tell(messages, &warning)?;
    }
    let plan = match plan {
        Ok(plan) => plan,
        Err(Stop::Help) => return Ok(Ended::Help),
        Err(Stop::Version) => return Ok(Ended::Version),
        Err(Stop::Wrong(message)) => {
            tell(messages, &message)?;
            return Ok(Ended::Badly);
        }
    };
    let mut evaluator = Evaluator::new(&plan, out, messages, terminal, utf8);
    let shared = Shared::new(evaluator.changes());
    let walked = std::thread::scope(|scope| {
        Walk::new(&plan, Ahead::new(scope, &shared, &plan, levels)).run(&mut evaluator)
    });
    let ended = evaluator.finish();
    match walked.and(ended) {
        Ok(true) => Ok(Ended::Well),
        Ok(false) => Ok(Ended::Badly),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
