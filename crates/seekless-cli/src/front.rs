//! The program `seekless`: runs wc, grep and find itself, and for every other verb becomes
//! `seekless-verbs`. A start that is known to need no help becomes the program that it starts.
//!
//! When a position-independent program starts, its addresses are fixed up one by one. The whole
//! command has 37,000 of them, which take a third of a millisecond; most lie in code for traces and
//! pictures. The stand-ins alone have few. So they start as fast as the tools that they replace.

use crate::stand_in;
use seekless::sys::inherited::keep_closed;
use seekless::sys::replace::become_program;
use seekless::tools::start::become_if_cached;
use std::env;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
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
    let program = verbs();
    let arguments: Vec<CString> = env::args_os().map(c_string).collect();
    let error = become_program(&c_string(program.clone().into()), &arguments);
    eprintln!(
        "seekless: cannot start {}: {error}; install it beside seekless, it holds the other verbs",
        program.display()
    );
    ExitCode::from(2)
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
