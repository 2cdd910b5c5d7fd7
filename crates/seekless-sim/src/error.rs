//! The error of this crate: a trace that cannot become requests, or a policy that cannot run on
//! them.

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

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<seekless_trace::Error> for Error {
    fn from(error: seekless_trace::Error) -> Self {
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(beneath) = cause {
            message = format!("{message}: {beneath}");
            cause = beneath.source();
        }
        Self::new(ErrorKind::Trace, message)
    }
}

impl From<seekless_policy::Error> for Error {
    fn from(error: seekless_policy::Error) -> Self {
        Self::new(ErrorKind::Policy, error.to_string())
    }
}
