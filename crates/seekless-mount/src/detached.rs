//! A pack is mounted in two steps by two processes: one makes a mount that lies nowhere yet and
//! later attaches it to a folder; the other serves it, and does not see where it is attached.
//!
//! The mount is served before it is attached. So whoever looks at the folder is answered, be it the
//! kernel on its way to a second folder that lies in the first.

use crate::ahead::Root;
use crate::error::{Error, Result};
use crate::mount::{Mounted, Options, configuration, served};
use fuser::{Session, SessionACL};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount,
    open_tree, unmount,
};
use rustix::process::{getegid, geteuid};
use seekless_io::Store;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

/// The descriptors are numbered from here on: above the standard streams, which a helper replaces.
const FIRST: RawFd = 3;

/// A mount that is attached to no folder. It goes with the last process that holds it, unless it
/// has been attached.
#[derive(Debug)]
pub struct Detached {
    fuse: OwnedFd,
    /// Its root folder.
    mount: OwnedFd,
}

impl Detached {
    /// Makes a mount for all users. The process must be allowed to mount: as root, or in a user
    /// namespace of its own.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System): there is no `/dev/fuse`, the process may not mount, or
    /// the kernel is older than 5.2.
    pub fn new() -> Result<Self> {
        Self::with(true)
    }

    /// As [`new`](Self::new), for a [mirror](Self::mirror), in which programs may write.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_mirror() -> Result<Self> {
        Self::with(false)
    }

    fn with(is_read_only: bool) -> Result<Self> {
        let device = Path::new("/dev/fuse");
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let fuse = open(device, flags, Mode::empty()).and_then(above_streams);
        let fuse = fuse.map_err(|error| Error::system("open", device, error.into()))?;
        let mount =
            made(fuse.as_fd(), is_read_only).and_then(above_streams).map_err(
                |error| match error {
                    Errno::NOSYS => {
                        Error::system("mount packs without Linux 5.2 by", device, error.into())
                    }
                    error => Error::system("mount packs by", device, error.into()),
                },
            )?;
        Ok(Self { fuse, mount })
    }

    /// The descriptors that a process needs in order to serve it.
    #[must_use]
    pub fn descriptors(&self) -> [RawFd; 2] {
        [self.fuse.as_raw_fd(), self.mount.as_raw_fd()]
    }

    /// Serves the first pack of `store` there, by threads of this process. Of the options, those
    /// for mounting have no effect.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System): the kernel refuses.
    pub fn serve(self, store: Store, options: Options) -> Result<Mounted> {
        let Self { fuse, mount } = self;
        let path = store.path().to_owned();
        let (served, about) = served(store, options);
        let config = configuration(Vec::new(), SessionACL::All);
        let session = Session::from_fd(served, fuse, SessionACL::All, config)
            .and_then(Session::spawn)
            .map_err(|error| Error::system("serve the pack", &path, error))?;
        Mounted::begin(session, &path, about, Root::Held(mount))
    }

    #[cfg(test)]
    pub(crate) fn of_parts(fuse: OwnedFd, mount: OwnedFd) -> Self {
        Self { fuse, mount }
    }

    /// The descriptors of FUSE and of the root folder.
    pub(crate) fn into_parts(self) -> (OwnedFd, OwnedFd) {
        (self.fuse, self.mount)
    }

    /// Attaches each root of a [mirror](Self::mirror) to its folder, as [`attach`](Self::attach)
    /// does. On failure, some may be attached.
    ///
    /// # Errors
    /// As [`attach`](Self::attach); there is no folder.
    pub fn attach_roots(self, folders: &[PathBuf]) -> Result<()> {
        let Some(first) = folders.first() else {
            return Err(Error::folder(Path::new("the mirror"), "has no folder"));
        };
        // Older kernels copy only what is attached.
        self.attach(first)?;
        let failed = |error: Errno| Error::system("mount a pack at", first, error.into());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = open(first, flags, Mode::empty()).map_err(failed)?;
        let copy = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let part = |place: usize| open_tree(&top, place.to_string(), copy);
        let parts: rustix::io::Result<Vec<OwnedFd>> = (0..folders.len()).map(part).collect();
        unmount(first, UnmountFlags::DETACH).map_err(failed)?;
        for (part, folder) in parts.map_err(failed)?.into_iter().zip(folders) {
            attach(&part, folder)?;
        }
        Ok(())
    }

    /// Attaches it to `folder`, over what that holds and over what was mounted there before, as
    /// mount(8) does. Another process must serve it by now. This process does not hold the mount
    /// any longer.
    ///
    /// # Errors
    /// [`Folder`](crate::ErrorKind::Folder): there is no such folder.
    /// [`System`](crate::ErrorKind::System): the kernel refuses.
    pub fn attach(self, folder: &Path) -> Result<()> {
        // Should the other process end, nobody must wait for answers.
        drop(self.fuse);
        attach(&self.mount, folder)
    }
}

/// Attaches a mount to `folder`.
fn attach(mount: &OwnedFd, folder: &Path) -> Result<()> {
    let failed = |error| match error {
        Errno::NOENT => Error::folder(folder, "is not there, or another pack hides it"),
        Errno::NOTDIR => Error::folder(folder, "is not a folder"),
        error => Error::system("mount a pack at", folder, error.into()),
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let target = open(folder, flags, Mode::empty()).map_err(failed)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, c"", target, c"", flags).map_err(failed)
}

fn above_streams(fd: OwnedFd) -> rustix::io::Result<OwnedFd> {
    if fd.as_raw_fd() >= FIRST { Ok(fd) } else { fcntl_dupfd_cloexec(fd, FIRST) }
}

fn made(fuse: BorrowedFd<'_>, is_read_only: bool) -> rustix::io::Result<OwnedFd> {
    let context = fsopen(c"fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [
        (c"source", "seekless".to_owned()),
        (c"subtype", "seekless".to_owned()),
        (c"fd", fuse.as_raw_fd().to_string()),
        (c"rootmode", "40000".to_owned()),
        (c"user_id", geteuid().as_raw().to_string()),
        (c"group_id", getegid().as_raw().to_string()),
    ] {
        fsconfig_set_string(&context, key, value.as_str())?;
    }
    let flags = [c"allow_other", c"default_permissions"];
    for key in flags.into_iter().chain(is_read_only.then_some(c"ro")) {
        fsconfig_set_flag(&context, key)?;
    }
    fsconfig_create(&context)?;
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    attributes.set(MountAttrFlags::MOUNT_ATTR_RDONLY, is_read_only);
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}
