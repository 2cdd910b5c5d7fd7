//! The crate's one error type.

use std::error::Error as Cause;

/// A tool failed. The message names the file and what to do; the source is the cause, if there is
/// one. The message does not repeat the source.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn Cause + Send + Sync>>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be read or written.
    Io,
    /// A FITS file is damaged, or does not hold the image asked for.
    Fits,
    /// The image, table or column asked for is not there.
    Missing,
    /// The file changed while it was read.
    Differs,
    /// The request makes no sense, such as a histogram of no bins.
    Invalid,
    /// The caller asked to stop.
    Interrupted,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), source: None }
    }

    /// An error with its cause.
    pub(crate) fn because(
        kind: ErrorKind,
        message: impl Into<String>,
        source: impl Into<Box<dyn Cause + Send + Sync>>,
    ) -> Self {
        Error { kind, message: message.into(), source: Some(source.into()) }
    }

    /// What went wrong, for code that decides by it.
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
        let (_, _, source) = error.into_parts();
        Error { kind, message, source: source.map(Into::into) }
    }
}
