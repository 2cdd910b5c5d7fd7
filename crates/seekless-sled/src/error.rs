//! The crate's one error.

use std::io;
use std::path::Path;

/// Why a file could not be examined; the message names it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// How much of the message is the file's name.
    named: usize,
    source: Option<io::Error>,
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused: [`Error::io_error`] has its answer.
    Io,
    /// The file could not even be opened: [`Error::io_error`] has the system's answer.
    Open,
    /// The file changed under the reader in a way that leaves no right answer.
    Changed,
    /// The reader stopped before the file's end, which is a defect.
    Incomplete,
    /// A record is longer than may be kept of it.
    TooLong,
    /// A configuration or device table is invalid.
    Config,
    /// Not a regular file: folders, pipes, sockets and devices have no SLEDs.
    NotAFile,
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
        self.source.as_ref()
    }

    /// What went wrong without the file's name, for messages that name it in another way.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.message.get(self.named..).unwrap_or(&self.message)
    }

    /// An error that names no file yet.
    #[must_use]
    pub fn new(kind: ErrorKind, message: String) -> Self {
        Error { kind, message, named: 0, source: None }
    }

    /// The same error with the name of the file that it is about.
    #[must_use]
    pub fn of_file(self, path: &Path) -> Self {
        let name = format!("{}: ", path.display());
        Error { named: name.len(), message: name + self.reason(), ..self }
    }

    /// The file could not be opened.
    #[must_use]
    pub fn open(path: &Path, error: io::Error) -> Self {
        Error { kind: ErrorKind::Open, ..Error::io(path, error) }
    }

    /// The system refused or failed something about the file.
    #[must_use]
    pub fn io(path: &Path, error: io::Error) -> Self {
        let named = Error::new(ErrorKind::Io, error.to_string()).of_file(path);
        Error { source: Some(error), ..named }
    }
}
