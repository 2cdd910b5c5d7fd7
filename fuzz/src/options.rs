//! The bodies of the targets that read command lines: words apart at NULs. Any words make sense or
//! are refused with a message; no file is written, none but the null device is searched.

use seekless_cli::command;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Words of wc.
pub fn wc(bytes: &[u8]) {
    let _ = command::wc::makes_sense(words(bytes));
}

/// Words of grep, its patterns among them.
pub fn grep(bytes: &[u8]) {
    let _ = command::grep::makes_sense(words(bytes));
}

/// Words of find.
pub fn find(bytes: &[u8]) {
    let _ = command::find::makes_sense(&words(bytes));
}

fn words(bytes: &[u8]) -> Vec<OsString> {
    bytes.split(|&byte| byte == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}
