//! The outputs of find's actions: standard output and the files of `-fprint` and similar actions.

use super::expression::Target;
use super::quote::quoted;
use crate::words::words;
use rustix::io::Errno;
use rustix::termios::isatty;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The open outputs.
pub(super) struct Output<'a> {
    standard: &'a mut dyn Write,
    /// Whether standard output and standard error are terminals, in this order.
    terminals: [bool; 2],
    files: Vec<(&'a Path, BufWriter<&'a File>)>,
    utf8: bool,
}

impl<'a> Output<'a> {
    /// Writes to `standard` and to `files`.
    pub(super) fn new(
        standard: &'a mut dyn Write,
        terminal: bool,
        files: &'a [(PathBuf, File)],
        utf8: bool,
    ) -> Self {
        let files =
            files.iter().map(|(path, file)| (path.as_path(), BufWriter::new(file))).collect();
        let terminals = [terminal, isatty(rustix::stdio::stderr())];
        Output { standard, terminals, files, utf8 }
    }

    /// Writes to standard output or a file. Standard error is not written here.
    ///
    /// # Errors
    /// In GNU find's words, without the program's name.
    pub(super) fn write(&mut self, to: Target, bytes: &[u8]) -> io::Result<()> {
        match to {
            Target::Output => {
                self.standard.write_all(bytes).map_err(|error| unwritten(&error, self.utf8))
            }
            Target::Messages => Ok(()),
            Target::File(number) => match self.files.get_mut(number) {
                Some((path, file)) => {
                    file.write_all(bytes).map_err(|error| unwritten_file(path, &error, self.utf8))
                }
                None => Ok(()),
            },
        }
    }

    /// Whether the target is a terminal, on which names are shown without control characters.
    pub(super) fn is_terminal(&self, to: Target) -> bool {
        match to {
            Target::Output => self.terminals[0],
            Target::Messages => self.terminals[1],
            Target::File(number) => {
                self.files.get(number).is_some_and(|(_, file)| isatty(file.get_ref()))
            }
        }
    }

    /// Flushes all outputs, so that they come before the output of a command.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let utf8 = self.utf8;
        self.standard.flush().map_err(|error| unwritten(&error, utf8))?;
        self.files.iter_mut().try_for_each(|(path, file)| {
            file.flush().map_err(|error| unwritten_file(path, &error, utf8))
        })
    }
}

/// GNU find has forgotten the reason when it closes its output, except that this fails by itself if
/// the output was never open.
fn unwritten(error: &io::Error, utf8: bool) -> io::Error {
    let (name, reason) = (quoted(b"standard output", utf8), words(error));
    let again = match Errno::from_io_error(error) {
        Some(Errno::BADF) => format!(": {reason}"),
        _ => String::new(),
    };
    io::Error::new(error.kind(), format!("{name}: {reason}\nfind: write error{again}"))
}

fn unwritten_file(path: &Path, error: &io::Error, utf8: bool) -> io::Error {
    let name = quoted(path.as_os_str().as_bytes(), utf8);
    io::Error::new(error.kind(), format!("{name}: {}", words(error)))
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Output").field("files", &self.files).finish_non_exhaustive()
    }
}
