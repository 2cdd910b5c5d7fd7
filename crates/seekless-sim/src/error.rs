//! The error of this crate: a trace that cannot become requests, or a policy that cannot run on
//! them.

use std::fmt;

/// Kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A trace could not be read.
    Trace,
    /// No such policy, or it cannot run on these requests.
    Policy,
    /// The trace has more pages or requests than a simulation holds.
    Limit,
    /// An unknown word, where only some are allowed.
    Usage,
}

/// An error of this crate. Its message is that of the error beneath, if there is one; its
/// [source](std::error::Error::source) is what lies further down.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    beneath: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), beneath: None }
    }

    /// The error of another crate, as one of this crate.
    fn of(kind: ErrorKind, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { kind, message: error.to_string(), beneath: Some(Box::new(error)) }
    }

    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.beneath.as_ref().and_then(|error| error.source())
    }
}

impl From<seekless_trace::Error> for Error {
    fn from(error: seekless_trace::Error) -> Self {
        Self::of(ErrorKind::Trace, error)
    }
}

impl From<seekless_policy::Error> for Error {
    fn from(error: seekless_policy::Error) -> Self {
        Self::of(ErrorKind::Policy, error)
    }
}
