//! Mounts a pack, and unmounts it.

use crate::ahead::{Ahead, Expected, Root};
use crate::error::{Error, Result};
use crate::open::Open;
use crate::serve::Served;
use crate::tree::Tree;
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use seekless_io::Store;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

/// How a pack is mounted.
pub struct Options {
    /// Whether other users may read it too. Unless root mounts it, `/etc/fuse.conf` must allow that
    /// (`user_allow_other`).
    pub all_users: bool,
    /// Whether the folder may hold something, which is hidden while the pack is mounted there.
    pub over: bool,
    /// Of the files that most of the recorded runs load, the first that hold this many bytes are
    /// brought into the kernel's page cache, without waiting for the program to ask for them: in
    /// the order of first need, and not far ahead of what it opens.
    pub ahead_bytes: u64,
    /// What open files hold of their contents takes at most this many bytes, beside the cache of
    /// the store. What is being loaded for them counts too; readers wait for room.
    pub open_bytes: u64,
    /// Folders of the mount that are there even if the pack has none of these names: others are to
    /// be mounted at them.
    pub folders: Vec<String>,
    /// Gets the words of each read that fails; the program sees an error of the system alone.
    pub failed: Box<dyn Fn(&str) + Send + Sync>,
}

impl Default for Options {
    /// For the user who mounts it, on an empty folder, in silence, with 256 MiB brought in ahead,
    /// and 64 MiB held of open files.
    fn default() -> Self {
        let failed = Box::new(|_: &str| ());
        let folders = Vec::new();
        let (ahead_bytes, open_bytes) = (256 << 20, 64 << 20);
        Self { all_users: false, over: false, ahead_bytes, open_bytes, folders, failed }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options")
            .field("all_users", &self.all_users)
            .field("over", &self.over)
            .field("ahead_bytes", &self.ahead_bytes)
            .field("open_bytes", &self.open_bytes)
            .field("folders", &self.folders)
            .finish_non_exhaustive()
    }
}

/// A pack that is mounted. Dropped, it is unmounted.
#[derive(Debug)]
pub struct Mounted {
    /// Ends before it is unmounted.
    ahead: Ahead,
    session: BackgroundSession,
    folder: PathBuf,
    left_out: u64,
}

/// Mounts the first pack of `store` at `folder`, which must be there. Returns when its files can be
/// read; threads of this process serve them.
///
/// # Errors
/// [`Folder`](crate::ErrorKind::Folder): it is no empty folder.
/// [`System`](crate::ErrorKind::System): there is no `/dev/fuse`, or the user may not mount; the
/// helper `fusermount3` of the package fuse3 is needed without root.
pub fn mount(store: Store, folder: &Path, options: Options) -> Result<Mounted> {
    check(folder, options.over)?;
    let name = store.path().display().to_string();
    let (all_users, (served, about)) = (options.all_users, served(store, options));
    let mount_options = vec![
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::DefaultPermissions,
        // A comma would end the option.
        MountOption::FSName(name.replace([',', '\\'], "_")),
        MountOption::Subtype("seekless".to_owned()),
    ];
    let acl = if all_users { SessionACL::All } else { SessionACL::Owner };
    let session = Session::new(served, folder, &configuration(mount_options, acl))
        .and_then(Session::spawn)
        .map_err(|error| Error::system("mount the pack at", folder, error))?;
    let absolute = std::path::absolute(folder).map_err(|error| Error::unreadable(folder, error))?;
    Mounted::begin(session, folder, about, Root::Path(absolute))
}

/// What is known of a pack once what serves it is made.
pub(crate) struct About {
    store: Store,
    expected: Arc<Expected>,
    left_out: u64,
}

/// What answers the kernel.
pub(crate) fn served(store: Store, options: Options) -> (Served, About) {
    let Options { ahead_bytes, open_bytes, folders, failed, .. } = options;
    let (tree, open) = (Tree::new(store.index(), &folders), Open::new(&store, open_bytes));
    let expected = Expected::new(&store, &tree, ahead_bytes, open.whole_bytes());
    let expected = Arc::new(expected);
    let about = About { store: store.clone(), expected: expected.clone(), left_out: tree.left_out };
    let owner = (geteuid().as_raw(), getegid().as_raw());
    (Served { tree, owner, failed, open, expected, opens_folders: false, store }, about)
}

pub(crate) fn configuration(mount_options: Vec<MountOption>, acl: SessionACL) -> Config {
    let mut config = Config::default();
    config.mount_options = mount_options;
    config.acl = acl;
    // Threads wait for the device, not for the processor.
    config.n_threads = Some(available_parallelism().map_or(4, |cores| cores.get().max(2) * 2));
    config.clone_fd = true;
    config
}

/// Asks the kernel for the folder: whoever serves what is mounted there must be able to answer.
fn check(folder: &Path, over: bool) -> Result<()> {
    match folder.metadata() {
        Err(error) if error.raw_os_error() == Some(Errno::NOTCONN.raw_os_error()) => {
            let why = "has a mount that nobody serves any longer; unmount it first: \
                       fusermount3 -u, or umount as root";
            return Err(Error::folder(folder, why));
        }
        Ok(about) if about.is_dir() => {}
        _ => return Err(Error::folder(folder, "is not a folder; make it first")),
    }
    let mut content = folder.read_dir().map_err(|error| Error::unreadable(folder, error))?;
    match content.next().is_some() && !over {
        true => Err(Error::folder(folder, "is not empty; what it holds would be hidden")),
        false => Ok(()),
    }
}

impl Mounted {
    /// Begins to bring in what the program is expected to read.
    pub(crate) fn begin(
        session: BackgroundSession,
        folder: &Path,
        about: About,
        root: Root,
    ) -> Result<Self> {
        let About { store, expected, left_out } = about;
        let ahead = Ahead::begin(expected, store, session.notifier(), root)
            .map_err(|error| Error::system("start a thread for the pack at", folder, error))?;
        Ok(Self { ahead, session, folder: folder.to_owned(), left_out })
    }

    /// Waits until others have unmounted it, or the last process that sees it has ended.
    pub fn wait(self) {
        // The caller waits for the end, whatever ended it.
        let _ = self.session.join();
    }

    /// Entries that have no place in a file system: another has their name, or a file lies where
    /// they need a folder.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether it is still mounted: others may unmount it too.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        !self.session.guard.is_finished()
    }

    /// Unmounts it.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System): files in it are still open, or the system refuses.
    pub fn unmount(self) -> Result<()> {
        if !self.is_mounted() {
            return Ok(());
        }
        let Self { ahead, session, folder, .. } = self;
        drop(ahead);
        match session.umount_and_join() {
            // A thread that asks the kernel for more just then gets an error.
            Err(error) if error.raw_os_error() == Some(Errno::CONNABORTED.raw_os_error()) => Ok(()),
            result => result.map_err(|error| Error::system("unmount", &folder, error)),
        }
    }
}
