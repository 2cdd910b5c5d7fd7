//! `-files0-from`: reads the starting paths one at a time, so that the program that writes them may
//! still be running.

use super::evaluate::Evaluator;
use super::quote::quoted;
use crate::names::read_name;
use crate::words::words;
use rustix::fs::fstat;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

/// A file of names, each followed by a NUL.
pub(super) struct Names {
    reader: BufReader<File>,
    /// Its name in messages.
    file: String,
    read: u64,
}

impl Names {
    /// Opens the file. If that fails, prints a message and returns `None`. `asks` says that actions
    /// read answers from standard input: the file must not be the same, or its names would be taken
    /// for answers.
    pub(super) fn open(
        file: &OsStr,
        asks: bool,
        evaluator: &mut Evaluator<'_>,
    ) -> io::Result<Option<Self>> {
        let utf8 = evaluator.utf8();
        let (name, opened) = match file == "-" {
            true => (quoted(b"(standard input)", utf8), standard_input()),
            false => (quoted(file.as_bytes(), utf8), File::open(file)),
        };
        match opened {
            Ok(opened) if asks && is_standard_input(&opened) => {
                evaluator.message(&format!(
                    "option -files0-from: standard input must not refer to the same file when combined with -ok, \
                     -okdir: {name}\n"
                ))?;
                Ok(None)
            }
            Ok(opened) => Ok(Some(Names { reader: BufReader::new(opened), file: name, read: 0 })),
            Err(error) => {
                evaluator.message(&format!("cannot open {name} for reading: {}", words(&error)))?;
                Ok(None)
            }
        }
    }

    /// The next name. Returns `None` at the end, or after a message if the file cannot be read.
    /// Empty names are reported and skipped.
    pub(super) fn next(&mut self, evaluator: &mut Evaluator<'_>) -> io::Result<Option<Vec<u8>>> {
        loop {
            let mut name = Vec::new();
            match read_name(&mut self.reader, &mut name) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) => {
                    evaluator.message(&format!("{}: read error: {}", self.file, words(&error)))?;
                    return Ok(None);
                }
            }
            self.read += 1;
            if name.last() == Some(&0) {
                name.pop();
            }
            if !name.is_empty() {
                return Ok(Some(name));
            }
            evaluator
                .message(&format!("{}:{}: invalid zero-length file name", self.file, self.read))?;
        }
    }
}

/// Standard input as a file: std's own takes a closed one for an empty one.
fn standard_input() -> io::Result<File> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Whether the file is standard input, by whatever name it was opened.
fn is_standard_input(file: &File) -> bool {
    let same = |one: rustix::fs::Stat, other: rustix::fs::Stat| {
        (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    };
    match (fstat(file), fstat(rustix::stdio::stdin())) {
        (Ok(file), Ok(standard)) => same(file, standard),
        _ => false,
    }
}
