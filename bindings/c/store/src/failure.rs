//! Why a call failed: a number for `errno`, and a message.

use seekless_io::ErrorKind;

/// A failure as C sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) errno: i32,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(errno: i32, message: String) -> Self {
        Failure { errno, message }
    }

    /// The caller gave an invalid argument.
    pub(crate) fn argument(message: String) -> Self {
        Self::new(libc::EINVAL, message)
    }
}

impl From<seekless_policy::Error> for Failure {
    fn from(error: seekless_policy::Error) -> Self {
        Failure::argument(error.to_string())
    }
}

impl From<seekless_page_cache::Error> for Failure {
    fn from(error: seekless_page_cache::Error) -> Self {
        let told = error.io_error().and_then(std::io::Error::raw_os_error);
        Failure::new(told.unwrap_or(libc::EINVAL), error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::new(error.raw_os_error().unwrap_or(libc::EIO), error.to_string())
    }
}

impl From<seekless_io::Error> for Failure {
    fn from(error: seekless_io::Error) -> Self {
        let by_kind = match error.kind() {
            ErrorKind::NotFound => libc::ENOENT,
            ErrorKind::TooLarge => libc::EFBIG,
            ErrorKind::Read => libc::EIO,
            ErrorKind::Corrupt => libc::EBADMSG,
            ErrorKind::Unsupported => libc::EOPNOTSUPP,
            _ => libc::EINVAL,
        };
        let told = error.io_error().and_then(std::io::Error::raw_os_error);
        Failure::new(told.unwrap_or(by_kind), error.to_string())
    }
}
