//! Why a call failed: a number for `errno`, and a message.

use seekless_sled::ErrorKind;

/// A failure as C sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) errno: i32,
    pub(crate) message: String,
    /// The size that the buffer must have, if it is too small; otherwise 0.
    pub(crate) needed_bytes: u64,
}

impl Failure {
    pub(crate) fn new(errno: i32, message: String) -> Self {
        Failure { errno, message, needed_bytes: 0 }
    }

    /// The caller gave an invalid argument.
    pub(crate) fn argument(message: String) -> Self {
        Self::new(libc::EINVAL, message)
    }

    /// The descriptor is not open.
    pub(crate) fn closed(fd: i32) -> Self {
        Self::new(libc::EBADF, format!("descriptor {fd} is not open"))
    }

    /// The SLEDs of a file could not be had.
    fn of_survey(error: &seekless_sled::Error) -> Self {
        let by_kind = match error.kind() {
            ErrorKind::Changed => libc::ESTALE,
            ErrorKind::Config | ErrorKind::NotAFile => libc::EINVAL,
            ErrorKind::Remote => libc::EREMOTEIO,
            _ => libc::EIO,
        };
        Failure::new(errno_of(error.io_error()).unwrap_or(by_kind), error.to_string())
    }

    pub(crate) fn too_small(needed_bytes: u64) -> Self {
        let message =
            format!("a record has more bytes than the buffer: give at least {needed_bytes}");
        Failure { errno: libc::ERANGE, message, needed_bytes }
    }
}

impl From<seekless_sled::Error> for Failure {
    fn from(error: seekless_sled::Error) -> Self {
        Failure::of_survey(&error)
    }
}

impl From<seekless_read::Error> for Failure {
    fn from(error: seekless_read::Error) -> Self {
        if let Some(survey) = error.survey_error() {
            return Failure::of_survey(survey);
        }
        let by_kind = match error.kind() {
            seekless_read::ErrorKind::Changed => libc::ESTALE,
            _ => libc::EIO,
        };
        Failure::new(errno_of(error.io_error()).unwrap_or(by_kind), error.to_string())
    }
}

fn errno_of(error: Option<&std::io::Error>) -> Option<i32> {
    error.and_then(std::io::Error::raw_os_error)
}
