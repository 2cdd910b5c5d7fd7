//! The crate's one error type: which part of a job failed, on which file, and what to do.

use std::error::Error as Cause;
use std::io;
use std::path::Path;

/// A job failed. The message names the file or pack and says what to do; the source is the cause,
/// if there is one. The message does not repeat the source.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn Cause + Send + Sync>>,
}

/// Which part of a job failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or folder could not be read or written.
    Io,
    /// A trace could not be read or written.
    Trace,
    /// A pack could not be read or written.
    Pack,
    /// Recording was refused or failed.
    Record,
    /// A trial failed, or two of them delivered different bytes.
    Measure,
    /// Something needed is missing: a run, a file, enough space on the disk.
    Missing,
    /// Two things that should hold the same bytes do not.
    Differs,
    /// The request makes no sense, such as a comparison of no rounds.
    Invalid,
    /// The caller asked to stop.
    Interrupted,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without a cause.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), source: None }
    }

    /// An error with its cause.
    pub fn because(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Cause + Send + Sync>>,
    ) -> Self {
        Error { kind, message: message.into(), source: Some(source.into()) }
    }

    /// The error of a file that cannot be read.
    pub fn unreadable(path: &Path, error: io::Error) -> Self {
        Error::because(ErrorKind::Io, format!("cannot read {}", path.display()), error)
    }

    /// Which part failed, for code that decides by it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<seekless_sys::output::Error> for Error {
    fn from(error: seekless_sys::output::Error) -> Self {
        let kind = match error.kind() {
            seekless_sys::output::ErrorKind::Io => ErrorKind::Io,
            _ => ErrorKind::Invalid,
        };
        let message = error.to_string();
        match error.into_parts() {
            (_, _, Some(source)) => Error::because(kind, message, source),
            _ => Error::new(kind, message),
        }
    }
}
