//! The files for which mincore(2) is right. To hide other users' activity, it calls every page
//! resident unless the caller owns the file, may act as its owner, or may write to it.

use rustix::fs::{Access, AtFlags, CWD, Stat, accessat};
use rustix::thread::CapabilitySet;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Shown in place of an owner that this user namespace does not know. No process in it may act as
/// that owner.
const OVERFLOW_USER: u32 = 65_534;

/// Whether mincore is right about a file whose pages are its own.
pub(super) fn is_told(file: BorrowedFd<'_>) -> io::Result<bool> {
    if is_owner(&rustix::fs::fstat(file)?) {
        return Ok(true);
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok())
}

/// The same if the pages belong to another file below, which may lie on a layer that cannot be
/// written to.
pub(super) fn is_told_by_mapping(file: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(is_owner(&rustix::fs::fstat(file)?))
}

/// Whether this thread owns the file or may act as its owner.
fn is_owner(about: &Stat) -> bool {
    if about.st_uid == OVERFLOW_USER {
        return false;
    }
    let may_act_as_owner = || {
        let sets = rustix::thread::capabilities(None);
        sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::FOWNER))
    };
    about.st_uid == rustix::process::geteuid().as_raw() || may_act_as_owner()
}
