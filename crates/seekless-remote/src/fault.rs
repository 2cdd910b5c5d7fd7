//! What can go wrong with a request, and what to do about it. The words are ours: what a server
//! answers may hold an access key, so of its text only the code of the error is shown.

use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use std::error::Error as _;
use std::io;

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    pub(crate) words: String,
}

/// Whether another try can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It passes: a busy server, a lost connection.
    Passing,
    /// An answer that a server should not give. A proxy may be at fault; it is tried a few times.
    Odd(io::ErrorKind),
    /// It stays.
    Lasting(io::ErrorKind),
}

pub(crate) const IGNORED_RANGE: &str = "the server sends the whole object where a part is asked \
     for: a proxy between may remove the header `Range`; name the storage itself";

impl Fault {
    pub(crate) fn passing(words: impl Into<String>) -> Self {
        Self { kind: Kind::Passing, words: words.into() }
    }

    pub(crate) fn odd(kind: io::ErrorKind, words: impl Into<String>) -> Self {
        Self { kind: Kind::Odd(kind), words: words.into() }
    }

    pub(crate) fn lasting(kind: io::ErrorKind, words: impl Into<String>) -> Self {
        Self { kind: Kind::Lasting(kind), words: words.into() }
    }

    /// The object is another than the one that was opened.
    pub(crate) fn replaced(kind: fn(io::ErrorKind) -> Kind) -> Self {
        let words = "the object was replaced after it was opened: open it again";
        Self { kind: kind(io::ErrorKind::StaleNetworkFileHandle), words: words.to_owned() }
    }

    /// No object can have this name.
    pub(crate) fn misnamed() -> Self {
        let words = "the storage cannot have an object of this name";
        Self::lasting(io::ErrorKind::InvalidInput, words)
    }

    pub(crate) fn of(error: &Error) -> Self {
        use io::ErrorKind as E;
        match error {
            Error::NotFound { .. } => Self::lasting(E::NotFound, "there is no such object"),
            Error::Precondition { .. } => Self::replaced(Kind::Lasting),
            Error::AlreadyExists { .. } => {
                Self::lasting(E::AlreadyExists, "another writer is writing it: try again later")
            }
            Error::PermissionDenied { .. } => Self::lasting(
                E::PermissionDenied,
                format!(
                    "the storage refuses this{}: check the credentials and what they allow",
                    coded(error)
                ),
            ),
            Error::Unauthenticated { .. } => Self::lasting(
                E::PermissionDenied,
                format!("the storage knows no such credentials{}: renew them", coded(error)),
            ),
            Error::NotSupported { .. } => Self::odd(E::Unsupported, IGNORED_RANGE),
            Error::InvalidPath { .. } => Self::misnamed(),
            other => Self::generic(other),
        }
    }

    /// What `object_store` has no variant for.
    fn generic(error: &Error) -> Self {
        use io::ErrorKind as E;
        if let Some(kind) = connection(error) {
            return Self::passing(match kind {
                HttpErrorKind::Connect => "the server cannot be reached",
                HttpErrorKind::Timeout => "the server did not answer in time",
                _ => "the connection was lost",
            });
        }
        let text = error.to_string();
        if text.contains("non-partial response") {
            return Self::odd(E::Unsupported, IGNORED_RANGE);
        }
        match status(&text) {
            Some(400) if coded(error).contains("Expired") => Self::lasting(
                E::PermissionDenied,
                format!("the credentials have expired{}: renew them", coded(error)),
            ),
            Some(416) => Self::lasting(E::UnexpectedEof, "the object is empty or ends before this"),
            Some(status @ (408 | 429 | 500..=599)) => {
                Self::passing(format!("the server answered {status}{}", coded(error)))
            }
            Some(status) => Self::lasting(
                E::InvalidInput,
                format!("the server answered {status}{}: check the name", coded(error)),
            ),
            None if text.contains("redirect") => Self::lasting(
                E::InvalidInput,
                "the bucket lies in another region: set AWS_REGION to it",
            ),
            // Headers that contradict each other, or make no sense.
            None => Self::odd(E::InvalidData, "the server's answer makes no sense"),
        }
    }
}

/// The error of a request that is not made again.
impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        let kind = match fault.kind {
            Kind::Passing => io::ErrorKind::Other,
            Kind::Odd(kind) | Kind::Lasting(kind) => kind,
        };
        io::Error::new(kind, fault.words)
    }
}

/// What was wrong with the connection, if that was it.
fn connection(error: &Error) -> Option<HttpErrorKind> {
    let mut source = error.source();
    while let Some(found) = source {
        if let Some(http) = found.downcast_ref::<HttpError>() {
            return Some(http.kind());
        }
        source = found.source();
    }
    None
}

/// The status of the answer, in `object_store`'s words.
fn status(text: &str) -> Option<u16> {
    let (_, after) = text.split_once("status code: ")?;
    after.get(..3)?.parse().ok()
}

/// The code in a server's answer: ` (SlowDown)`. Nothing but letters is taken from it.
fn coded(error: &Error) -> String {
    let text = error.to_string();
    let code = text.split_once("<Code>").and_then(|(_, after)| after.split_once("</Code>"));
    match code {
        Some((code, _)) if code.len() < 64 && code.bytes().all(|b| b.is_ascii_alphabetic()) => {
            format!(" ({code})")
        }
        _ => String::new(),
    }
}
