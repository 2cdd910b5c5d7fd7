//! The inputs that a list of names (`--files0-from`) or the command line gives.

use super::usage;
use seekless::gnu::read_name;
use seekless::gnu::wc::{Charset, Input, quoted, quoted_always};
use seekless::sys::reason;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
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

/// The inputs that stand in `list`: all of them if it is a short file, else as they are read from
/// it. Or the message.
pub(crate) fn listed(
    list: &OsStr,
    operands: &[OsString],
    charset: &mut Charset,
) -> Result<(Vec<Input>, Option<List>), Vec<u8>> {
    if let Some(extra) = operands.first() {
        let extra = quoted_always(extra, charset);
        let message = [
            b"extra operand ",
            &extra[..],
            b"\nfile operands cannot be combined with --files0-from",
        ];
        return Err(usage(&message.concat()));
    }
    let standard = list == "-";
    let file = match standard {
        true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(list),
    };
    let file = file.map_err(|error| {
        let name = quoted_always(list, charset);
        [b"cannot open ", &name[..], b" for reading: ", reason(&error).as_bytes()].concat()
    })?;
    let known = file
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LIST_BYTES_MAX);
    let name = String::from_utf8_lossy(&quoted(list, charset)).into_owned();
    let names = List { names: BufReader::new(file), name, standard, read: 0, failed: false };
    match known {
        false => Ok((Vec::new(), Some(names))),
        true => match names.collect::<Vec<_>>() {
            inputs if !matches!(inputs.last(), Some(Input::Unlisted(_))) => Ok((inputs, None)),
            _ => {
                let name = quoted_always(list, charset);
                Err([b"cannot read file names from ", &name[..]].concat())
            }
        },
    }
}

/// Names as they are read, each ended by a NUL.
pub(crate) struct List {
    names: BufReader<File>,
    /// What the list is called in messages.
    name: String,
    standard: bool,
    read: u64,
    failed: bool,
}

impl Iterator for List {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        let mut name = Vec::new();
        if self.failed {
            return None;
        }
        match read_name(&mut self.names, &mut name) {
            Ok(0) => return None,
            Ok(_) => self.read += 1,
            Err(error) => {
                self.failed = true;
                return Some(Input::Unlisted(format!(
                    "{}: read error: {}",
                    self.name,
                    reason(&error)
                )));
            }
        }
        Some(match name.strip_suffix(b"\0").unwrap_or(&name) {
            b"" => Input::Wrong(format!("{}:{}: {EMPTY}", self.name, self.read)),
            b"-" if self.standard => Input::Wrong(
                "when reading file names from stdin, no file name of '-' allowed".to_owned(),
            ),
            name => input(OsStr::from_bytes(name)),
        })
    }
}
