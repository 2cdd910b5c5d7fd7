//! `-files0-from`: reads the starting paths one at a time, so that the program that writes them may
//! still be running.

use super::evaluate::Evaluator;
use super::quote::quoted;
use crate::names::read_name;
use crate::words::words;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::OsStrExt;

/// A file of names, each followed by a NUL.
pub(super) struct Names {
    reader: BufReader<Box<dyn Read>>,
    /// Its name in messages.
    file: String,
    read: u64,
}

impl Names {
    /// Opens the file. If that fails, prints a message and returns `None`.
    pub(super) fn open(file: &OsStr, evaluator: &mut Evaluator<'_>) -> io::Result<Option<Self>> {
        let utf8 = evaluator.utf8();
        if file == "-" {
            let file = quoted(b"(standard input)", utf8);
            return Ok(Some(Names {
                reader: BufReader::new(Box::new(io::stdin())),
                file,
                read: 0,
            }));
        }
        let name = quoted(file.as_bytes(), utf8);
        match File::open(file) {
            Ok(opened) => {
                Ok(Some(Names { reader: BufReader::new(Box::new(opened)), file: name, read: 0 }))
            }
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
