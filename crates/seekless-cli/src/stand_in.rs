//! The verbs that stand in for a tool of the same name: they read their own command line, as that tool does, and start as
//! quickly, since the tree of verbs is not built.

use crate::command;
use seekless::sys::signals::end_by_broken_pipes;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Takes the words that follow the verb.
type StandIn = fn(Vec<OsString>) -> ExitCode;

const STAND_INS: [(&str, StandIn); 3] =
    [("wc", command::wc::main), ("grep", command::grep::main), ("find", command::find::main)];

/// Runs the verb that stands in for a tool; `None` if the command line names another. It ends by SIGPIPE, as the tools do.
pub(crate) fn run(words: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let (tool, words) = chosen(words)?;
    end_by_broken_pipes();
    Some(tool(words))
}

/// The verb that stands in for a tool, and its words: it is the first word, or the name that the command is called by.
fn chosen(words: impl IntoIterator<Item = OsString>) -> Option<(StandIn, Vec<OsString>)> {
    let find = |name: &OsStr| STAND_INS.iter().find(|(tool, _)| name == *tool).map(|&(_, main)| main);
    let mut words = words.into_iter();
    let called = words.next()?;
    if let Some(main) = Path::new(&called).file_name().and_then(find) {
        return Some((main, words.collect()));
    }
    let main = find(&words.next()?)?;
    Some((main, words.collect()))
}
