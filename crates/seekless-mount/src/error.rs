//! The crate's one error type.

use std::io;
use std::path::Path;

/// A pack could not be mounted, or not be unmounted. The message names the folder and says what to
/// do; the source is the cause.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The folder is absent, no folder, or not empty.
    Folder,
    /// The system refused to mount or unmount.
    System,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What failed.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    pub(crate) fn folder(folder: &Path, why: &str) -> Self {
        let message = format!("{} {why}", folder.display());
        Self { kind: ErrorKind::Folder, message, source: None }
    }

    pub(crate) fn unreadable(folder: &Path, source: io::Error) -> Self {
        let message = format!("cannot read {}", folder.display());
        Self { kind: ErrorKind::Folder, message, source: Some(source) }
    }

    pub(crate) fn system(what: &str, folder: &Path, source: io::Error) -> Self {
        let message = format!("cannot {what} {}", folder.display());
        Self { kind: ErrorKind::System, message, source: Some(source) }
    }
}
