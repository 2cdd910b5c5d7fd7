//! The crate's one error.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a file could not be read. The message names the file and holds the words of the cause, so
/// that the error has no [source](std::error::Error::source) to say them again.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    /// The file's name, unless the reason names it.
    file: Option<String>,
    reason: String,
    cause: Option<Cause>,
}

#[derive(Debug)]
enum Cause {
    System(io::Error),
    Survey(seekless_sled::Error),
}

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system refused: [`Error::io_error`] has its answer.
    Io,
    /// The file could not be opened: [`Error::io_error`] has the system's answer.
    Open,
    /// The file changed while it was read, in a way that leaves no right answer.
    Changed,
    /// The reader stopped before the file's end. This is a defect.
    Incomplete,
    /// A record is longer than [`Options::record_bytes_max`](crate::Options::record_bytes_max).
    TooLong,
    /// The file's SLEDs could not be found out: [`Error::survey_error`] says why.
    Survey,
}

impl ErrorKind {
    /// Whether it stands in the way before anything of the file has been read.
    #[must_use]
    pub fn is_at_opening(self) -> bool {
        matches!(self, ErrorKind::Open | ErrorKind::Survey)
    }
}

impl Error {
    /// An error that names no file yet.
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Error { kind, file: None, reason: reason.into(), cause: None }
    }

    /// The file could not be opened.
    pub(crate) fn open(error: io::Error) -> Self {
        Error { kind: ErrorKind::Open, ..Error::from(error) }
    }

    /// The record at `offset` has more than `most` bytes.
    pub(crate) fn too_long(offset: u64, most: usize) -> Self {
        let reason = format!("the record at byte {offset} is longer than {most} bytes");
        Error::new(ErrorKind::TooLong, reason)
    }

    /// The same error with the name of the file that it is about.
    pub(crate) fn of_file(self, path: &Path) -> Self {
        Error { file: Some(path.display().to_string()), ..self }
    }

    /// What went wrong, for code that decides by it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The system's own answer, for messages in another tool's words.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.cause {
            Some(Cause::System(error)) => Some(error),
            Some(Cause::Survey(error)) => error.io_error(),
            None => None,
        }
    }

    /// Why the file's SLEDs could not be found out.
    #[must_use]
    pub fn survey_error(&self) -> Option<&seekless_sled::Error> {
        match &self.cause {
            Some(Cause::Survey(error)) => Some(error),
            _ => None,
        }
    }

    /// What went wrong without the file's name, for messages that name it in another way.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let reason = error.to_string();
        Error { cause: Some(Cause::System(error)), ..Error::new(ErrorKind::Io, reason) }
    }
}

impl From<seekless_sled::Error> for Error {
    fn from(error: seekless_sled::Error) -> Self {
        let reason = error.to_string();
        Error { cause: Some(Cause::Survey(error)), ..Error::new(ErrorKind::Survey, reason) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_file_and_the_reason_does_not() {
        let missing = || io::Error::from_raw_os_error(2);
        let error = Error::open(missing()).of_file(Path::new("log"));
        assert_eq!(error.to_string(), "log: No such file or directory (os error 2)");
        assert_eq!(error.reason(), missing().to_string());
        assert_eq!(error.kind(), ErrorKind::Open);
        assert_eq!(error.io_error().and_then(io::Error::raw_os_error), Some(2));
    }

    #[test]
    fn an_error_of_the_survey_is_kept_whole() {
        let error = Error::from(seekless_sled::sleds(Path::new("/")).unwrap_err());
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Survey, "/: a folder, which has no SLEDs")
        );
        assert_eq!(
            error.survey_error().map(|error| error.kind()),
            Some(seekless_sled::ErrorKind::NotAFile)
        );
        assert!(error.io_error().is_none());
    }
}
