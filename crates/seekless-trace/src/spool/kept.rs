//! The spools that lie in the user's folders: of recordings that run, and of those that were
//! killed. A recorder holds a lock on its spool, and the lock ends with it.

use super::place::folders;
use super::read::SpoolReader;
use crate::error::{Error, Result};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A spool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSpool {
    /// Where it lies.
    pub path: PathBuf,
    /// The trace that its recording was to write; `None` if it does not say, or is damaged.
    pub trace: Option<PathBuf>,
    /// Its size.
    pub bytes: u64,
    /// When rows were last added, in seconds since 1970.
    pub changed_unix_s: u64,
    /// Whether its recording still runs.
    pub is_running: bool,
}

/// All spools of this user, the one that changed last first.
#[must_use]
pub fn kept_spools() -> Vec<KeptSpool> {
    let files = folders().into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let paths = files.flatten().map(|entry| entry.path());
    let spools = paths.filter(|path| path.extension().is_some_and(|ending| ending == "spool"));
    let mut all: Vec<KeptSpool> = spools.filter_map(|path| KeptSpool::at(&path)).collect();
    all.sort_by(|one, other| {
        (other.changed_unix_s, &one.path).cmp(&(one.changed_unix_s, &other.path))
    });
    all
}

impl KeptSpool {
    /// `None` if there is no file of this user there.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return None;
        }
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let reader = SpoolReader::open(path).ok();
        Some(KeptSpool {
            path: path.to_owned(),
            trace: reader.and_then(|reader| reader.trace().map(Path::to_owned)),
            bytes: found.len(),
            changed_unix_s: changed.as_secs(),
            is_running: lock(path).is_none(),
        })
    }

    /// Removes it, unless a recording runs that writes it. Returns whether it is gone.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self) -> Result<bool> {
        // The lock is held until it is gone: a recorder that opens it meanwhile finds that out.
        let Some(_lock) = lock(&self.path) else { return Ok(!self.path.exists()) };
        fs::remove_file(&self.path)
            .map_err(|error| Error::io(&self.path, "could not be removed", error))?;
        Ok(true)
    }
}

/// The lock of a spool that no recorder holds.
fn lock(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}
