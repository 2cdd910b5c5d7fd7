//! The way from an open file back to a path, and how many files may be open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// A path by which the open file itself can be opened again or examined, even if it has been
/// renamed or removed.
#[must_use]
pub fn by_descriptor(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Raises the soft limit of descriptors as far as the hard one allows, if that is needed. If that
/// is too few, opening says so.
pub fn allow_descriptors(needed: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let current = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    }
}
