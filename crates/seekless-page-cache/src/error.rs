//! The errors of making a cache, and of opening and closing its files. Reads and writes fail with
//! [`std::io::Error`].

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file cannot be opened.
    Open,
    /// What was written to a file did not reach the device.
    Write,
    /// A setting of the builder is unusable: an unknown policy, an engine that cannot start.
    Setting,
}

/// An error of this crate: names the file or the setting, and the reason.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Repr);

#[derive(Debug, thiserror::Error)]
enum Repr {
    #[error("{}: cannot be opened: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    /// The source names the file and the place.
    #[error(transparent)]
    Write(io::Error),
    #[error("{what}: {source}")]
    Setting { what: &'static str, source: Box<dyn std::error::Error + Send + Sync> },
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self.0 {
            Repr::Open { .. } => ErrorKind::Open,
            Repr::Write(_) => ErrorKind::Write,
            Repr::Setting { .. } => ErrorKind::Setting,
        }
    }

    /// The error of the system that caused it, if one did.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.0 {
            Repr::Open { source, .. } | Repr::Write(source) => Some(source),
            Repr::Setting { source, .. } => source.downcast_ref(),
        }
    }

    pub(crate) fn open(path: &Path, source: io::Error) -> Self {
        Self(Repr::Open { path: path.to_owned(), source })
    }

    /// Something was not written back, as `source` says with the file's name and the place.
    pub(crate) fn write_back(source: io::Error) -> Self {
        Self(Repr::Write(source))
    }

    pub(crate) fn setting(
        what: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self(Repr::Setting { what, source: source.into() })
    }
}
