//! Errors of writes: they name the file and the place, and keep what the system said.

use std::fmt;
use std::io;
use std::path::Path;

#[derive(Debug)]
struct Trouble {
    message: String,
    source: io::Error,
}

/// What could not be done with the file, and why.
pub(super) fn failed(path: &Path, what: impl fmt::Display, source: io::Error) -> io::Error {
    let message = format!("{}: {what}: {source}", path.display());
    io::Error::new(source.kind(), Trouble { message, source })
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Trouble {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
