//! Objects where an input or an output is named: an input is fetched once into a file without a
//! name, and an output is sent when it is whole.

use super::storage;
use seekless_engine::ObjectName;
use seekless_sys::objects::{self, Change, Limits, Objects};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Receives the bytes that are there, and all.
pub type Progress = Box<dyn FnMut(u64, u64) + Send>;

/// How a user sees transfers, and ends them.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Begins to show a transfer, of which this says what it is.
    pub progress: fn(String) -> Progress,
    /// Whether the user wants it to end.
    pub is_cancelled: fn() -> bool,
}

/// Has all that reads an input, or writes an output, take names of objects too. Without the feature
/// `remote` such a name is an error that says how to get it. Only the first call counts.
pub fn provide(watch: Watch) {
    let _ = WATCH.set(watch);
    objects::provide(Box::leak(Box::new(Reach { watch, fetched: Mutex::default() })));
}

static WATCH: OnceLock<Watch> = OnceLock::new();

/// How transfers are seen, if the program has said so.
#[cfg(feature = "remote")]
pub(super) fn watch() -> Watch {
    let unseen = Watch { progress: |_| Box::new(|_, _| {}), is_cancelled: || false };
    WATCH.get().copied().unwrap_or(unseen)
}

/// An object that was fetched, or why it could not be.
type Fetched = Result<File, (io::ErrorKind, String)>;

#[derive(Debug)]
struct Reach {
    watch: Watch,
    /// What was fetched stays until the program ends, since most inputs are opened several times.
    /// The system removes the files in every case.
    fetched: Mutex<HashMap<PathBuf, Fetched>>,
}

/// The name without what an error would repeat: who asks names the object.
fn parsed(path: &Path) -> io::Result<ObjectName> {
    let no_object = || Err(io::Error::other("this is no name of an object"));
    ObjectName::parse(path).unwrap_or_else(no_object)
}

impl Objects for Reach {
    fn is_meant(&self, path: &Path) -> bool {
        ObjectName::is_meant(path)
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let name = parsed(path)?;
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        let fetch = || {
            let got = storage::fetch(&name, self.watch);
            got.map_err(|error| (error.kind(), error.to_string()))
        };
        match fetched.entry(path.to_owned()).or_insert_with(fetch) {
            // A descriptor that is copied would share its position.
            Ok(file) => File::open(format!("/proc/self/fd/{}", file.as_raw_fd())),
            Err((kind, why)) => Err(io::Error::new(*kind, why.clone())),
        }
    }

    fn check(&self, path: &Path, replace: bool) -> io::Result<()> {
        storage::check(&parsed(path)?, replace)
    }

    fn put(&self, path: &Path, content: &File, replace: bool) -> io::Result<()> {
        let name = parsed(path)?;
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        storage::put(&name, content.try_clone()?, replace, self.watch)
    }

    fn update(&self, path: &Path, limits: Limits, change: Change<'_>) -> io::Result<()> {
        storage::update(&parsed(path)?, limits, change)
    }
}
