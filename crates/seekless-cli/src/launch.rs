//! What the verbs that start a program have in common: whatever fails before its execution is a
//! line on standard error, and 126 and 127 mean the program alone.

use crate::exit;
use crate::output::{say, shown};
use seekless::engine::ObjectName;
use seekless::start::ahead;
use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;

/// Says why the program starts without something.
pub fn without(error: &anyhow::Error, what: &str) {
    let because: String = error.chain().skip(1).map(|cause| format!(": {cause}")).collect();
    let why = format!("{error}{because}");
    let why = ObjectName::without_secrets(&why);
    say(format_args!("{why}; the program starts without {what}"));
    exit::hint(&why);
}

/// Says why the program cannot be executed. The code is that of `env`: 127 if it is not found, else
/// 126.
pub fn not_executed(program: &OsStr, error: &io::Error) -> ExitCode {
    say(format_args!("{}: {error}", shown(program)));
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

/// The readahead of a name.
pub fn readahead(name: &str) -> Result<ahead::Options, String> {
    ahead::Options::new(name).map_err(|error| error.to_string())
}

/// The command that users call, which stands beside the program that runs.
#[must_use]
pub fn called(own: &std::path::Path) -> std::path::PathBuf {
    let beside = own.with_file_name("seekless");
    if beside.is_file() { beside } else { own.to_owned() }
}
