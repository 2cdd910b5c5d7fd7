//! The verbs that stand in for a tool of the same name: they read their own command line, as that
//! tool does, and start as quickly, since the tree of verbs is not built.

use crate::command;
use crate::output::say;
use clap::Command;
use seekless::sys::inherited::keep_closed;
use seekless::sys::signals::end_by_broken_pipes;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Where they are listed among the verbs.
pub(crate) const DISPLAY_ORDER: usize = 100;

/// A verb that stands in for the tool of its name.
struct StandIn {
    tool: &'static str,
    /// Takes the words that follow the verb.
    main: fn(Vec<OsString>) -> ExitCode,
    /// What is shown of it.
    command: fn() -> Command,
}

const STAND_INS: [StandIn; 3] = [
    StandIn { tool: "wc", main: command::wc::main, command: command::wc::command },
    StandIn { tool: "grep", main: command::grep::main, command: command::grep::command },
    StandIn { tool: "find", main: command::find::main, command: command::find::command },
];

/// What is shown of them.
pub(crate) fn commands() -> impl Iterator<Item = Command> {
    let ordered = STAND_INS.iter().zip(DISPLAY_ORDER..);
    ordered.map(|(stand_in, order)| (stand_in.command)().display_order(order))
}

/// The program that has these alone.
#[must_use]
pub fn main() -> ExitCode {
    keep_closed();
    run(env::args_os()).unwrap_or_else(|| {
        say("seekless-gnu holds wc, grep and find; give one of these, or call seekless");
        ExitCode::from(2)
    })
}

/// Runs the verb that stands in for a tool; `None` if the command line names another. It ends by
/// SIGPIPE, as the tools do.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let (stand_in, words) = chosen(words)?;
    end_by_broken_pipes();
    Some((stand_in.main)(words))
}

/// The verb that stands in for a tool, and its words: it is the first word, or the name that the
/// command is called by.
fn chosen(words: impl IntoIterator<Item = OsString>) -> Option<(&'static StandIn, Vec<OsString>)> {
    let find = |name: &OsStr| STAND_INS.iter().find(|stand_in| name == stand_in.tool);
    let mut words = words.into_iter();
    let called = words.next()?;
    if let Some(stand_in) = Path::new(&called).file_name().and_then(find) {
        return Some((stand_in, words.collect()));
    }
    let stand_in = find(&words.next()?)?;
    Some((stand_in, words.collect()))
}
