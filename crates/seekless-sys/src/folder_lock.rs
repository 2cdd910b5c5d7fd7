//! A lock that processes take in turn while they change files of a folder. It is on the folder
//! itself: so nothing is left behind in it, and no file of the user's has the lock's name.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Waits until no other process has locked the folder, and locks it until the result is dropped.
/// `None` where the file system does not lock folders, as some over a network do not.
///
/// # Errors
/// The folder cannot be opened or locked.
pub fn lock_folder(folder: &Path) -> io::Result<Option<OwnedFd>> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let lock = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    loop {
        match flock(&lock, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(Some(lock)),
            Err(Errno::INTR) => {}
            Err(Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock_folder(folder.path()).unwrap();
        let again = open(folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let now = || flock(&again, FlockOperation::NonBlockingLockExclusive);
        assert_eq!(now(), Err(Errno::WOULDBLOCK));
        drop(held);
        assert_eq!(now(), Ok(()));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
