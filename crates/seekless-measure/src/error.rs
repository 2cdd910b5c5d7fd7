//! The crate's one error.

use std::path::Path;

/// What a workload may fail with: anything; the rounds add the workload's name.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a measurement has no figures. The message does not repeat what its
/// [source](std::error::Error::source) says.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<BoxError>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No workload, or no round.
    Nothing,
    /// A file could not be examined or dropped from the cache.
    Io,
    /// A workload failed.
    Workload,
    /// What a replay was asked to write to may not be overwritten.
    Refused,
    /// I/Os lie outside their target.
    Outside,
    /// The caller asked to stop.
    Interrupted,
    /// A probe's time is up.
    OutOfTime,
    /// Two trials did not deliver the same bytes, so their times say nothing.
    Disagree,
}

impl Error {
    /// What went wrong, for code that decides by it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The cause, if there is one.
    #[must_use]
    pub fn into_source(self) -> Option<BoxError> {
        self.source
    }

    /// The error of a job that the caller asked to stop.
    #[must_use]
    pub fn interrupted(message: &str) -> Self {
        Error { kind: ErrorKind::Interrupted, message: message.to_owned(), source: None }
    }

    pub(crate) fn new(kind: ErrorKind, message: String) -> Self {
        Error { kind, message, source: None }
    }

    pub(crate) fn because(kind: ErrorKind, message: String, source: std::io::Error) -> Self {
        Error { kind, message, source: Some(source.into()) }
    }

    pub(crate) fn io(path: &Path, doing: &str, error: std::io::Error) -> Self {
        let message = format!("{}: {doing}", path.display());
        Error { kind: ErrorKind::Io, message, source: Some(error.into()) }
    }

    pub(crate) fn workload(name: &str, round: usize, error: BoxError) -> Self {
        let message = format!("{name} failed in round {round}");
        Error { kind: ErrorKind::Workload, message, source: Some(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;
    use std::io;

    #[test]
    fn no_cause_is_said_twice() {
        let beneath = || io::Error::from_raw_os_error(5);
        for error in [
            Error::io(Path::new("/data/a"), "cannot be read", beneath()),
            Error::workload("loose files", 2, beneath().into()),
        ] {
            let cause = error.source().expect("a cause").to_string();
            assert!(
                cause.contains("Input/output error") && !error.to_string().contains(&cause),
                "{error}"
            );
        }
    }
}
