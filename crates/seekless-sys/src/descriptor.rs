//! The way from an open file back to a path.

use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// A path by which the open file itself can be opened again or examined, even if it has been
/// renamed or removed.
#[must_use]
pub fn by_descriptor(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
