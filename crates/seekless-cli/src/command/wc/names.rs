//! The inputs that a list of names (`--files0-from`) or the command line gives.

use super::usage;
use seekless::tools::wc::{Charset, Input, quoted, quoted_always};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;

/// A list up to this size in a file is known before the counting; figures are aligned then.
const LIST_BYTES_MAX: u64 = 10 << 20;

const EMPTY: &str = "invalid zero-length file name";

/// A word of the command line.
pub(crate) fn input(name: &OsStr) -> Input {
    match name.as_bytes() {
        b"" => Input::Wrong(EMPTY.to_owned()),
        b"-" => Input::Standard { named: true },
        _ => Input::Path(name.into()),
    }
}

/// The names in `list`, and whether they were known before the counting; or the message.
pub(crate) fn listed(
    list: &OsStr,
    operands: &[OsString],
    charset: &mut Charset,
) -> Result<(Vec<Input>, bool), Vec<u8>> {
    if let Some(extra) = operands.first() {
        let extra = quoted_always(extra, charset);
        let message =
            [b"extra operand ", &extra[..], b"\nfile operands cannot be combined with --files0-from"];
        return Err(usage(&message.concat()));
    }
    let standard = list == "-";
    let (text, regular) = read(list, standard, charset)?;
    let shown = String::from_utf8_lossy(&quoted(list, charset)).into_owned();
    let mut names: Vec<&[u8]> = text.split(|&byte| byte == 0).collect();
    if names.last().is_some_and(|last| last.is_empty()) {
        names.pop();
    }
    let inputs = names.iter().enumerate().map(|(index, &name)| match name {
        b"" => Input::Wrong(format!("{shown}:{}: {EMPTY}", index + 1)),
        b"-" if standard => {
            Input::Wrong("when reading file names from stdin, no file name of '-' allowed".to_owned())
        }
        _ => input(OsStr::from_bytes(name)),
    });
    Ok((inputs.collect(), regular))
}

/// The list's bytes, and whether it is a file.
fn read(list: &OsStr, standard: bool, charset: &mut Charset) -> Result<(Vec<u8>, bool), Vec<u8>> {
    let mut text = Vec::new();
    if standard {
        let mut stdin = io::stdin().lock();
        stdin.read_to_end(&mut text).map_err(|error| failed(list, &error, charset))?;
        let regular = rustix::fs::fstat(io::stdin()).is_ok_and(|stat| {
            rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file()
                && stat.st_size as u64 <= LIST_BYTES_MAX
        });
        return Ok((text, regular));
    }
    let mut file = File::open(list).map_err(|error| {
        let name = quoted_always(list, charset);
        [b"cannot open ", &name[..], b" for reading: ", reason(&error).as_bytes()].concat()
    })?;
    let regular =
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LIST_BYTES_MAX);
    file.read_to_end(&mut text).map_err(|error| failed(list, &error, charset))?;
    Ok((text, regular))
}

fn failed(list: &OsStr, error: &io::Error, charset: &mut Charset) -> Vec<u8> {
    [&quoted(list, charset)[..], b": read error: ", reason(error).as_bytes()].concat()
}

fn reason(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}
