//! The crate's error type: what could not be recorded, and what to do about it.

use std::error::Error as StdError;
use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such program.
    NotFound,
    /// The program exists but cannot be executed.
    CannotExecute,
    /// The kernel does not let this process trace another.
    Refused,
    /// The request makes no sense, such as a malformed glob.
    Usage,
    /// The output exists, or an earlier recording to it left a spool.
    Exists,
    /// The trace could not be written.
    Trace,
    /// The program ran, could no longer be followed, and was killed.
    Lost,
    /// Another call of the operating system failed.
    Io,
}

/// An error of this crate.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    #[must_use]
    pub(crate) fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What sort of thing went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The exit code that `env` and `timeout` use for such a failure: 127 if the program is not
    /// found, 126 if it cannot be executed, 125 for their own failures.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::NotFound => 127,
            ErrorKind::CannotExecute => 126,
            _ => 125,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
