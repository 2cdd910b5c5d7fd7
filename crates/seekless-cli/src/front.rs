//! The program `seekless`: answers as wc, grep and find itself, and becomes `seekless-verbs` for every other verb.
//!
//! A position-independent program is fixed up address by address when it starts. The whole command has 37,000 such
//! addresses, a third of a millisecond, most of them in code for traces and pictures; the stand-ins alone have few, and
//! start as quickly as the tools whose places they take.

use crate::stand_in;
use seekless::sys::replace::become_program;
use std::env;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The program that holds all verbs.
const VERBS: &str = "seekless-verbs";

/// Runs a stand-in, or becomes the program of all verbs.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = stand_in::run(env::args_os()) {
        return code;
    }
    let program = verbs();
    let arguments: Vec<CString> = env::args_os().map(c_string).collect();
    let error = become_program(&c_string(program.clone().into()), &arguments);
    eprintln!(
        "seekless: cannot start {}: {error}; install it beside seekless, it holds the other verbs",
        program.display()
    );
    ExitCode::from(2)
}

/// Where the program of all verbs lies: beside this one, links followed.
fn verbs() -> PathBuf {
    let own = env::current_exe().unwrap_or_else(|_| PathBuf::from(env::args_os().next().unwrap_or_default()));
    let own = own.canonicalize().unwrap_or(own);
    own.parent().unwrap_or(Path::new("")).join(VERBS)
}

/// What came from an argument or a path has no NUL inside.
fn c_string(word: OsString) -> CString {
    CString::new(word.into_vec()).unwrap_or_default()
}
