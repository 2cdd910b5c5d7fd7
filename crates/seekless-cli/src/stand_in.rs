//! The verbs that stand in for a tool of the same name: they read their own command line, as that tool does, and start as
//! quickly, since the tree of verbs is not built.

use crate::command;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Runs the verb with the words that follow it.
pub(crate) type StandIn = fn(Vec<OsString>) -> ExitCode;

const STAND_INS: [(&str, StandIn); 3] =
    [("wc", command::wc::main), ("grep", command::grep::main), ("find", command::find::main)];

/// The verb that stands in for a tool, and its words: it is the first word, or the name that the command is called by.
pub(crate) fn chosen(words: impl IntoIterator<Item = OsString>) -> Option<(StandIn, Vec<OsString>)> {
    let find = |name: &OsStr| STAND_INS.iter().find(|(tool, _)| name == *tool).map(|&(_, main)| main);
    let mut words = words.into_iter();
    let called = words.next()?;
    if let Some(main) = Path::new(&called).file_name().and_then(find) {
        return Some((main, words.collect()));
    }
    let main = find(&words.next()?)?;
    Some((main, words.collect()))
}
