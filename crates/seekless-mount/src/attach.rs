//! Mounts by the system call alone, apart from serving: a process may mount, give the mount to
//! others, and serve it from threads that it starts only then.

use crate::ahead::Root;
use crate::error::{Error, Result};
use crate::mount::{Mounted, Options, check, configuration, served};
use fuser::{Session, SessionACL};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, mount};
use rustix::process::{getegid, geteuid};
use seekless_io::Store;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A folder at which a pack is mounted that is not served yet: its readers wait.
#[derive(Debug)]
pub struct Attached {
    fuse: OwnedFd,
    /// The folder as it is there, for when the process no longer sees the mount.
    root: OwnedFd,
    folder: PathBuf,
}

/// Mounts at `folder`, over what it holds, for all users. The process must be allowed to mount: as
/// root, or in a user namespace of its own.
///
/// # Errors
/// [`Folder`](crate::ErrorKind::Folder): it is no folder.
/// [`System`](crate::ErrorKind::System): there is no `/dev/fuse`, or the process may not mount.
pub fn attach(folder: &Path) -> Result<Attached> {
    check(folder, true)?;
    let failed = |error: rustix::io::Errno| Error::system("mount a pack at", folder, error.into());
    let fuse = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| Error::system("open", Path::new("/dev/fuse"), error.into()))?;
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let options = format!(
        "fd={},rootmode=40000,user_id={user},group_id={group},allow_other,default_permissions",
        fuse.as_raw_fd()
    );
    let options = CString::new(options).map_err(|_| failed(rustix::io::Errno::INVAL))?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount("seekless", folder, "fuse.seekless", flags, Some(options.as_c_str())).map_err(failed)?;
    let root = open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(failed)?;
    Ok(Attached { fuse, root, folder: folder.to_owned() })
}

impl Attached {
    /// Where it is mounted.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Serves the first pack of `store` there, by threads of this process. Of the options, those
    /// for mounting have no effect.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System): it is no longer mounted.
    pub fn serve(self, store: Store, options: Options) -> Result<Mounted> {
        let Self { fuse, root, folder } = self;
        let (served, about) = served(store, options.ahead_bytes, options.failed);
        let config = configuration(Vec::new(), SessionACL::All);
        let session = Session::from_fd(served, fuse, SessionACL::All, config)
            .and_then(Session::spawn)
            .map_err(|error| Error::system("serve the pack at", &folder, error))?;
        Mounted::begin(session, &folder, about, Root::Held(root))
    }
}
