//! The program `seekless`: starts a program that `run` was given, where its profile says how, and
//! becomes another for all else: `seekless-gnu` for wc, grep and find, `seekless-verbs` for the
//! other verbs.
//!
//! It is small, since what `run` starts waits for it, and a cold file costs a request for each part
//! that is touched. When a position-independent program starts, its addresses are fixed up one by
//! one. The whole command has 37,000 of them, which take a third of a millisecond; most lie in code
//! for traces and pictures. The stand-ins alone have few. So they start as fast as the tools that
//! they replace.

use crate::launch::not_executed;
use crate::output::{say, shown};
use seekless::start::start::{ask_for_own_pages, become_known};
use seekless::sys::inherited::keep_closed;
use seekless::sys::replace::{become_found, become_program};
use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name of the program with all verbs.
const VERBS: &str = "seekless-verbs";
/// The name of the program that stands in for tools, and these.
const GNU: &str = "seekless-gnu";
const STAND_INS: [&str; 3] = ["wc", "grep", "find"];

/// Starts a program, or becomes another of ours.
#[must_use]
pub fn main() -> ExitCode {
    keep_closed();
    let words: Vec<OsString> = env::args_os().collect();
    let folder = folder();
    let stands_in = stands_in(&words);
    let program = folder.join(if stands_in { GNU } else { VERBS });
    if !stands_in && words.get(1).is_some_and(|verb| verb == "run") {
        become_known(&words[1..], &program);
        ask_for_own_pages();
    }
    let arguments: Vec<CString> = words.into_iter().map(c_string).collect();
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

/// Whether the name that the command is called by, or its first word, is that of a tool.
fn stands_in(words: &[OsString]) -> bool {
    let called = words.first().and_then(|word| Path::new(word).file_name());
    let verb = words.get(1).map(OsString::as_os_str);
    called.into_iter().chain(verb).any(|name| STAND_INS.iter().any(|tool| name == *tool))
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

/// The folder of this program, with links resolved; the others lie beside it.
fn folder() -> PathBuf {
    let own = env::current_exe()
        .unwrap_or_else(|_| PathBuf::from(env::args_os().next().unwrap_or_default()));
    let own = own.canonicalize().unwrap_or(own);
    own.parent().unwrap_or(Path::new("")).to_owned()
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

    #[test]
    fn a_tool_is_asked_for_by_its_name_or_by_the_first_word() {
        let stands_in =
            |line: &str| stands_in(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in ["seekless grep x", "/usr/bin/wc -l", "find", "seekless wc"] {
            assert!(stands_in(line), "{line}");
        }
        for line in ["seekless", "seekless run wc", "seekless -l wc"] {
            assert!(!stands_in(line), "{line}");
        }
    }

    #[test]
    fn the_tools_are_those_that_are_stood_in_for() {
        let commands = crate::stand_in::commands();
        assert!(commands.map(|command| command.get_name().to_owned()).eq(STAND_INS));
    }
}
