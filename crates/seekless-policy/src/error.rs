//! Errors of building a policy or a cache. Requests cannot fail.

use std::fmt;

/// Why a policy or a cache could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No policy, or no order, has that name.
    UnknownName,
    /// The policy needs what the owner cannot supply.
    NeedsUnmet,
    /// The bytes are no model of a prediction.
    Model,
    /// A parameter is outside its range.
    BadParameter,
}

/// An error of this crate. The message says what was wrong and what would be right.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string() }
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
