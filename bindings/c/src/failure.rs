//! Why a call failed: a number for `errno`, and a message.

use seekless_sled::{Error, ErrorKind};

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

    pub(crate) fn too_small(needed_bytes: u64) -> Self {
        let message = format!("a record has more bytes than the buffer: give at least {needed_bytes}");
        Failure { errno: libc::ERANGE, message, needed_bytes }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let by_kind = match error.kind() {
            ErrorKind::Changed => libc::ESTALE,
            ErrorKind::Config | ErrorKind::NotAFile => libc::EINVAL,
            ErrorKind::Remote => libc::EREMOTEIO,
            _ => libc::EIO,
        };
        let system = error.io_error().and_then(std::io::Error::raw_os_error);
        Failure::new(system.unwrap_or(by_kind), error.to_string())
    }
}
