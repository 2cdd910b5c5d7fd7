//! The crate's one error: what went wrong, in which file, at which line or byte, and what to do.

use seekless_sys::file_kind::FileKind;
use seekless_sys::output;
use std::fmt;
use std::path::{Path, PathBuf};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused: the file is missing, the disk is full, permission is denied.
    Io,
    /// The file is neither a trace nor anything that can be imported.
    NotATrace,
    /// The file is a trace or a compressed file, but damaged or cut short.
    Corrupt,
    /// A column is missing, holds values of another type than a trace's, or is compressed in a way
    /// that we do not read.
    Schema,
    /// A line of text is not in its format.
    Malformed,
    /// A limit was exceeded: the number of files, rows or runs, or the length of a line.
    Limit,
    /// The output exists and may not be replaced.
    Exists,
    /// The request makes no sense, such as merging traces of two kinds or two columns for one
    /// field.
    Usage,
    /// The caller asked to stop.
    Interrupted,
}

/// The error of reading `path` when the caller asked to stop.
pub(crate) fn interrupted(path: &Path) -> Error {
    Error::new(ErrorKind::Interrupted, path, "reading it was interrupted")
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Whole,
    Line(u64),
    Byte(u64),
    Row(u64),
}

/// An error of this crate. Its message names the file, the place in it, and what was expected.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    path: PathBuf,
    place: Place,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            path: path.to_owned(),
            place: Place::Whole,
            message: message.into(),
            source: None,
        }))
    }

    /// The error of a file that is not what a trace is wanted of, with what to do.
    pub(crate) fn no_trace(path: &Path, is: FileKind) -> Self {
        let advice = match is {
            FileKind::Folder => "name a file in it",
            FileKind::Zip => "`seekless mount` and `compare` take packs",
            FileKind::Program => "`seekless record -- CMD` makes a trace of its run",
            FileKind::List => "`seekless warm` takes lists",
            _ => "`seekless record -- CMD` makes one",
        };
        let kind = match is {
            FileKind::Folder => ErrorKind::Usage,
            _ => ErrorKind::NotATrace,
        };
        Self::new(kind, path, format!("is {}, not a trace; {advice}", is.words()))
    }

    pub(crate) fn io(path: &Path, doing: &str, source: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, path, doing).because(source)
    }

    pub(crate) fn corrupt(path: &Path, message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Corrupt, path, message)
    }

    #[must_use]
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }

    #[must_use]
    pub(crate) fn because(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What sort of thing went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file that the error is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The line (from 1) of a malformed text file.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        match self.0.place {
            Place::Line(line) => Some(line),
            _ => None,
        }
    }
}

impl From<output::Error> for Error {
    fn from(error: output::Error) -> Self {
        let kind = match error.kind() {
            output::ErrorKind::Exists => ErrorKind::Exists,
            output::ErrorKind::Io => ErrorKind::Io,
            _ => ErrorKind::Usage,
        };
        let (path, message, source) = error.into_parts();
        let error = Error::new(kind, &path, message);
        match source {
            Some(source) => error.because(source),
            None => error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.path.display())?;
        match self.0.place {
            Place::Whole => {}
            Place::Line(line) => write!(f, ", line {line}")?,
            Place::Byte(byte) => write!(f, ", byte {byte}")?,
            Place::Row(row) => write!(f, ", row {row}")?,
        }
        write!(f, ": {}", self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
