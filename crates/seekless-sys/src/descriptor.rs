//! The way from an open file back to a path.

use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// A path by which the very file that is open may be opened again or examined, whatever its name stands for by now.
#[must_use]
pub fn by_descriptor(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
