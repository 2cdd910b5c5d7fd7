//! Folders as they are, of which some files come from a pack: names, attributes and contents that
//! are known are answered without a question to the device, and everything else from the real
//! folder.
//!
//! What is known is told by [`Mirror`], and was true when it was noted. A folder is taken for known
//! only if its own entry is as it was noted: so files that were added, removed or replaced since
//! are seen. From then on the folder is watched (inotify(7)), and what changes in it is answered
//! from the real folder. What the program itself writes goes there. Files that were changed where
//! they lie show themselves only by their own entries, which are looked at once the pack is read;
//! see [`Mirrored::check_files`].

mod about;
mod ahead;
mod change;
mod nodes;
mod real;
mod requests;
mod serve;
mod served;
#[cfg(test)]
mod tests;
mod watch;

pub use about::About;
pub use ahead::Ahead;

use crate::detached::Detached;
use crate::error::{Error, Result};
use crate::lock;
use crate::mount::configuration;
use fuser::{BackgroundSession, Session, SessionACL};
use nodes::Nodes;
use requests::Requests;
use serde::{Deserialize, Serialize};
use served::Served;
use std::fmt;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use watch::Watch;

/// What is known of some folders. Names and paths are UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirror {
    /// The folders that are mounted, each by the place of its own entry in `folders`.
    pub roots: Vec<usize>,
    /// Folders of which all names are known.
    pub folders: Vec<Folder>,
}

/// A folder of which all names are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its own entry.
    pub about: About,
    /// The names in it.
    pub names: Vec<Name>,
    /// Names that starts look for and that are not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// The name.
    pub name: String,
    /// Its inode.
    pub inode: u64,
    /// The type of file, as in the bits of a mode.
    pub kind: u32,
    /// Its entry, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Where a file's content begins in the pack, if that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Where a symbolic link leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// What has changed since it was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The file or folder.
    pub path: PathBuf,
    /// Whether it may have been answered for as it was before.
    pub was_served: bool,
}

/// A mirror that is served. The mount goes with the last process that sees it.
pub struct Mirrored {
    session: BackgroundSession,
    nodes: Arc<Nodes>,
    watch: Arc<Watch>,
    requests: Arc<Requests>,
    /// The folder that holds the roots, until it is given to what asks ahead.
    top: Option<OwnedFd>,
    changed: Arc<Mutex<Vec<Changed>>>,
}

impl fmt::Debug for Mirrored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Mirrored").finish_non_exhaustive()
    }
}

impl Mirror {
    /// The folders that are mounted.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter_map(|root| Some(&*self.folders.get(*root)?.path))
    }
}

impl Detached {
    /// Serves a mirror there, by threads of this process, with the contents that lie in `pack` as
    /// they are. What was noted of folders is compared first with what is there now.
    ///
    /// # Errors
    /// [`System`](crate::ErrorKind::System): the kernel refuses, or none of the folders is as it
    /// was noted.
    pub fn mirror(self, mirror: Mirror, pack: File) -> Result<Mirrored> {
        let (fuse, top) = self.into_parts();
        let root = mirror.roots().next().map_or_else(PathBuf::new, Path::to_owned);
        let failed = |error| Error::system("serve files of", &root, error);
        let changed = Arc::default();
        let nodes = Arc::new(Nodes::new(mirror, pack, &root).map_err(failed)?);
        let (watch, events) = Watch::new(nodes.clone(), Arc::clone(&changed)).map_err(failed)?;
        let watch = Arc::new(watch);
        if watch.begin() == 0 {
            return Err(failed(std::io::Error::other("all folders have changed")));
        }
        let requests = Arc::new(Requests::default());
        let served = Served::new(nodes.clone(), watch.clone(), requests.clone());
        let config = configuration(Vec::new(), SessionACL::All);
        let session = Session::from_fd(served, fuse, SessionACL::All, config)
            .and_then(Session::spawn)
            .map_err(failed)?;
        watch::follow(&watch, events, session.notifier()).map_err(failed)?;
        Ok(Mirrored { session, nodes, watch, requests, top: Some(top), changed })
    }
}

impl Mirrored {
    /// What can be given to the kernel ahead of the program, by the calling thread; once.
    pub fn ahead(&mut self) -> Option<Ahead> {
        let top = self.top.take()?;
        let (nodes, notifier) = (self.nodes.clone(), self.session.notifier());
        Some(Ahead::begin(nodes, notifier, top, &self.requests))
    }

    /// Looks at the entries of all files that are known, in the order of their inodes. Of one that
    /// has changed, the program gets what is there now, from then on.
    pub fn check_files(&self) {
        self.watch.check_files(&self.session.notifier());
    }

    /// What has changed so far, in the order in which that was noticed.
    #[must_use]
    pub fn changed(&self) -> Vec<Changed> {
        lock(&self.changed).clone()
    }

    /// How many questions of the kernel were answered so far, beside those that were asked ahead of
    /// the program.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.answered()
    }

    /// Of how many folders all is known now.
    #[must_use]
    pub fn known_folders(&self) -> usize {
        self.nodes.known_folders()
    }

    /// Waits until the last process that sees it has ended.
    pub fn wait(mut self) {
        self.top = None;
        // The caller waits for the end, whatever ended it.
        let _ = self.session.join();
    }
}
