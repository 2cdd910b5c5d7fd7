//! Where find's actions write: standard output and the files of `-fprint` and its kin.

use super::expression::Target;
use super::quote::printable;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// The open outputs.
pub(super) struct Output<'a> {
    standard: &'a mut dyn Write,
    terminal: bool,
    files: Vec<Option<BufWriter<File>>>,
}

impl<'a> Output<'a> {
    /// Opens, and empties, the files that were named for writing.
    pub(super) fn new(standard: &'a mut dyn Write, terminal: bool) -> Self {
        Output { standard, terminal, files: Vec::new() }
    }

    /// Opens the files; the first that cannot be is the error.
    pub(super) fn open(&mut self, paths: &[PathBuf]) -> Result<(), (PathBuf, io::Error)> {
        for path in paths {
            // What is already in the file of a redirection is not find's to empty.
            let keep = path.as_os_str() == "/dev/stderr";
            let opened = File::options().write(true).create(true).truncate(!keep).append(keep).open(path);
            let file = opened.map_err(|error| (path.clone(), error))?;
            self.files.push(Some(BufWriter::new(file)));
        }
        Ok(())
    }

    pub(super) fn write(&mut self, to: Target, bytes: &[u8]) -> io::Result<()> {
        match to {
            Target::Output => self.standard.write_all(bytes),
            Target::File(number) => match self.files.get_mut(number).and_then(Option::as_mut) {
                Some(file) => file.write_all(bytes),
                None => Ok(()),
            },
        }
    }

    /// Writes a name, without control characters on a terminal.
    pub(super) fn write_name(&mut self, to: Target, name: &[u8]) -> io::Result<()> {
        match self.terminal && to == Target::Output {
            true => self.write(to, &printable(name)),
            false => self.write(to, name),
        }
    }

    /// What was written so far comes before what a command writes.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.standard.flush()?;
        self.files.iter_mut().flatten().try_for_each(Write::flush)
    }
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Output").field("files", &self.files).finish_non_exhaustive()
    }
}
