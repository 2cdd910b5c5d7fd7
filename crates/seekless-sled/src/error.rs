//! The crate's one error.

use std::io;
use std::path::Path;

/// Why a file could not be examined. The message names the file and holds the system's words, so
/// that the error has no [source](std::error::Error::source) to say them again.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    system: Option<io::Error>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused: [`Error::io_error`] has its answer.
    Io,
    /// Another file took this one's place while it was examined.
    Changed,
    /// A configuration or device table is invalid.
    Config,
    /// Not a regular file: folders, pipes, sockets and devices have no SLEDs.
    NotAFile,
    /// An extended attribute that should hold a position in an archive holds no number.
    Position,
    /// Another machine, or a command, did not answer as it should.
    Remote,
}

impl Error {
    /// What went wrong, for code that decides by it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The system's own answer, for messages in another tool's words.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        self.system.as_ref()
    }

    /// The same error once more, for each file that it stands in the way of.
    #[must_use]
    pub fn again(&self) -> Self {
        let system = self.system.as_ref().and_then(io::Error::raw_os_error);
        let system = system.map(io::Error::from_raw_os_error);
        Error { kind: self.kind, message: self.message.clone(), system }
    }

    /// An error that names no file yet.
    pub(crate) fn new(kind: ErrorKind, message: String) -> Self {
        Error { kind, message, system: None }
    }

    /// The same error with the name of the file that it is about.
    pub(crate) fn of_file(self, path: &Path) -> Self {
        Error { message: format!("{}: {}", path.display(), self.message), ..self }
    }

    /// The system's answer about a file.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let named = Error::new(ErrorKind::Io, error.to_string()).of_file(path);
        Error { system: Some(error), ..named }
    }
}
