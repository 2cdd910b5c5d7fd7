//! Opens what a user may name as a trace: a Parquet file, a spool, or a file of another format that
//! can be imported.

use crate::error::{Error, ErrorKind, Result};
use crate::records::is_pipe;
use crate::trace::{Origin, Trace};
use crate::{import, spool};
use seekless_sys::file_kind::FileKind;
use seekless_sys::objects;
use std::fs::File;
use std::io::Read;
use std::path::Path;

impl Trace {
    /// Opens a Parquet trace or a recorder's spool; the content decides which it is. If `path` does
    /// not exist and a recording to it was cut off, opens the spool of that recording (see
    /// [`spool_path`](crate::spool_path)); [`Trace::origin`] says so.
    ///
    /// # Errors
    /// The file cannot be read, is not a trace, is damaged or lacks a column.
    pub fn open(path: &Path) -> Result<Self> {
        if is_pipe(path) {
            // To read a pipe's first bytes would take them away from an import.
            let message = "is a pipe or device, from which no Parquet trace or spool can be read";
            return Err(Error::new(ErrorKind::NotATrace, path, message));
        }
        let missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        let mut file = match objects::open(path) {
            Ok(file) => file,
            Err(error) if missing(&error) => match spool::find(path) {
                Some(spool) => return spool::open(&spool),
                None => return Err(Error::io(path, "no such trace", error)),
            },
            Err(error) => return Err(Error::io(path, "could not be opened", error)),
        };
        if file.metadata().is_ok_and(|found| found.is_dir()) {
            return Err(Error::no_trace(path, FileKind::Folder));
        }
        let mut start = [0; 4];
        let read = read_start(&mut file, &mut start)
            .map_err(|error| Error::io(path, "could not be read", error))?;
        match &start[..read] {
            b"PAR1" => Self::from_file(file, path)?.not_a_table(),
            start if start == spool::MAGIC => spool::open(path),
            _ => Err(Error::new(
                ErrorKind::NotATrace,
                path,
                "is neither a Parquet trace nor a spool; `seekless trace import` makes a trace of text",
            )),
        }
    }
}

impl Trace {
    /// Opens a Parquet file, whatever its columns.
    pub(crate) fn open_table(path: &Path) -> Result<Self> {
        let file =
            objects::open(path).map_err(|error| Error::io(path, "could not be opened", error))?;
        Self::from_file(file, path)
    }

    /// Refuses the table of another program, which an import reads.
    fn not_a_table(self) -> Result<Self> {
        if !self.is_table() {
            return Ok(self);
        }
        let message =
            "is a Parquet table, not a trace: `seekless trace import` makes a trace of it";
        Err(Error::new(ErrorKind::NotATrace, self.path(), message))
    }
}

/// Fills `start`, or less of it if the file is shorter. Returns how much.
fn read_start(file: &mut File, start: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < start.len() {
        match file.read(&mut start[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// Opens a Parquet trace, a spool, or anything that [`import::any`](crate::import::any) imports as
/// it is; that is imported into a temporary trace.
///
/// # Errors
/// As [`Trace::open`]; or the file cannot be imported.
pub fn open_any(path: &Path) -> Result<Trace> {
    open_with(path, &import::Options::default())
}

/// As [`open_any`]; `options` say how a file of another format is read. If they name a format, the
/// file has it.
///
/// # Errors
/// As [`open_any`].
pub fn open_with(path: &Path, options: &import::Options) -> Result<Trace> {
    let imported = || Ok(import::open(path, options)?.named(path, Origin::Imported));
    if options.format.is_some() {
        return imported();
    }
    match Trace::open(path) {
        Err(error) if error.kind() == ErrorKind::NotATrace => imported(),
        opened => opened,
    }
}
