//! The program `seekless`: runs wc, grep and find itself, and for every other verb becomes
//! `seekless-verbs`. A start that is known to need no help becomes the program that it starts.
//!
//! When a position-independent program starts, its addresses are fixed up one by one. The whole
//! command has 37,000 of them, which take a third of a millisecond; most lie in code for traces and
//! pictures. The stand-ins alone have few. So they start as fast as the tools that they replace.

use crate::launch::not_executed;
use crate::output::{say, shown};
use crate::stand_in;
use seekless::start::start::{ask_for_own_pages, become_if_cached, note_own_pages};
use seekless::sys::inherited::keep_closed;
use seekless::sys::replace::{become_found, become_program};
use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name of the program with all verbs.
const VERBS: &str = "seekless-verbs";

/// Runs a stand-in, or becomes the program of all verbs.
#[must_use]
pub fn main() -> ExitCode {
    keep_closed();
    if let Some(code) = stand_in::run(env::args_os()) {
        return code;
    }
    become_if_cached(&env::args_os().skip(1).collect::<Vec<_>>());
    if env::args_os().nth(1).is_some_and(|verb| verb == "run") {
        // What is started waits for this command.
        ask_for_own_pages();
        let writes = |word: OsString| word != "--no-record" && word != "--dry-run";
        if env::args_os().all(writes) {
            note_own_pages();
        }
    }
    let program = verbs();
    let arguments: Vec<CString> = env::args_os().map(c_string).collect();
    let error = become_program(&c_string(program.clone().into()), &arguments);
    let program = shown(&program);
    if let Some(words) = wrapped(&arguments) {
        // A launcher does not keep its program from starting.
        say(format_args!("cannot start {program}: {error}; the program starts without help"));
        let error = become_found(words);
        return not_executed(OsStr::from_bytes(words[0].as_bytes()), &error);
    }
    say(format_args!(
        "cannot start {program}: {error}; install it beside seekless, it holds the other verbs"
    ));
    ExitCode::from(2)
}

/// The program that `run` or `mount` would start and its arguments, as far as that can be known
/// without their options: all words behind `--`, or behind `run` if the first of them is no option.
fn wrapped(arguments: &[CString]) -> Option<&[CString]> {
    let words = arguments.get(2..)?;
    match arguments[1].as_bytes() {
        b"run" if !words.first()?.as_bytes().starts_with(b"-") => return Some(words),
        b"run" | b"mount" => {}
        _ => return None,
    }
    let end = words.iter().position(|word| word.as_bytes() == b"--")?;
    words.get(end + 1..).filter(|words| !words.is_empty())
}

/// The path of the program with all verbs: beside this one, with links resolved.
fn verbs() -> PathBuf {
    let own = env::current_exe()
        .unwrap_or_else(|_| PathBuf::from(env::args_os().next().unwrap_or_default()));
    let own = own.canonicalize().unwrap_or(own);
    own.parent().unwrap_or(Path::new("")).join(VERBS)
}

/// Converts an argument or a path, which contains no NUL.
fn c_string(word: OsString) -> CString {
    CString::new(word.into_vec()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_run_would_start_is_found_without_its_options() {
        let found = |line: &str| {
            let words: Vec<CString> =
                line.split(' ').map(|word| CString::new(word).unwrap()).collect();
            wrapped(&words).map(<[CString]>::len)
        };
        assert_eq!(found("seekless run --mount a=b -- ls -l"), Some(2));
        assert_eq!(found("seekless run ls -l -- -a"), Some(4));
        for line in [
            "seekless run",
            "seekless run --",
            "seekless run --explain ls",
            "seekless",
            "seekless sim -- a",
        ] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
